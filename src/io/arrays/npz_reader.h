// Reads NumPy .npz archives: a zip file with one .npy array per member, stored or deflated, zip64 or not.
// Central directory and local headers must agree, members must not overlap, and every CRC-32 is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/arrays/npy_reader.h"

namespace semicrf {

struct NpzMember {
  std::string name;  // without ".npy"; unique, not empty, no control characters
  bool deflated = false;
  std::uint64_t data_offset = 0;  // place of the member's (compressed) bytes in the archive
  std::uint64_t stored_bytes = 0;
  std::uint64_t array_bytes = 0;  // bytes of the .npy file inside
  std::uint32_t crc32 = 0;
};

class NpzFile {
 public:
  static constexpr std::uint64_t kDefaultMemoryLimit = std::uint64_t{8} << 30;

  // Reads the directory only. ReadError: cannot be opened. InputError: not a zip archive, damaged, encrypted,
  // another compression, a member that is not .npy, no members, or a size no deflate stream can have.
  static NpzFile open(const std::string& path);

  const std::string& path() const;
  const std::vector<NpzMember>& members() const { return members_; }  // in the directory's order

  // The array of members()[index]. A stored member is used in place; a deflated one is unpacked to memory
  // that lives as long as the array (MemoryError when it would take more than `memory_limit` bytes).
  NpyArray load(std::size_t index, std::uint64_t memory_limit = kDefaultMemoryLimit) const;
  // As load(), but nothing where the member holds no numbers (NotNumbers).
  std::optional<NpyArray> load_numbers(std::size_t index) const;

 private:
  NpzFile() = default;

  std::shared_ptr<const class MappedFile> file_;
  std::vector<NpzMember> members_;
};

}  // namespace semicrf
