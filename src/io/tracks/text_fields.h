// Fields of lines, for the readers of tracks as text.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "core/text/utf8.h"
#include "io/text/text_lines.h"

namespace semicrf {

// The fields of a line between tabs, or between blanks where it has no tab, as views of it.
inline void split_fields(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  const bool tabs = line.find('\t') != std::string_view::npos;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(tabs ? '\t' : ' ', begin), line.size());
    if (tabs || end > begin) fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
}

inline std::string quoted_field(std::string_view field) {
  return "'" + shortened(escape_control(field), 60) + "'";
}

inline InputError refused_at(const TextLines& lines, const std::string& what, const std::string& advice) {
  return InputError(lines.path(), lines.line_number(), what, advice);
}

// A base from `first` on. InputError where the field is none.
inline std::int64_t position_in(const TextLines& lines, std::string_view field, const char* name,
                                std::int64_t first) {
  const auto value = number_in<std::int64_t>(field);
  if (!value || *value < first)
    throw refused_at(lines,
                     std::string(name) + " is " + quoted_field(field) + ", expected a whole number, " +
                         std::to_string(first) + " or more",
                     "correct the line");
  return *value;
}

// A finite number that a float can hold. InputError where the field is none.
inline float value_in(const TextLines& lines, std::string_view field) {
  const auto number = number_in<double>(field);
  const float value = number ? static_cast<float>(*number) : 0;
  if (number && std::isfinite(value)) return value;
  const bool none = number && std::isnan(*number);
  throw refused_at(
      lines, "the value is " + quoted_field(field) + ", expected a finite number",
      none ? "leave the line out: bases without a line have no value" : "correct the line, or leave it out");
}

// NA, NaN, . or nothing: no value.
inline bool is_no_value(std::string_view field) {
  return field.empty() || field == "." || field == "NA" || field == "NaN" || field == "nan" ||
         field == "na" || field == "null";
}

}  // namespace semicrf
