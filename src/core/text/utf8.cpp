#include "core/text/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace semicrf {
namespace {

constexpr std::size_t kLongestWord = 200, kLongestMessage = 700;

bool is_control(std::string_view character) {
  const unsigned char first = character[0];
  // U+0080 to U+009F are C2 80 to C2 9F.
  return first < 0x20 || first == 0x7f ||
         (character.size() == 2 && first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

void append_escaped(char c, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  const unsigned char byte = c;
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    out += "\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

// The nearest place at or before `at` where a character begins.
std::size_t character_start(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (text[at] & 0xc0) == 0x80) --at;
  return at;
}

// `text` where it has no more than `most` bytes, else its ends around a note of `size` bytes.
std::string without_middle(std::string_view text, std::size_t most, std::size_t size) {
  if (text.size() <= most) return std::string(text);
  const std::string note = fmt::format("...[{} bytes]...", size);
  const std::size_t shown = most > note.size() ? most - note.size() : 0;
  const std::size_t head = character_start(text, shown - shown / 3);
  const std::size_t tail = character_start(text, text.size() - shown / 3);
  return std::string(text.substr(0, head)).append(note).append(text.substr(tail));
}

// Length of the UTF-8 character at the beginning of `text`, 0: none that XML allows (U+FFFE and U+FFFF are
// none).
std::size_t character_length(std::string_view text) {
  const std::size_t length = utf8_length(text);
  return length == 3 && (text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf")) ? 0 : length;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned char { return text[i]; };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || length > text.size()) return 0;
  std::uint32_t code = byte(0) & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < least || code > 0x10ffff || surrogate ? 0 : length;
}

TextFault text_fault(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return TextFault::kNotUtf8;
    if (is_control(text.substr(at, length))) return TextFault::kControl;
    at += length;
  }
  return TextFault::kNone;
}

std::string escape_control(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || is_control(character)) {
      for (const char c : character) append_escaped(c, out);
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t most) {
  return without_middle(text, most, text.size());
}

std::string message_text(std::string_view text) {
  std::string words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    // The ends of it are enough: escaping makes no text shorter.
    std::string ends(word.substr(0, character_start(word, std::min(word.size(), kLongestWord))));
    ends += word.substr(
        character_start(word, std::max(ends.size(), word.size() - std::min(word.size(), kLongestWord))));
    words += without_middle(escape_control(ends), kLongestWord, word.size());
    if (end < text.size()) words += ' ';
    begin = end + 1;
  }
  return shortened(words, kLongestMessage);
}

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
