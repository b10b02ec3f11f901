// MappedFile for the fuzz programs: the bytes lie in a heap block of exactly their size, so that the address
// sanitizer sees a read one byte past the end, which a mapping rounded up to pages would hide.
#include <sys/types.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz_input.h"
#include "io/files/mapped_file.h"

namespace semicrf {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  fuzz::require(file != nullptr && std::fseek(file, 0, SEEK_END) == 0, "the input cannot be opened");
  size_ = static_cast<std::size_t>(std::ftell(file));
  std::rewind(file);
  void* data = nullptr;
  if (size_ > 0) {
    fuzz::require(posix_memalign(&data, 4096, size_) == 0 && std::fread(data, 1, size_, file) == size_,
                  "the input cannot be read");
  }
  data_ = static_cast<const std::uint8_t*>(data);
  std::fclose(file);
}

MappedFile::~MappedFile() { close(); }

void MappedFile::close() noexcept {
  std::free(const_cast<std::uint8_t*>(data_));
  data_ = nullptr;
  size_ = 0;
  descriptor_ = -1;  // as it was: there is no file behind the bytes
}

void MappedFile::let_go(std::span<const std::uint8_t>) const {}
void MappedFile::require_unchanged() const {}

}  // namespace semicrf
