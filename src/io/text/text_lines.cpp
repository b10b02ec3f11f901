#include "io/text/text_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "core/text/utf8.h"
#include "io/files/file_errors.h"
#include "io/files/kept_input.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

void append_utf8(std::uint32_t code, std::string& text) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
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

int open_descriptor(const std::string& path) {
  const std::string kept = path_of_kept(path);
  if (path == "-" && kept.empty()) {
    const int copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) throw read_error("standard input", "cannot be read", errno);
    return copy;
  }
  const int descriptor = open((kept.empty() ? path : kept).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw read_error(path, "cannot be opened", errno);
  struct stat status = {};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(descriptor);
    throw read_error(path, "cannot be read", EISDIR);
  }
  return descriptor;
}

// Columns with what is no text in them as \xHH.
std::string escaped_columns(const std::vector<std::string_view>& columns) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += '\t';
    line += escape_control(columns[i]);
  }
  return line;
}

// HTSlib's view of an open descriptor, which it then owns. Going through a descriptor keeps HTSlib from
// taking a path with a colon for a URL.
BGZF* open_lines(const std::string& path) {
  hts_set_log_level(HTS_LOG_OFF);
  const int descriptor = open_descriptor(path);
  hFILE* const raw = hdopen(descriptor, "r");
  if (raw == nullptr) {
    const int error_number = errno;
    close(descriptor);
    if (error_number == ENOMEM) throw std::bad_alloc();
    throw read_error(path, "cannot be opened", error_number);
  }
  BGZF* const handle = bgzf_hopen(raw, "r");
  if (handle == nullptr) {
    const int error_number = errno;
    hclose_abruptly(raw);
    if (error_number == ENOMEM) throw std::bad_alloc();
    throw read_error(path, "cannot be opened", error_number);
  }
  return handle;
}

// What a line may hold without being looked at again: ASCII without control characters, and tabs.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned c = 0x20; c < 0x7f; ++c) plain[c] = true;
  plain['\t'] = true;
  return plain;
}();

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

// The next bytes of a file, behind those that `raw` holds; false at its end.
bool read_more(BGZF* handle, const std::string& path, std::int64_t line, std::string& raw) {
  const std::size_t before = raw.size();
  raw.resize(before + kBufferBytes);
  errno = 0;
  const ssize_t length = bgzf_read(handle, raw.data() + before, kBufferBytes);
  if (length < 0) {
    if (errno == ENOMEM) throw std::bad_alloc();
    if ((handle->errcode & BGZF_ERR_IO) != 0 && errno != 0) throw read_error(path, "cannot be read", errno);
    throw InputError(path, line, "cannot be read: damaged or truncated data", "copy or make the file again");
  }
  raw.resize(before + length);
  return length > 0;
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
    const unsigned char first = bytes[i];
    const unsigned char second = bytes[i + 1];
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

struct TextLines::File {
  BGZF* handle = nullptr;
  TextForm form;
  Encoding encoding = Encoding::kUnknown;
  std::string raw;        // bytes as they were read
  std::string text;       // `raw` as UTF-8
  std::size_t at = 0;     // in `text`, of what comes next
  bool after_cr = false;  // a line ended with CR: LF at `at` belongs to it

  ~File() {
    if (handle != nullptr && bgzf_close(handle) != 0) errno = 0;  // only read from: nothing can be lost
  }
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

TextLines::TextLines(std::string path, TextForm form)
    : path_(std::move(path)), file_(std::make_unique<File>()) {
  file_->form = form;
  file_->handle = open_lines(path_);
  constexpr int kBgzf = 2;
  if (bgzf_compression(file_->handle) == kBgzf && bgzf_check_EOF(file_->handle) == 0) {
    throw InputError(
        {path_, "", "is truncated: the block that ends a bgzip file is missing", "copy or make it again"});
  }
}

TextLines::TextLines(TextLines&&) noexcept = default;
TextLines::~TextLines() = default;

// Reads on when all text was returned; false at the end of the file.
bool TextLines::fill() {
  File& file = *file_;
  file.text.clear();
  file.at = 0;
  while (file.text.empty()) {
    const bool more = read_more(file.handle, path_, line_number_ + 1, file.raw);
    if (file.encoding == Encoding::kUnknown) {
      file.encoding = encoding_of(file.raw);
      if (!file.form.utf16 || file.encoding == Encoding::kUtf32) require_utf8(file.encoding, path_);
    }
    if (file.encoding == Encoding::kUtf8) {
      file.text.swap(file.raw);
      file.raw.clear();
    } else {
      take_utf16(file.encoding, !more, file.raw, file.text);
    }
    if (!more) break;
  }
  return !file.text.empty();
}

std::string_view TextLines::head() {
  if (file_->at == file_->text.size()) fill();
  return file_->text;
}

bool TextLines::next(std::string& line) {
  File& file = *file_;
  line.clear();
  bool plain = true, begun = false;
  const auto refuse = [&](const std::string& what, const std::string& advice) {
    return InputError(path_, line_number_ + 1, what, advice);
  };
  while (file.at < file.text.size() || fill()) {
    if (std::exchange(file.after_cr, false) && file.text[file.at] == '\n') {
      ++file.at;
      continue;
    }
    begun = true;
    const char* const begin = file.text.data() + file.at;
    const char* const end = file.text.data() + file.text.size();
    const char* c = begin;
    while (c != end && kPlain[static_cast<unsigned char>(*c)]) ++c;
    line.append(begin, c);
    file.at += c - begin;
    if (line.size() > file.form.longest_line)
      throw refuse(
          fmt::format(
              "the line has more than {} MiB: this is not a text file of the kind that is expected here",
              file.form.longest_line >> 20),
          "check the path");
    if (c == end) continue;
    ++file.at;
    if (*c == '\n' || *c == '\r') {
      file.after_cr = *c == '\r';
      break;
    }
    if (*c == '\0')
      throw refuse("holds a zero byte, as binary files and UTF-16 do: this is not UTF-8 text",
                   "check the path, or save it as UTF-8");
    line += *c;
    plain = false;
  }
  if (!begun) return false;
  ++line_number_;
  if (!plain) check(line);
  return true;
}

// Reads a line that holds more than plain ASCII.
void TextLines::check(std::string& line) const {
  if (line.starts_with(kUtf8Mark)) line.erase(0, kUtf8Mark.size());
  const std::vector<std::string_view> columns = split_at('\t', line);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const TextFault fault = text_fault(columns[i]);
    if (fault == TextFault::kNone) continue;
    if (line.front() == '#') {
      line = escaped_columns(columns);
      return;
    }
    const std::string place =
        fmt::format("column {}, '{}', ", i + 1, shortened(escape_control(columns[i]), 60));
    if (fault == TextFault::kNotUtf8)
      throw InputError(path_, line_number_, place + "is not UTF-8",
                       "convert the file, for example with iconv -f LATIN1 -t UTF-8");
    throw InputError(path_, line_number_, place + "has control characters", "take them out");
  }
}

}  // namespace semicrf
