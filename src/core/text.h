// Pieces of text.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace semicrf {

// The texts one after the other, with the separator between them.
inline std::string joined(std::span<const std::string> texts, std::string_view separator) {
  std::string all;
  for (const std::string& text : texts) {
    if (&text != texts.data()) all += separator;
    all += text;
  }
  return all;
}

}  // namespace semicrf
