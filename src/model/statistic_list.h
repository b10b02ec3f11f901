// The numbers of model/statistics.h, each declared once: its name, heading, unit, meaning and where it is.
// The JSON of --stats, the table and the help of describe, the tables of the report and documents for MultiQC
// are made of these lists, and a test compares docs/users/formats.md with them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/statistics.h"

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

enum class StatisticUnit { kCount, kBins, kBases, kShare, kProbability, kNats, kNumber };

// Where the JSON object has a number: lists and objects stand between the parts.
enum class JsonPart { kNone, kFirst, kSecond, kThird };

template <class Of>
struct Statistic {
  std::string_view name;     // name of the JSON member and of the column in tables
  std::string_view heading;  // heading for people; empty where nothing shows one
  StatisticUnit unit;
  std::string_view meaning;  // for help and documents; no full stop
  std::function<StatisticValue(const Of&)> value;
  JsonPart part = JsonPart::kFirst;
  bool in_report = true;  // a column of the report's table
  int percent = 0;        // the share of segments that a length is a quantile of; 0: it is none
};

template <class Of>
using StatisticList = std::vector<Statistic<Of>>;

// Lengths of segments.
const StatisticList<LengthStats>& length_statistics();
// A label in a segmentation, its lengths included, in the order of the table.
const StatisticList<DecodedLabelStats>& label_statistics();
// A sequence of a run.
const StatisticList<SequenceStats>& sequence_statistics();

// "mean length of the segments, bases".
std::string with_unit(std::string_view meaning, StatisticUnit unit);
template <class Of>
std::string described(const Statistic<Of>& one) {
  return with_unit(one.meaning, one.unit);
}

// The one of this name, which is in the list.
template <class Of>
const Statistic<Of>& statistic(const StatisticList<Of>& list, std::string_view name) {
  for (const Statistic<Of>& one : list)
    if (one.name == name) return one;
  throw std::logic_error("no statistic of this name");
}

}  // namespace semicrf
