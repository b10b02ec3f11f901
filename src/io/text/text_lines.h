// How a text file says its encoding: by the byte order mark that it may begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

// Lines of a text file, plain or compressed by gzip or bgzip (told from the content): the one reader of all
// text formats. What it returns is UTF-8 without control characters but tabs, so that names in it can be
// kept.

// What a format may be besides UTF-8 in lines of a few megabytes.
struct TextForm {
  bool utf16 = false;                               // with a byte order mark, which is then decoded
  std::size_t longest_line = std::size_t{4} << 20;  // bytes
};

// Lines end with LF, CRLF or CR, also mixed. Byte order marks of UTF-8 at the beginning of lines are passed
// over. ReadError: cannot be opened or read. MemoryError: no memory is left to read with. InputError with the
// line: damaged or truncated compressed data, a line that is too long, zero bytes (also those of UTF-16
// and UTF-32), control characters, text that is not UTF-8; in lines that begin with #, the last two are
// replaced by \xHH. Takes memory for a line and some hundred KiB.
class TextLines {
 public:
  explicit TextLines(std::string path, TextForm form = {});  // "-": standard input
  TextLines(TextLines&&) noexcept;
  ~TextLines();

  // The next line without its end; false at the end of the file.
  bool next(std::string& line);
  std::int64_t line_number() const { return line_number_; }  // number of the line returned last, from 1
  const std::string& path() const { return path_; }
  // The first bytes of the file, some thousands where it has them, to be asked before next().
  std::string_view head();

 private:
  struct File;
  bool fill();
  void check(std::string& line) const;

  std::string path_;
  std::unique_ptr<File> file_;
  std::int64_t line_number_ = 0;
};

}  // namespace semicrf
