// A file that exists as long as the object does; in memory where the system has such a folder, for the tests
// that write thousands.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

namespace semicrf::test {

class ScratchFile {
 public:
  explicit ScratchFile(std::span<const std::uint8_t> bytes = {}) {
    const bool has_memory_folder = ::access("/dev/shm", W_OK) == 0;
    const auto folder =
        has_memory_folder ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    path_ = (folder / "semicrf-test-XXXXXX").string();
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error("no scratch file");
    ::close(descriptor);
    write(bytes);
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }
  void write(std::span<const std::uint8_t> bytes) const {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write a scratch file");
  }

 private:
  std::string path_;
};

}  // namespace semicrf::test
