// How a text file says its encoding: by the byte order mark that it may begin with.
#pragma once

#include <string>
#include <string_view>

namespace semicrf {

enum class Encoding {
  kUnknown,  // not looked at yet
  kUtf8,     // what has no mark, too
  kUtf16Little,
  kUtf16Big,
  kUtf32,  // in either byte order
};

inline constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// By the first bytes of a file, at least four where it has them.
Encoding encoding_of(std::string_view bytes);

// InputError that says what `path` is and what to do, where it is not UTF-8.
void require_utf8(Encoding encoding, const std::string& path);

// Appends UTF-16 as UTF-8, without the marks, and leaves in `bytes` what is a part of a character whose rest
// is still to be read. `last`: nothing follows. Surrogates that stand alone become U+FFFD.
void take_utf16(Encoding encoding, bool last, std::string& bytes, std::string& text);

}  // namespace semicrf
