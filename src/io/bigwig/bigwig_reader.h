// Reads bigWig files: memory-mapped, libdeflate, either byte order, compressed or not, all three section
// types.
//
// Nothing in the file is believed: every offset, size and count is checked before it is followed, and no
// allocation depends on an unchecked number. Structural damage is an InputError with the byte offset; a value
// that cannot be (an infinity, an interval that is empty, inverted, overlaps its neighbour or runs past its
// chromosome) is one with chrom:position (1-based). A NaN counts as no value. The boxes of the index's inner
// nodes are not used, so data written in another chromosome order than the header's is found too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/text/chromosomes.h"

namespace semicrf {

// The writer's own figures over the whole file, as stored (not recomputed).
struct BigWigSummary {
  std::uint64_t bases_covered = 0;
  double minimum = 0;
  double maximum = 0;
  double sum = 0;
  double sum_of_squares = 0;
};

struct BigWigInterval {
  std::int64_t begin = 0;  // bases, 0-based half-open
  std::int64_t end = 0;
  float value = 0;  // finite

  friend bool operator==(const BigWigInterval&, const BigWigInterval&) = default;
};

// The largest width of which all edges of values in the blocks looked at are multiples; a value may also end
// with its chromosome. A finer edge elsewhere in the file is not seen.
struct BigWigStep {
  std::int64_t bases = 0;      // 0: no edge was seen
  std::uint64_t sections = 0;  // data blocks that were read
};

// Per bin: sum over the bases with a value of that value, and how many bases have one (0..bin size). Mean
// over the bases with a value = sum / covered; with 0 for the others = sum / bases of the bin. Both spans
// have one entry per bin.
struct BinSums {
  std::span<double> sum;
  std::span<std::uint32_t> covered;
};

// One object serves one caller at a time; it reads with several threads itself when asked to. Movable.
class BigWigFile {
 public:
  // Reads the header, the chromosome list and the whole index (not the data).
  // ReadError: cannot be opened. InputError: not a bigWig, or damaged.
  static BigWigFile open(const std::string& path) { return open(path, path); }
  // `name`: what path() and messages call it.
  static BigWigFile open(const std::string& path, const std::string& name);
  ~BigWigFile();
  BigWigFile(BigWigFile&&) noexcept;
  BigWigFile& operator=(BigWigFile&&) noexcept;

  const std::string& path() const;
  std::size_t bytes() const;  // size of the file
  // In the order of the file's chromosome ids. `chrom` below is an index into this vector. Names are not
  // empty, have no control characters and are unique in the file; lengths are 1..2^32-1 bases.
  const std::vector<Chromosome>& chromosomes() const;
  std::optional<std::size_t> find_chromosome(std::string_view name) const;
  // Whether the index lists any data for the chromosome (they could still all be NaN). Costs nothing.
  bool has_values(std::size_t chrom) const;
  std::uint64_t block_count() const;  // data blocks of all chromosomes
  // The step of a bounded number of blocks spread over the file.
  BigWigStep sampled_step() const;
  int version() const;
  int zoom_levels() const;
  bool compressed() const;
  bool big_endian() const;
  const std::optional<BigWigSummary>& summary() const;

  // Calls `visit` with the intervals that meet bases [begin, end), clipped to it, in ascending order, some at
  // a time (never an empty span). 0 <= begin <= end <= length.
  using IntervalVisitor = std::function<void(std::span<const BigWigInterval>)>;
  void read(std::size_t chrom, std::int64_t begin, std::int64_t end, const IntervalVisitor& visit);

  // What was read of the file need not stay in memory: it is read again where it is wanted again.
  void let_go() const;

  // Fills `out` for bins first_bin, first_bin + 1, ...; bin i covers bases [i * bin_size, (i + 1) * bin_size)
  // and the last one ends with the chromosome. All bins must begin inside the chromosome. bin_size >= 1,
  // threads >= 1. The result is the same for every number of threads and every division into windows.
  void bin_sums(std::size_t chrom, std::int64_t first_bin, std::int64_t bin_size, BinSums out,
                int threads = 1);

 private:
  struct State;
  explicit BigWigFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace semicrf
