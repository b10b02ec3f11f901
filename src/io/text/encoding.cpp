#include "io/text/encoding.h"

#include <cstddef>
#include <cstdint>

#include "core/error.h"

namespace semicrf {
namespace {

void append_utf8(std::uint32_t code, std::string& text) {
  const auto byte = [&](std::uint32_t value) {
    text += static_cast<char>(static_cast<unsigned char>(value));
  };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

}  // namespace

Encoding encoding_of(std::string_view bytes) {
  using std::string_view_literals::operator""sv;
  if (bytes.starts_with("\xFF\xFE\0\0"sv) || bytes.starts_with("\0\0\xFE\xFF"sv)) return Encoding::kUtf32;
  if (bytes.starts_with("\xFF\xFE"sv)) return Encoding::kUtf16Little;
  if (bytes.starts_with("\xFE\xFF"sv)) return Encoding::kUtf16Big;
  return Encoding::kUtf8;
}

void require_utf8(Encoding encoding, const std::string& path) {
  if (encoding == Encoding::kUtf8) return;
  throw InputError(
      {path, "", std::string("is UTF-") + (encoding == Encoding::kUtf32 ? "32" : "16"), "save it as UTF-8"});
}

void take_utf16(Encoding encoding, bool last, std::string& bytes, std::string& text) {
  constexpr std::uint32_t kMark = 0xFEFF, kReplacement = 0xFFFD;
  const auto unit = [&](std::size_t i) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    return static_cast<std::uint32_t>(encoding == Encoding::kUtf16Big ? first << 8 | second
                                                                      : second << 8 | first);
  };
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) {
    std::uint32_t code = unit(at);
    if (code >= 0xD800 && code < 0xDC00) {
      if (at + 3 >= bytes.size() && !last) break;
      const bool whole = at + 3 < bytes.size() && unit(at + 2) >= 0xDC00 && unit(at + 2) < 0xE000;
      code = whole ? 0x10000 + ((code - 0xD800) << 10) + (unit(at + 2) - 0xDC00) : kReplacement;
      if (whole) at += 2;
    } else if (code >= 0xDC00 && code < 0xE000) {
      code = kReplacement;
    }
    if (code != kMark) append_utf8(code, text);
  }
  if (last && at < bytes.size()) append_utf8(kReplacement, text);
  bytes.erase(0, last ? bytes.size() : at);
}

}  // namespace semicrf
