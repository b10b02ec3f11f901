// An output file that appears under its name only when it is complete.
//
// Bytes go to a temporary name in the folder of the target and are renamed by commit(); without commit() the
// temporary is removed and an older file of that name stays as it was. Names ending in ".gz" or ".bgz" are
// written as BGZF (bgzip), whose bytes depend on the content only. "-" is standard output; it, other open
// descriptors (/dev/stdout, /dev/fd/3) and targets that are not regular files (/dev/null, a FIFO) are written
// to directly. A symbolic link is followed: the file that it points to is replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/signal_cleanup.h"

namespace semicrf {

// The reader of a pipe went away. Not an Error: the program ends quietly with 141.
class ClosedPipe : public std::runtime_error {
 public:
  explicit ClosedPipe(const std::string& path) : std::runtime_error(path + ": closed pipe") {}
};

// Index written beside a BGZF file, named PATH.tbi or PATH.csi.
enum class IndexKind { kNone, kTbi, kCsi };

// .tbi, or .csi when the longest chromosome (bases) is beyond what .tbi can address (512 Mb).
IndexKind index_kind_for(std::int64_t longest_chromosome);

struct OutputSpec {
  std::string path;                     // "-": standard output
  IndexKind index = IndexKind::kNone;   // only for names ending in ".gz"; records must be BED-like and sorted
  std::int64_t longest_chromosome = 0;  // bases, for .csi
};

// Name of the index of `spec`, empty when there is none.
std::string index_path(const OutputSpec& spec);

// The folder that the file behind `path` is in (links followed), empty for standard output and other targets
// that are not regular files.
std::string output_folder(const std::string& path);

// The files that the options of a command name: `inputs`, which check_outputs() adds to those it is given,
// and `logs`, outputs that are written along the way. Replaces what was remembered before; for the program,
// which runs one command.
void remember_files(std::vector<std::string> inputs, const std::vector<std::string>& logs);

// UsageError: an output has no name, two outputs are the same file or descriptor (a device such as /dev/null
// may be several), an output is one of `inputs` (the same file through whatever links; "-" is standard input)
// or would replace the file that standard error goes to.
void check_distinct(std::span<const std::string> outputs, std::span<const std::string> inputs);

// To be called before anything is computed. UsageError: as check_distinct says, with indexes and what
// remember_files() was given; an index on something that is not a ".gz" or ".bgz" file. WriteError: the
// folder does not exist or cannot be written to, the name is too long for it, the target is a folder or
// read-only, the descriptor is closed.
void check_outputs(std::span<const OutputSpec> outputs, std::span<const std::string> inputs);

// Not thread-safe. Every failure to write is a WriteError that names the target (ClosedPipe for a closed
// pipe).
class OutputFile {
 public:
  // Creates the temporary file.
  explicit OutputFile(OutputSpec spec);

  // BGZF blocks are compressed by so many threads, and two of them a thread lie in memory (at most 64); the
  // bytes are the same. Before the first write.
  void compress_with(int threads);

  // For one of very many files: a buffer of 16 KiB, or of two BGZF blocks that one thread compresses. Before
  // the first write.
  void use_small_buffer();

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Removes the temporary file unless commit() was called. Buffered bytes are dropped.
  ~OutputFile();

  void write(std::string_view bytes);

  // Room for `size` bytes (at most kMaxReserve) to format into; advance() then says how many were used.
  static constexpr std::size_t kMaxReserve = 4096;
  char* reserve(std::size_t size) {
    if (buffer_.size() - used_ < size) flush();
    return buffer_.data() + used_;
  }
  void advance(std::size_t size) { used_ += size; }

  // Writes what is left, makes it durable and builds the index. Afterwards nothing may be written, and
  // nothing is left to fail but the renaming. Outputs that belong together are all finished before the first
  // is committed.
  void finish();

  // finish(), where that was not called, and then renames data and index. An index of the other kind that
  // belonged to an older file of that name is removed.
  void commit();

  const std::string& path() const { return spec_.path; }

 private:
  void open_directly();
  void create_temporary();
  void flush();
  void write_plain(const char* bytes, std::size_t size);
  void begin_synchronizing();
  void write_bgzf_blocks(const char* bytes, std::size_t size);
  void finish_data();
  void build_index();
  void rename_all();

  OutputSpec spec_;
  std::string target_;     // where the file ends up, links resolved; empty: written to directly
  std::string temporary_;  // name of the unfinished file; empty: written to directly
  std::string temporary_index_;
  TemporaryName registered_;
  TemporaryName registered_index_;
  int descriptor_ = -1;
  bool is_compressed_ = false;
  bool finished_ = false;
  bool committed_ = false;
  std::vector<char> buffer_;  // plain: 256 KiB; BGZF: a whole number of blocks
  std::size_t used_ = 0;
  std::uint64_t written_ = 0;        // bytes of the file
  std::uint64_t synchronizing_ = 0;  // bytes that the system was asked to write to the disk
  int threads_ = 1;                  // that compress
  std::vector<char> compressed_;     // BGZF: a slot for each block of the buffer
};

// An output of one text, without an index: as an OutputFile writes it.
void write_whole_output(const std::string& path, std::string_view text);

// A folder for outputs that is made where it is missing, and goes away again where nothing came of it.
class NewFolder {
 public:
  // Makes the folder unless there is one. WriteError where that is impossible: the folder above it is missing
  // or cannot be written to, or a file has the name.
  explicit NewFolder(const std::string& path);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  // Removes the folder where it was made here and is empty. So does a signal that ends the program.
  ~NewFolder();

 private:
  std::string made_;  // empty: it was there before
  TemporaryName registered_;
};

// How the positions of a .csi index are binned.
struct CsiShape {
  int min_shift = 14;  // smallest bins of 2^min_shift bases
  int levels = 6;      // each with bins eight times as wide as the one below
  // Bases that it reaches to.
  std::int64_t reach() const { return std::int64_t{1} << (min_shift + 3 * levels); }
};

// Bins of 16 kb as in .tbi, or as small as six levels over the longest chromosome (bases, at most 2^62)
// allow.
CsiShape csi_shape_for(std::int64_t longest_chromosome);

// Indexes a BGZF file whose lines have chromosome, begin and end in their first columns, sorted by position;
// lines with # do not count. False, with errno where the system said why: the file cannot be read, is not
// sorted or the index cannot be written. A .tbi index reaches to 2^29 bases, a .csi index as far as its
// shape.
bool build_tbi(const std::string& data, const std::string& index);
bool build_csi(const std::string& data, const std::string& index, const CsiShape& shape);

// Outputs that belong together: all of them are there, or none.
class OutputGroup {
 public:
  // Valid as long as the group.
  OutputFile& open(const std::string& path) {
    return files_.emplace_back(OutputSpec{path, IndexKind::kNone});
  }
  void write(const std::string& path, std::string_view text) { open(path).write(text); }
  // Finishes all before the first has its name. WriteError: none has.
  void commit() {
    for (OutputFile& file : files_) file.finish();
    for (OutputFile& file : files_) file.commit();
  }

 private:
  std::deque<OutputFile> files_;
};

}  // namespace semicrf
