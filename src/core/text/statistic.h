// A number that is written in several places, declared once: its name, heading, unit, meaning and where it
// is. JSON, tables, help, the report and documents for MultiQC are made of lists of these (model/statistics,
// eval/metrics), and a test compares the pages of docs/users with them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace semicrf {

// An integer or a number; nothing where it is not known.
class StatisticValue {
 public:
  StatisticValue(std::int64_t count) : value_(count) {}
  StatisticValue(double number) : value_(number) {}
  template <class Number>
  StatisticValue(const std::optional<Number>& number) {
    if (number) value_ = *number;
  }

  // The integer or number as such, handed to `use`; nothing happens where it is not known.
  template <class Use>
  void visit(Use use) const {
    if (const auto* count = std::get_if<std::int64_t>(&value_)) use(*count);
    if (const auto* number = std::get_if<double>(&value_)) use(*number);
  }
  std::optional<double> number() const {
    std::optional<double> result;
    visit([&](auto value) { result = static_cast<double>(value); });
    return result;
  }

 private:
  std::variant<std::monostate, std::int64_t, double> value_;
};

// An integer as it is, a number in this format of printf.
std::string statistic_text(const StatisticValue& value, const char* format, const char* unknown);

enum class StatisticUnit { kCount, kBins, kBases, kShare, kProbability, kNats, kNumber };

// Where the JSON object has a number: lists and objects stand between the parts.
enum class JsonPart { kNone, kFirst, kSecond, kThird };

template <class Of>
struct Statistic {
  using Value = std::function<StatisticValue(const Of&)>;
  // Without a meaning, where no help and no document is made of it.
  Statistic(std::string_view n, std::string_view h, StatisticUnit u, Value v, const char* text = "%.6g",
            JsonPart json = JsonPart::kFirst, bool reported = true)
      : name(n), heading(h), unit(u), value(std::move(v)), part(json), in_report(reported), format(text) {}
  Statistic(std::string_view n, std::string_view h, StatisticUnit u, std::string_view told, Value v,
            JsonPart json = JsonPart::kFirst, bool reported = true, int share = 0)
      : Statistic(n, h, u, std::move(v), "%.6g", json, reported) {
    meaning = told, percent = share;
  }

  std::string_view name;     // name of the JSON member and of the column in tables
  std::string_view heading;  // heading for people, in small letters; empty where nothing shows one
  StatisticUnit unit;
  std::string_view meaning;  // for help and documents; no full stop
  Value value;
  JsonPart part;
  bool in_report;      // a column of the report's table
  int percent = 0;     // the share of segments that a length is a quantile of; 0: it is none
  const char* format;  // how printf writes a number in tables of text
};

template <class Of>
using StatisticList = std::vector<Statistic<Of>>;

// All of a list in one format.
template <class Of>
StatisticList<Of> in_format(const char* format, StatisticList<Of> list) {
  for (Statistic<Of>& one : list) one.format = format;
  return list;
}

// An integer as it is, a number in its format.
template <class Of>
std::string statistic_text(const Statistic<Of>& one, const Of& of, const char* unknown = ".") {
  return statistic_text(one.value(of), one.format, unknown);
}

// The columns of a list in a table that begins with others: a tab before each name or value.
template <class Of>
std::string tabbed_names(const StatisticList<Of>& list) {
  std::string text;
  for (const Statistic<Of>& one : list) text.append("\t").append(one.name);
  return text;
}
template <class Of>
std::string tabbed_values(const StatisticList<Of>& list, const Of& of) {
  std::string text;
  for (const Statistic<Of>& one : list) text.append("\t").append(statistic_text(one, of));
  return text;
}

// "mean length of the segments, bases".
std::string with_unit(std::string_view meaning, StatisticUnit unit);
template <class Of>
std::string described(const Statistic<Of>& one) {
  return with_unit(one.meaning, one.unit);
}

std::string capitalized(std::string_view text);

// The one of this name, which is in the list.
template <class Of>
const Statistic<Of>& statistic(const StatisticList<Of>& list, std::string_view name) {
  for (const Statistic<Of>& one : list)
    if (one.name == name) return one;
  throw std::logic_error("no statistic of this name");
}

}  // namespace semicrf
