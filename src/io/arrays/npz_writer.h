// A NumPy .npz archive: a zip file of arrays, stored without compression and without times, so that the same
// arrays give the same bytes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/arrays/npy_writer.h"

namespace semicrf {

// Writes to an OutputFile that the caller commits.
class NpzWriter {
 public:
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
