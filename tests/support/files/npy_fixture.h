// Writes .npy and .npz files byte by byte, right or wrong as asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/files/byte_writer.h"

namespace semicrf::test {

// Magic, version, length, `dictionary` (padded to 64 bytes as NumPy does), then `data`.
ByteVector npy_bytes(const std::string& dictionary, const ByteVector& data, int version = 1);

// {'descr': ..., 'fortran_order': ..., 'shape': ..., }
std::string npy_dictionary(const std::string& descr, bool fortran_order, const std::string& shape);

struct NpyLayout {
  int bytes = 4;  // per number: 4 or 8
  bool big_endian = false;
  bool fortran_order = false;
  int version = 1;
};

// (rows, columns) row-major `values` stored with that layout.
ByteVector npy_array(const std::vector<double>& values, std::size_t rows, std::size_t columns,
                     const NpyLayout& layout = {});

struct ZipMember {
  std::string name;
  ByteVector content;
  bool deflate = false;
  bool zip64 = false;         // sizes in the zip64 field
  bool sizes_follow = false;  // none in the local header, as when written to a pipe
};

struct ZipLayout {
  std::vector<std::size_t> local_headers;
  std::vector<std::size_t> entries;
  std::size_t end_record = 0;
};

ByteVector zip_bytes(const std::vector<ZipMember>& members, ZipLayout* layout = nullptr);

}  // namespace semicrf::test
