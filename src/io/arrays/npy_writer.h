// A NumPy array file (header version 1) written row by row, its shape known beforehand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

// A NumPy .npz archive: a zip file of arrays, stored without compression and without times, so that the same
// arrays give the same bytes.
// Writes to an OutputFile that the caller commits.
class NpzWriter {
 public:
  static constexpr std::uint64_t kMostMembers = 65535;  // that the format allows
  explicit NpzWriter(OutputFile& output) : output_(output) {}
  // The array NAME.npy; as many values as the shape has (std::logic_error otherwise).
  void add(const std::string& name, const NpyShape& shape, std::span<const double> values);
  // The directory of the archive. WriteError where it is larger than the zip format can say (4 GiB).
  void finish();

 private:
  struct Member {
    std::string name;  // with ".npy"
    std::uint32_t crc32 = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
  };
  void write(const std::string& bytes);

  OutputFile& output_;
  std::uint64_t written_ = 0;
  std::vector<Member> members_;
};

}  // namespace semicrf
