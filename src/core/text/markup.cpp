#include "core/text/markup.h"

#include <cstdint>

namespace semicrf {
namespace {

// Length of the UTF-8 character at the beginning of `text`, 0: none that XML allows.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (length == 1) return 1;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || length > text.size()) return 0;
  std::uint32_t code = byte(0) & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least || code > 0x10ffff || surrogate || (code & 0xfffe) == 0xfffe) return 0;
  return length;
}

}  // namespace

std::string markup_escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char c = text[0];
    if (length == 0) {
      result += "\xef\xbf\xbd";  // U+FFFD
    } else if (length > 1) {
      result += text.substr(0, length);
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (c == '\'') {
      result += "&#39;";
    } else {
      result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace semicrf
