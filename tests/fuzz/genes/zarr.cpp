// An array of a Zarr store: its metadata, and after the first zero byte the file of each of its chunks.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "io/arrays/zarr_array.h"

namespace semicrf::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRows = 64, kColumns = 64;  // read of each array, so that a run stays short
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// A folder with both metadata files, and under the names of the first chunks one file.
const fs::path& store() {
  static const fs::path folder = [] {
    const fs::path made = fs::path(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") /
                          ("semicrf-fuzz-zarr-" + std::to_string(::getpid()));
    for (const char* version : {"2", "3"})
      for (const char* inner : {"c/0", "0"}) fs::create_directories(made / version / inner);
    for (const char* version : {"2", "3"})
      for (const char* chunk : {"0.0", "1.0", "c.0.0", "c.0", "c/0/0", "0/0"})
        fs::create_symlink(made / "chunk", made / version / chunk);
    std::atexit([] {
      std::error_code ignored;
      fs::remove_all(store(), ignored);
    });
    return made;
  }();
  return folder;
}

void write(const fs::path& path, std::span<const std::uint8_t> bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  require(static_cast<bool>(out.flush()), "the store could not be written");
}

// Rows and columns that are few, else nothing.
void read_rows(const ZarrArray& array) {
  const std::int64_t rows = std::min(kRows, array.rows()), columns = array.columns();
  if (columns > kColumns || rows == 0 || columns == 0) return;
  std::vector<float> whole(static_cast<std::size_t>(rows * columns)), parts(whole.size());
  array.read_rows(0, rows, whole.data());
  const std::int64_t cut = rows / 3;
  array.read_rows(cut, rows, parts.data() + cut * columns);
  array.read_rows(0, cut, parts.data());
  require(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(float)) == 0,
          "windows do not change the rows");
}

void read_array(const std::string& folder) {
  allow_refusal([&] {
    if (zarr_node(folder) != ZarrNode::kArray) return;
    const ZarrArray array(folder);
    const ZarrLayout& layout = array.layout();
    require(layout.shape.size() == layout.chunk.size() && layout.chunk_bytes() > 0, "a layout is whole");
    // A folder lies where a chunk of one dimension would be.
    if (layout.chunk_bytes() > kChunkBytes || layout.shape.size() == 1) return;
    if (layout.kind == ZarrLayout::Kind::kFloat) allow_refusal([&] { read_rows(array); });
  });
  allow_refusal([&] { zarr_attribute(folder, "strand"); });
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  const auto zero = std::find(bytes.begin(), bytes.end(), 0);
  const auto metadata = bytes.first(static_cast<std::size_t>(zero - bytes.begin()));
  const auto chunk = zero == bytes.end() ? bytes.last(0) : bytes.subspan(metadata.size() + 1);
  write(store() / "chunk", chunk);
  write(store() / "2" / ".zarray", metadata);
  write(store() / "3" / "zarr.json", metadata);
  for (const char* version : {"2", "3"}) read_array((store() / version).string());
}

}  // namespace semicrf::fuzz
