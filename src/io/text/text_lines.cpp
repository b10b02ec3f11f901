#include "io/text/text_lines.h"

#include <fcntl.h>
#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <htslib/kstring.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/files/file_errors.h"

namespace semicrf {

struct TextLines::File {
  BGZF* handle = nullptr;
  kstring_t text = KS_INITIALIZE;

  ~File() {
    if (handle != nullptr && bgzf_close(handle) != 0) errno = 0;  // only read from: nothing can be lost
    ks_free(&text);
  }
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

namespace {

int open_descriptor(const std::string& path) {
  if (path == "-") {
    const int copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) throw read_error("standard input", "cannot be read", errno);
    return copy;
  }
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw read_error(path, "cannot be opened", errno);
  struct stat status = {};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(descriptor);
    throw read_error(path, "cannot be read", EISDIR);
  }
  return descriptor;
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
    throw read_error(path, "cannot be opened", error_number);
  }
  BGZF* const handle = bgzf_hopen(raw, "r");
  if (handle == nullptr) {
    const int error_number = errno;
    hclose_abruptly(raw);
    throw read_error(path, "cannot be opened", error_number);
  }
  return handle;
}

}  // namespace

TextLines::TextLines(std::string path) : path_(std::move(path)), file_(std::make_unique<File>()) {
  file_->handle = open_lines(path_);
  constexpr int kBgzf = 2;
  if (bgzf_compression(file_->handle) == kBgzf && bgzf_check_EOF(file_->handle) == 0) {
    throw InputError(
        {path_, "", "is truncated: the block that ends a bgzip file is missing", "copy or make it again"});
  }
}

TextLines::TextLines(TextLines&&) noexcept = default;
TextLines::~TextLines() = default;

bool TextLines::next(std::string& line) {
  const int length = bgzf_getline(file_->handle, '\n', &file_->text);
  constexpr int kEnd = -1;
  if (length == kEnd) return false;
  if (length < kEnd) {
    throw InputError(path_, line_number_ + 1, "cannot be read: damaged or truncated data",
                     "copy or make the file again");
  }
  ++line_number_;
  line.assign(file_->text.s, file_->text.l);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

}  // namespace semicrf
