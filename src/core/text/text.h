// Pieces of text.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <optional>
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

// "a, b, c and 22 more": the first `most` texts, for messages.
inline std::string few_of(std::span<const std::string> texts, std::size_t most) {
  if (texts.size() <= most) return joined(texts, ", ");
  return joined(texts.first(most), ", ") + " and " + std::to_string(texts.size() - most) + " more";
}

// The parts of a text between its separators, at least one.
inline std::vector<std::string_view> split_at(char separator, std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The number that the whole text is, as std::from_chars reads it; nothing where it is something else.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

// One number as printf writes it.
inline std::string formatted(const char* format, double value) {
  char text[400];  // any double with some decimals
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// "#rrggbb".
inline std::string hex_color(const std::array<std::uint8_t, 3>& rgb) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
  return text;
}

// "1 bin", "2 bins".
template <std::integral Count>
std::string plural(Count count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

// The names of labels, tracks or the like, in their order.
template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

// What positions are called in messages and tables: bases of a genome, or frames of a recording.
//
// One setting for the whole program, made once before a command runs (apps/options/unit_options); only words
// depend on it, no number in an output and no file format.
struct Units {
  std::string one = "base", many = "bases";
  double rate = 0;          // positions per second, 0: not known
  bool in_seconds = false;  // lengths are also said in seconds; needs the rate
};

const Units& units();
void set_units(const Units& units);

// "3000 bases"; "3000 frames"; "3000 frames (30 s)".
std::string amount(std::int64_t positions);

}  // namespace semicrf
