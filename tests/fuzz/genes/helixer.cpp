// Helixer's pair of files: sound HDF5 whose shapes, coordinates and names are what the input says. What
// libhdf5 makes of damaged bytes is its own affair (docs/testing.md).
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "genes/tracks/track_file.h"

#ifdef SEMICRF_HDF5
#include <hdf5.h>

namespace semicrf::fuzz {
namespace {

// Numbers of the input one by one; 0 behind its end.
class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint8_t next() {
    if (at_ == bytes_.size()) return 0;
    return bytes_[at_++];
  }
  hsize_t size() { return next() % 8; }
  // Mostly small; sometimes anything.
  std::int64_t coordinate() {
    const std::uint8_t first = next();
    if (first < 250) return first % 32;
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | next();
    return static_cast<std::int64_t>(value);
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

void put(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& shape, const void* values) {
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (values != nullptr) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(set), H5Sclose(space);
}

void put_floats(hid_t file, const char* name, Numbers& numbers) {
  const std::uint8_t kind = numbers.next();
  if (kind == 255) return;  // missing
  std::vector<hsize_t> shape{numbers.size(), numbers.size() + 1, 4};
  if (kind % 16 == 15) shape[2] = numbers.size();
  if (kind % 16 == 14) shape.pop_back();
  std::size_t count = 1;
  for (const hsize_t size : shape) count *= size;
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(numbers.next()) / 255;
  put(file, name, kind % 4 == 3 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, shape,
      kind % 4 == 3 ? nullptr : values.data());
}

void put_input(hid_t file, Numbers& numbers) {
  H5Gclose(H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const hsize_t count = numbers.size(), wide = numbers.next() % 16 == 15 ? 3 : 2;
  std::vector<std::int64_t> ends(count * wide);
  for (std::int64_t& end : ends) end = numbers.coordinate();
  put(file, "data/start_ends", H5T_NATIVE_INT64, {count, wide}, ends.data());
  const std::uint8_t kind = numbers.next();
  const hsize_t names = kind % 16 == 15 ? count + 1 : count;
  if (kind % 16 == 14) {
    put(file, "data/seqids", H5T_NATIVE_INT64, {names}, nullptr);
    return;
  }
  const hid_t type = H5Tcopy(H5T_C_S1);
  const std::size_t width = kind % 16 == 13 ? H5T_VARIABLE : 1 + kind % 3;
  H5Tset_size(type, width);
  std::vector<char> text(width == H5T_VARIABLE ? 0 : names * width);
  for (char& letter : text) {
    const std::uint8_t one = numbers.next();
    letter = one < 240 ? 'a' : static_cast<char>(one);
  }
  put(file, "data/seqids", type, {names}, text.empty() ? nullptr : text.data());
  H5Tclose(type);
}

std::string in_memory(const char* name) {
  return std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/semicrf-fuzz-" +
         std::to_string(::getpid()) + name;
}

void read(const std::string& predictions, const std::string& input, std::int64_t length) {
  const auto file = open_helixer_tracks(predictions, input);
  require(file->count() == file->names().size(), "tracks have names");
  const auto values = file->open("a", length);
  const auto size = static_cast<std::size_t>(length) * file->count();
  std::vector<float> whole(size), parts(size);
  for (const char strand : {'+', '-'}) {
    values->read(strand, 0, length, whole.data());
    for (std::int64_t at = 0; at < length; at += 3)
      values->read(strand, at, std::min(length, at + 3),
                   parts.data() + at * static_cast<std::int64_t>(file->count()));
    require(std::memcmp(whole.data(), parts.data(), size * sizeof(float)) == 0,
            "windows do not change the values");
  }
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  static const std::string predictions = in_memory("-p.h5"), input = in_memory("-i.h5");
  static const int at_end = std::atexit([] {
    std::error_code ignored;
    for (const std::string& path : {predictions, input}) std::filesystem::remove(path, ignored);
  });
  require(at_end == 0, "no room to clean up");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Numbers numbers(bytes);
  const std::int64_t length = numbers.next() % 32;
  hid_t file = H5Fcreate(predictions.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_floats(file, "predictions", numbers);
  put_floats(file, "predictions_phase", numbers);
  H5Fclose(file);
  file = H5Fcreate(input.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_input(file, numbers);
  H5Fclose(file);
  allow_refusal([&] { read(predictions, input, length); });
}

}  // namespace semicrf::fuzz

#else

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t>) {
  allow_refusal([] { open_helixer_tracks("predictions.h5", "input.h5"); });
}

}  // namespace semicrf::fuzz

#endif
