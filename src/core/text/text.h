// Pieces of text.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semicrf {

// An ASCII letter as its lower-case form; any other character as it is.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The texts one after the other, with the separator between them.
inline std::string joined(std::span<const std::string> texts, std::string_view separator) {
  std::string all;
  for (const std::string& text : texts) {
    if (&text != texts.data()) all += separator;
    all += text;
  }
  return all;
}

// The parts of a line between its tabs, at least one.
inline std::vector<std::string_view> split_at_tabs(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

// One number as printf writes it.
inline std::string formatted(const char* format, double value) {
  char text[400];  // any double with some decimals
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// "1 bin", "2 bins".
template <std::integral Count>
std::string plural(Count count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

// The names of labels, tracks or the like, in their order.
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const Named& item : items) names.push_back(item.name);
  return names;
}

}  // namespace semicrf
