#include "core/text/markup.h"

#include <cstddef>

#include "core/text/utf8.h"

namespace semicrf {
namespace {

// Length of the UTF-8 character at the beginning of `text`, 0: none that XML allows (U+FFFE and U+FFFF are
// none).
std::size_t character_length(std::string_view text) {
  const std::size_t length = utf8_length(text);
  return length == 3 && (text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf")) ? 0 : length;
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
