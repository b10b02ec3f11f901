// Reads bigBed files from beginning to end: memory-mapped, either byte order, compressed or not.
//
// As for bigWig (bigwig_reader.h) nothing in the file is believed. Structural damage is an InputError with
// the byte offset, an interval that cannot be (inverted, past its chromosome's end) one with
// chrom:position. Intervals may overlap, and may have no base.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/bigwig/bigwig_reader.h"

namespace semicrf {

struct BigBedInterval {
  std::size_t chrom = 0;            // index into chromosomes()
  std::int64_t begin = 0, end = 0;  // bases, half-open; equal for points
  std::string_view rest;            // columns 4 and later, separated by tabs; until the next call
};

class BigBedFile {
 public:
  // ReadError: cannot be opened. InputError: not a bigBed file, or damaged.
  explicit BigBedFile(const std::string& path);
  ~BigBedFile();
  BigBedFile(BigBedFile&&) noexcept;

  const std::vector<Chromosome>& chromosomes() const;  // in the order of the file's ids
  int zoom_levels() const;
  const std::string& path() const;
  // The next interval: chromosome by chromosome in the order of chromosomes(), as they are in the file. False
  // at the end.
  bool next(BigBedInterval& interval);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace semicrf
