// bigWig files through libBigWig: a second opinion in tests, the peer in benchmarks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/bigwig/bigwig_reader.h"

namespace semicrf::test {

class LibBigWigFile {
 public:
  explicit LibBigWigFile(const std::string& path);
  ~LibBigWigFile();

  std::vector<Chromosome> chromosomes() const;
  // NaN values included.
  std::vector<BigWigInterval> intervals(const std::string& chrom, std::int64_t begin, std::int64_t end) const;
  // Means over the bases with a value of the bins from `first_bin`, NaN for a bin without one. `chrom` has
  // `length` bases.
  void bin_means(const std::string& chrom, std::int64_t length, std::int64_t first_bin, std::int64_t bin_size,
                 std::span<float> means) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

// bigBed files through libBigWig.
class LibBigBedFile {
 public:
  explicit LibBigBedFile(const std::string& path);
  ~LibBigBedFile();

  struct Entry {
    std::int64_t begin = 0, end = 0;
    std::string rest;

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries(const std::string& chrom, std::int64_t begin, std::int64_t end) const;
  std::string description() const;  // autoSql

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace semicrf::test
