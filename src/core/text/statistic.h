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
#include <type_traits>
#include <variant>
#include <vector>

#include "core/text/text.h"

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
inline std::string statistic_text(const StatisticValue& value, const char* format, const char* unknown) {
  std::string text = unknown;
  value.visit([&](auto number) {
    if constexpr (std::is_integral_v<decltype(number)>) {
      text = std::to_string(number);
    } else {
      text = formatted(format, number);
    }
  });
  return text;
}

enum class StatisticUnit { kCount, kBins, kBases, kShare, kProbability, kNats, kNumber };

// Where the JSON object has a number: lists and objects stand between the parts.
enum class JsonPart { kNone, kFirst, kSecond, kThird };

template <class Of>
struct Statistic {
  std::string_view name;     // name of the JSON member and of the column in tables
  std::string_view heading;  // heading for people, in small letters; empty where nothing shows one
  StatisticUnit unit;
  std::string_view meaning;  // for help and documents; no full stop
  std::function<StatisticValue(const Of&)> value;
  JsonPart part = JsonPart::kFirst;
  bool in_report = true;  // a column of the report's table
  int percent = 0;        // the share of segments that a length is a quantile of; 0: it is none
};

template <class Of>
using StatisticList = std::vector<Statistic<Of>>;

// "mean length of the segments, bases".
template <class Of>
std::string described(const Statistic<Of>& one) {
  std::string text(one.meaning);
  if (one.unit == StatisticUnit::kBases) text += ", bases";
  if (one.unit == StatisticUnit::kNats) text += ", nats";
  return text;
}

inline std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z')
    result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

// The one of this name, which is in the list.
template <class Of>
const Statistic<Of>& statistic(const StatisticList<Of>& list, std::string_view name) {
  for (const Statistic<Of>& one : list)
    if (one.name == name) return one;
  throw std::logic_error("no statistic of this name");
}

}  // namespace semicrf
