// Pieces of text.
#pragma once

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

// The names of labels, tracks or the like, in their order.
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const Named& item : items) names.push_back(item.name);
  return names;
}

}  // namespace semicrf
