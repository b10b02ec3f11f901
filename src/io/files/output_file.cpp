#include "io/files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <htslib/bgzf.h>
#include <htslib/hts.h>
#include <htslib/hts_log.h>
#include <htslib/kstring.h>
#include <htslib/tbx.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "io/files/file_errors.h"
#include "io/files/output_names.h"

namespace semicrf {

namespace {

constexpr std::size_t kPlainBuffer = std::size_t{256} << 10;
constexpr std::size_t kBlocksPerBuffer = 4;

[[noreturn]] void throw_write_error(const std::string& path, const std::string& action, int error_number) {
  if (error_number == EPIPE) throw ClosedPipe(output_display_name(path));
  throw write_error(output_display_name(path), action, error_number);
}

// A name in the target's folder that no other process or output uses; hidden, and short enough for any file
// system.
std::string temporary_name(const std::string& target) {
  static std::atomic<int> counter{0};
  constexpr std::size_t kMaxStem = 200;
  const std::filesystem::path path(target);
  const std::string stem = path.filename().string().substr(0, kMaxStem);
  const std::string name = fmt::format(".{}.semicrf-{}-{}.tmp", stem, getpid(), counter++);
  return (path.parent_path() / name).string();
}

// Makes what was written to `descriptor` durable. Pipes and some devices cannot and need not.
bool synchronize(int descriptor) {
  return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

constexpr int kTbiShift = 0;  // HTSlib's code for .tbi

// The first three columns of a line.
struct Place {
  std::string_view chromosome;
  std::int64_t begin = 0, end = 0;
};

bool read_place(std::string_view line, Place& place) {
  const auto take_column = [&] {
    const std::string_view column = line.substr(0, line.find('\t'));
    line.remove_prefix(std::min(line.size(), column.size() + 1));
    return column;
  };
  const auto take_number = [&](std::int64_t& number) {
    const std::string_view column = take_column();
    return std::from_chars(column.data(), column.data() + column.size(), number).ec == std::errc();
  };
  place.chromosome = take_column();
  return take_number(place.begin) && take_number(place.end);
}

// What tabix wants to know besides the index: the columns, and the names of the chromosomes.
std::string tabix_header(const std::string& names) {
  std::string text;
  for (const std::int32_t number :
       {tbx_conf_bed.preset, tbx_conf_bed.sc, tbx_conf_bed.bc, tbx_conf_bed.ec, tbx_conf_bed.meta_char,
        tbx_conf_bed.line_skip, static_cast<std::int32_t>(names.size())})
    for (int i = 0; i < 4; ++i) text += static_cast<char>(static_cast<std::uint32_t>(number) >> (8 * i));
  return text + names;
}

}  // namespace

OutputFile::OutputFile(OutputSpec spec) : spec_(std::move(spec)), target_(resolve_output(spec_.path)) {
  is_compressed_ = is_compressed_name(spec_.path);
  if (spec_.index != IndexKind::kNone && (!is_compressed_ || target_.empty())) {
    throw std::logic_error("OutputFile: an index needs a regular file ending in .gz; see check_outputs");
  }
  buffer_.resize(is_compressed_ ? kBlocksPerBuffer * BGZF_BLOCK_SIZE : kPlainBuffer);
  if (target_.empty()) {
    open_directly();
  } else {
    create_temporary();
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!committed_) {
    if (!temporary_.empty()) unlink(temporary_.c_str());
    if (!temporary_index_.empty()) unlink(temporary_index_.c_str());
  }
}

// A descriptor of this process is copied, so that its place in the file, and whether it appends, are shared
// with whoever else writes to it. One of another process is opened anew, and appended to.
void OutputFile::open_directly() {
  const auto given = descriptor_of(spec_.path);
  descriptor_ = given && given->own ? fcntl(given->number, F_DUPFD_CLOEXEC, 0)
                                    : open(spec_.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) throw_write_error(spec_.path, "cannot be opened for writing", errno);
}

void OutputFile::create_temporary() {
  struct stat old = {};
  const bool replaces = stat(target_.c_str(), &old) == 0;
  if (replaces && S_ISDIR(old.st_mode)) throw_write_error(spec_.path, "cannot be written", EISDIR);
  constexpr mode_t kReadWriteAll = 0666;  // less what the umask takes away
  do {
    temporary_ = temporary_name(target_);
    registered_ = TemporaryName(temporary_);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadWriteAll);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int error_number = errno;
    temporary_.clear();
    throw_write_error(spec_.path, "cannot be created", error_number);
  }
  // The new file has the permissions of the one it replaces, as if that had been written to. Not vital: some
  // file systems have no permissions.
  constexpr mode_t kPermissions = 0777;
  if (replaces && fchmod(descriptor_, old.st_mode & kPermissions) != 0) errno = 0;
}

void OutputFile::compress_with(int threads) {
  constexpr std::size_t kMostBlocks = 64;
  if (!is_compressed_ || threads <= 1) return;
  threads_ = threads;
  const std::size_t blocks = std::min(kMostBlocks, 2 * wide(threads));
  buffer_.resize(std::max(blocks, kBlocksPerBuffer) * BGZF_BLOCK_SIZE);
}

void OutputFile::use_small_buffer() {
  constexpr std::size_t kSmallBuffer = std::size_t{16} << 10;
  threads_ = 1;
  buffer_.resize(is_compressed_ ? std::size_t{2} * BGZF_BLOCK_SIZE : kSmallBuffer);
  buffer_.shrink_to_fit();
}

void OutputFile::write(std::string_view bytes) {
  // What is longer than the buffer gains nothing from it.
  if (!is_compressed_ && bytes.size() >= buffer_.size()) {
    flush();
    write_plain(bytes.data(), bytes.size());
    return;
  }
  while (!bytes.empty()) {
    if (used_ == buffer_.size()) flush();
    const std::size_t count = std::min(bytes.size(), buffer_.size() - used_);
    std::memcpy(buffer_.data() + used_, bytes.data(), count);
    used_ += count;
    bytes.remove_prefix(count);
  }
}

// Empties the buffer, except for what does not fill a BGZF block yet: where blocks end must depend on the
// bytes alone.
void OutputFile::flush() {
  if (finished_) throw std::logic_error("OutputFile: written to after finish");
  if (!is_compressed_) {
    write_plain(buffer_.data(), used_);
    used_ = 0;
    return;
  }
  const std::size_t done = used_ / BGZF_BLOCK_SIZE * BGZF_BLOCK_SIZE;
  if (done > 0) write_bgzf_blocks(buffer_.data(), done);
  std::memmove(buffer_.data(), buffer_.data() + done, used_ - done);
  used_ -= done;
}

void OutputFile::write_plain(const char* bytes, std::size_t size) {
  written_ += size;
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, bytes, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_write_error(spec_.path, "cannot be written", errno);
    }
    bytes += written;
    size -= written;
  }
  begin_synchronizing();
}

// finish() waits until everything is on the disk: long files begin to go there while they are written. Only a
// hint: what fails here fails in finish().
void OutputFile::begin_synchronizing() {
#ifdef SYNC_FILE_RANGE_WRITE
  constexpr std::uint64_t kStep = std::uint64_t{4} << 20;
  if (temporary_.empty() || written_ - synchronizing_ < kStep) return;
  sync_file_range(descriptor_, static_cast<off_t>(synchronizing_),
                  static_cast<off_t>(written_ - synchronizing_), SYNC_FILE_RANGE_WRITE);
  synchronizing_ = written_;
#endif
}

// `size` bytes as blocks, all but the last one full; 0 makes the marker that ends a BGZF file.
void OutputFile::write_bgzf_blocks(const char* bytes, std::size_t size) {
  constexpr int kLevel = 4;  // three times as fast as the customary 6 on bedGraph lines, and 2 % larger
  const std::size_t blocks = std::max<std::size_t>(1, (size + BGZF_BLOCK_SIZE - 1) / BGZF_BLOCK_SIZE);
  compressed_.resize(std::max(compressed_.size(), blocks * BGZF_MAX_BLOCK_SIZE));
  std::vector<std::size_t> sizes(blocks);
  parallel_for(threads_, blocks, [&](std::size_t i, int) {
    const std::size_t begin = i * BGZF_BLOCK_SIZE;
    sizes[i] = BGZF_MAX_BLOCK_SIZE;
    if (bgzf_compress(compressed_.data() + i * BGZF_MAX_BLOCK_SIZE, &sizes[i], bytes + begin,
                      std::min<std::size_t>(BGZF_BLOCK_SIZE, size - begin), kLevel) != 0) {
      throw WriteError({spec_.path, "", "cannot be compressed", ""});
    }
  });
  for (std::size_t i = 0; i < blocks; ++i)
    write_plain(compressed_.data() + i * BGZF_MAX_BLOCK_SIZE, sizes[i]);
}

void OutputFile::finish() {
  flush();
  if (is_compressed_) {
    if (used_ > 0) write_bgzf_blocks(buffer_.data(), used_);
    write_bgzf_blocks(buffer_.data(), 0);
    used_ = 0;
  }
  finish_data();
  if (spec_.index != IndexKind::kNone) build_index();
  finished_ = true;
  buffer_ = {};  // there may be many such files
  compressed_ = {};
}

void OutputFile::commit() {
  if (committed_ || (finished_ && used_ > 0))
    throw std::logic_error("OutputFile: committed twice, or written to after finish");
  if (!finished_) finish();
  if (!target_.empty()) rename_all();
  committed_ = true;
}

void OutputFile::finish_data() {
  if (!synchronize(descriptor_)) throw_write_error(spec_.path, "cannot be written", errno);
  if (close(std::exchange(descriptor_, -1)) != 0) throw_write_error(spec_.path, "cannot be closed", errno);
}

namespace {

bool build_vcf_index(const std::string& data, const std::string& index, bool tbi) {
  constexpr int kCsiShift = 14;
  return tbx_index_build3(data.c_str(), index.c_str(), tbi ? kTbiShift : kCsiShift, 0, &tbx_conf_vcf) == 0;
}

}  // namespace

void OutputFile::build_index() {
  hts_set_log_level(HTS_LOG_OFF);
  temporary_index_ = temporary_name(target_);
  registered_index_ = TemporaryName(temporary_index_);
  errno = 0;
  const bool tbi = spec_.index == IndexKind::kTbi;
  const bool built = has_ending(without_compression(target_), {".vcf"})
                         ? build_vcf_index(temporary_, temporary_index_, tbi)
                     : tbi ? build_tbi(temporary_, temporary_index_)
                           : build_csi(temporary_, temporary_index_, csi_shape_for(spec_.longest_chromosome));
  if (!built) {
    const int error_number = errno;
    if (error_number != 0) throw_write_error(index_path(spec_), "cannot be written", error_number);
    throw WriteError({index_path(spec_), "", "the index cannot be built", ""});
  }
  const int index = open(temporary_index_.c_str(), O_WRONLY | O_CLOEXEC);
  if (index < 0) throw_write_error(index_path(spec_), "cannot be opened", errno);
  const bool durable = synchronize(index);
  const int error_number = errno;
  close(index);
  if (!durable) throw_write_error(index_path(spec_), "cannot be written", error_number);
}

// Data first: until the index follows, an older one is at least older than its data, which readers warn
// about.
void OutputFile::rename_all() {
  if (rename(temporary_.c_str(), target_.c_str()) != 0)
    throw_write_error(spec_.path, "cannot be replaced", errno);
  temporary_.clear();
  registered_.release();
  if (spec_.index == IndexKind::kNone) return;

  const bool tbi = spec_.index == IndexKind::kTbi;
  const std::string index_target = target_ + (tbi ? ".tbi" : ".csi");
  const std::string other_index = target_ + (tbi ? ".csi" : ".tbi");
  unlink(other_index.c_str());  // it indexed the older file, and readers might prefer it
  if (rename(temporary_index_.c_str(), index_target.c_str()) != 0) {
    const int error_number = errno;
    unlink(index_target.c_str());  // a wrong index is worse than none
    throw_write_error(index_path(spec_), "cannot be replaced", error_number);
  }
  temporary_index_.clear();
  registered_index_.release();
}

void write_whole_output(const std::string& path, std::string_view text) {
  OutputFile output({path, IndexKind::kNone});
  output.write(text);
  output.commit();
}

NewFolder::NewFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) {
    made_ = path;
    registered_ = TemporaryName(path);
    return;
  }
  const int problem = errno;
  struct stat status = {};
  if (problem == EEXIST && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return;
  throw write_error(path, "the folder cannot be made", problem == EEXIST ? ENOTDIR : problem);
}

NewFolder::~NewFolder() {
  if (!made_.empty()) rmdir(made_.c_str());  // which leaves a folder that has files
}

CsiShape csi_shape_for(std::int64_t longest_chromosome) {
  CsiShape shape;
  const std::uint64_t last = std::max<std::int64_t>(1, longest_chromosome) - 1;
  const auto bits = static_cast<int>(std::bit_width(last));
  shape.min_shift = std::max(shape.min_shift, bits - 3 * shape.levels);
  return shape;
}

bool build_tbi(const std::string& data, const std::string& index) {
  return tbx_index_build3(data.c_str(), index.c_str(), kTbiShift, 0, &tbx_conf_bed) == 0;
}

// As tbx_index_build3 does it, whose .csi indexes have a number of levels that reaches to 2^32 bases.
bool build_csi(const std::string& data, const std::string& index, const CsiShape& shape) {
  const std::unique_ptr<BGZF, int (*)(BGZF*)> file(bgzf_open(data.c_str(), "r"), bgzf_close);
  if (!file) return false;
  const auto offset = [&] { return bgzf_tell(file.get()); };
  using Index = std::unique_ptr<hts_idx_t, void (*)(hts_idx_t*)>;
  Index built(nullptr, hts_idx_destroy);
  const auto start_at = [&](std::uint64_t at) {
    if (!built) built.reset(hts_idx_init(0, HTS_FMT_CSI, at, shape.min_shift, shape.levels));
    return built != nullptr;
  };
  kstring_t line = KS_INITIALIZE;
  const std::unique_ptr<kstring_t, void (*)(kstring_t*)> owned(&line, ks_free);
  std::string names, chromosome;
  int number = -1, length = 0;
  std::uint64_t before = offset();
  for (; (length = bgzf_getline(file.get(), '\n', &line)) >= 0; before = offset()) {
    const std::string_view text(line.s, line.l);
    if (text.starts_with(static_cast<char>(tbx_conf_bed.meta_char))) continue;
    Place place;
    if (!start_at(before) || !read_place(text, place)) return false;
    if (number < 0 || place.chromosome != chromosome) {
      chromosome = place.chromosome;
      names.append(chromosome).push_back('\0');
      ++number;
    }
    if (hts_idx_push(built.get(), number, place.begin, place.end, offset(), 1) < 0) return false;
  }
  constexpr int kEnd = -1;  // further down: errors
  if (length < kEnd || !start_at(before)) return false;
  std::string header = tabix_header(names);
  return hts_idx_finish(built.get(), offset()) == 0 &&
         hts_idx_set_meta(built.get(), static_cast<std::uint32_t>(header.size()),
                          reinterpret_cast<std::uint8_t*>(header.data()), 1) == 0 &&
         hts_idx_save_as(built.get(), nullptr, index.c_str(), HTS_FMT_CSI) == 0;
}

}  // namespace semicrf
