// A NumPy array file (header version 1) written row by row, its shape known beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/files/output_file.h"

namespace semicrf {

struct NpyShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;  // 0: one-dimensional, shape (rows,); else (rows, columns), C order
  bool float64 = false;      // element type float32 or float64, byte order of this machine
};

// A whole file in memory, little-endian or big-endian as this machine; as many values as the shape has
// (std::logic_error otherwise).
std::string npy_bytes(const NpyShape& shape, std::span<const double> values);

// Writes to an OutputFile that the caller commits.
class NpyWriter {
 public:
  // Writes the header.
  NpyWriter(OutputFile& output, NpyShape shape);
  // The next elements in row-major order; any number at a time.
  void append(std::span<const double> values);
  // Checks that exactly the elements of the shape were appended (std::logic_error otherwise).
  void finish();

 private:
  OutputFile& output_;
  bool float64_;
  std::int64_t missing_elements_;
};

}  // namespace semicrf
