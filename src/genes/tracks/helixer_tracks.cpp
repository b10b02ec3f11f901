#include <fmt/format.h>

#include "core/error.h"
#include "genes/tracks/track_file.h"

#ifdef SEMICRF_HDF5
#include <hdf5.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "core/text/names.h"
#include "io/arrays/half.h"
#include "io/files/byte_view.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

constexpr hsize_t kMostChunks = hsize_t{1} << 24;
constexpr hsize_t kMostRows = hsize_t{1} << 28;
constexpr std::size_t kMostName = 4096;  // bytes of a sequence's name in the file
constexpr std::size_t kClasses = 4;      // in `predictions`, and in `predictions_phase`

// The library is called by one thread at a time: not every build of it is safe for threads.
std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

// An identifier of the library, closed with what it names.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  bool valid() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

class DataSet {
 public:
  // InputError: there is none of that name, or it has another number of dimensions.
  DataSet(const Handle& file, std::string path, const char* name, std::size_t dimensions)
      : path_(std::move(path)), name_(name), id_(H5Dopen2(file.get(), name, H5P_DEFAULT), H5Dclose) {
    if (!id_.valid()) fail("not in the file", "give the two files of Helixer, predictions first");
    const Handle space(H5Dget_space(id_.get()), H5Sclose);
    const int rank = space.valid() ? H5Sget_simple_extent_ndims(space.get()) : -1;
    if (rank != static_cast<int>(dimensions))
      fail(fmt::format("{} dimensions where there should be {}", rank, dimensions));
    shape_.resize(dimensions);
    H5Sget_simple_extent_dims(space.get(), shape_.data(), nullptr);
    is_half_ = holds_halves();
  }

  const std::vector<hsize_t>& shape() const { return shape_; }
  hid_t id() const { return id_.get(); }

  // The values from `first` on, `count` in each dimension, as `type`.
  void read(hid_t type, const std::vector<hsize_t>& first, const std::vector<hsize_t>& count,
            void* out) const {
    const Handle space(H5Dget_space(id_.get()), H5Sclose);
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    if (!space.valid() || !memory.valid() ||
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dread(id_.get(), type, memory.get(), space.get(), H5P_DEFAULT, out) < 0)
      fail("cannot be read: the file is damaged, or holds something else");
  }

  // Reads the values as float. The library converts the 16-bit floats that Helixer writes bit by bit, which
  // is slow.
  void read_floats(const std::vector<hsize_t>& first, const std::vector<hsize_t>& count,
                   std::vector<float>& values) const {
    if (!is_half_) return read(H5T_NATIVE_FLOAT, first, count, values.data());
    const Handle type(H5Dget_type(id_.get()), H5Tclose);
    std::vector<std::uint8_t> halves(2 * values.size());
    read(type.get(), first, count, halves.data());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(load_number<Half, false>(halves.data() + 2 * i));
  }

  [[noreturn]] void fail(const std::string& what, const std::string& advice = "") const {
    throw InputError({path_, name_, what, advice});
  }

 private:
  // Whether the values are little-endian 16-bit floats of IEEE 754.
  bool holds_halves() const {
    const Handle wanted(H5Tcopy(H5T_IEEE_F32LE), H5Tclose), type(H5Dget_type(id_.get()), H5Tclose);
    // Sign at bit 15, five bits of exponent from bit 10 on, ten of fraction.
    return wanted.valid() && type.valid() && H5Tset_fields(wanted.get(), 15, 10, 5, 0, 10) >= 0 &&
           H5Tset_size(wanted.get(), 2) >= 0 && H5Tset_ebias(wanted.get(), 15) >= 0 &&
           H5Tequal(type.get(), wanted.get()) > 0;
  }

  std::string path_, name_;
  Handle id_;
  std::vector<hsize_t> shape_;
  bool is_half_ = false;
};

// Rows [0, end - begin) of a chunk are bases [begin, end), the last base first on the strand '-'.
struct Chunk {
  std::int64_t begin = 0, end = 0;
  hsize_t index = 0;
};

Handle open_file(const std::string& path) {
  const MappedFile exists(path);  // its errors say why a file cannot be opened
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) throw InputError({path, "", "not a sound HDF5 file", "give what Helixer wrote"});
  return file;
}

// The network's file, and where the chunks of each sequence lie.
class Predictions {
 public:
  Predictions(const std::string& path, const std::string& input)
      : path_(path), input_(input), file_(open_file(path)), classes_(file_, path, "predictions", 3) {
    check_shape(classes_);
    if (H5Lexists(file_.get(), "predictions_phase", H5P_DEFAULT) > 0) {
      phases_.emplace(file_, path, "predictions_phase", 3);
      check_shape(*phases_);
      if (phases_->shape() != classes_.shape()) phases_->fail("another shape than predictions");
    }
    read_chunks();
  }

  const std::string& path() const { return path_; }
  std::size_t tracks() const { return phases_ ? 2 * kClasses : kClasses; }
  // The chunks of a strand, ascending, from 0 to `length` without gaps.
  std::vector<Chunk> chunks(const std::string& sequence, char strand, std::int64_t length) const {
    const auto found = chunks_.find({sequence, strand});
    if (found == chunks_.end())
      throw InputError({input_, "data/seqids", "no sequence " + sequence + " on strand " + strand,
                        "names of sequences must be the same in all files"});
    std::int64_t reached = 0;
    for (const Chunk& chunk : found->second) {
      if (chunk.begin != reached) break;
      reached = chunk.end;
    }
    if (reached != length || found->second.back().end != length)
      throw InputError({input_, "data/start_ends",
                        fmt::format("the chunks of sequence {}, strand {}, hold bases 0 to {} of {}",
                                    sequence, strand, reached, length),
                        "give the sequences that the network was asked about"});
    return found->second;
  }
  // Rows [first, first + count) of a chunk, `tracks()` numbers each.
  void read(hsize_t chunk, hsize_t first, hsize_t count, float* out) const {
    const std::lock_guard lock(library_mutex());
    std::vector<float> values(count * kClasses);
    for (const DataSet* set : {&classes_, phases_ ? &*phases_ : nullptr}) {
      if (set == nullptr) continue;
      set->read_floats({chunk, first, 0}, {1, count, kClasses}, values);
      for (hsize_t i = 0; i < count; ++i)
        std::copy_n(values.data() + i * kClasses, kClasses,
                    out + i * tracks() + (set == &classes_ ? 0 : kClasses));
    }
  }

 private:
  static void check_shape(const DataSet& set) {
    const std::vector<hsize_t>& shape = set.shape();
    if (shape[0] == 0 || shape[0] > kMostChunks || shape[1] == 0 || shape[1] > kMostRows ||
        shape[2] != kClasses)
      set.fail(fmt::format("shape ({}, {}, {}) where there should be (chunks, bases, 4)", shape[0], shape[1],
                           shape[2]));
  }

  void read_chunks() {
    const Handle input = open_file(input_);
    const DataSet ends(input, input_, "data/start_ends", 2), names(input, input_, "data/seqids", 1);
    const hsize_t count = classes_.shape()[0];
    if (ends.shape()[0] != count || ends.shape()[1] != 2 || names.shape()[0] != count)
      ends.fail(fmt::format("not a pair for each of the {} chunks of {}", count, path_),
                "the two files must be of one run");
    std::vector<std::int64_t> pairs(count * 2);
    ends.read(H5T_NATIVE_INT64, {0, 0}, {count, 2}, pairs.data());
    const std::vector<std::string> sequences = read_names(names, count);
    for (hsize_t i = 0; i < count; ++i) {
      const std::int64_t from = pairs[2 * i], to = pairs[2 * i + 1];
      const char strand = from < to ? '+' : '-';
      const Chunk chunk{std::min(from, to), std::max(from, to), i};
      if (from == to || chunk.begin < 0 ||
          chunk.end - chunk.begin > static_cast<std::int64_t>(classes_.shape()[1]))
        ends.fail(fmt::format("row {} is {} to {}, which no chunk of {} bases can hold", i, from, to,
                              classes_.shape()[1]));
      chunks_[{sequences[i], strand}].push_back(chunk);
    }
    for (auto& [key, list] : chunks_)
      std::sort(list.begin(), list.end(), [](const Chunk& a, const Chunk& b) { return a.begin < b.begin; });
  }

  static std::vector<std::string> read_names(const DataSet& set, hsize_t count) {
    const Handle type(H5Dget_type(set.id()), H5Tclose);
    if (!type.valid() || H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0)
      set.fail("not strings of a fixed length");
    const std::size_t width = H5Tget_size(type.get());
    if (width == 0 || width > kMostName) set.fail(fmt::format("strings of {} bytes", width));
    std::vector<char> text(count * width);
    set.read(type.get(), {0}, {count}, text.data());
    std::vector<std::string> names;
    for (hsize_t i = 0; i < count; ++i) {
      std::string name(text.data() + i * width, width);
      name.resize(std::min(name.find('\0'), name.size()));
      if (const std::string problem = name_problem(name); !problem.empty())
        set.fail(fmt::format("name {}: {}", i, problem));
      names.push_back(std::move(name));
    }
    return names;
  }

  std::string path_, input_;
  Handle file_;
  DataSet classes_;
  std::optional<DataSet> phases_;
  std::map<std::pair<std::string, char>, std::vector<Chunk>> chunks_;
};

class HelixerValues : public TrackValues {
 public:
  HelixerValues(std::shared_ptr<const Predictions> predictions, const std::string& sequence,
                std::int64_t length)
      : predictions_(std::move(predictions)),
        plus_(predictions_->chunks(sequence, '+', length)),
        minus_(predictions_->chunks(sequence, '-', length)) {}

  void read(char strand, std::int64_t begin, std::int64_t end, float* values) const override {
    const std::size_t tracks = predictions_->tracks();
    const std::vector<Chunk>& chunks = strand == '+' ? plus_ : minus_;
    auto chunk = std::upper_bound(chunks.begin(), chunks.end(), begin,
                                  [](std::int64_t at, const Chunk& one) { return at < one.end; });
    for (; chunk != chunks.end() && chunk->begin < end; ++chunk) {
      const std::int64_t from = std::max(begin, chunk->begin), to = std::min(end, chunk->end);
      const hsize_t count = to - from;
      float* out = values + (from - begin) * tracks;
      const std::int64_t row = strand == '+' ? from - chunk->begin : chunk->end - to;
      predictions_->read(chunk->index, row, count, out);
      if (strand == '-')
        for (std::size_t i = 0; i < count / 2; ++i)
          std::swap_ranges(out + i * tracks, out + (i + 1) * tracks, out + (count - 1 - i) * tracks);
    }
  }

 private:
  std::shared_ptr<const Predictions> predictions_;
  std::vector<Chunk> plus_, minus_;
};

class HelixerTracks : public TrackFile {
 public:
  HelixerTracks(const std::string& predictions, const std::string& input) {
    const std::lock_guard lock(library_mutex());
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are told by this program
    predictions_ = std::make_shared<const Predictions>(predictions, input);
  }
  std::shared_ptr<const TrackValues> open(const std::string& sequence, std::int64_t length) const override {
    return std::make_shared<HelixerValues>(predictions_, sequence, length);
  }
  std::size_t count() const override { return predictions_->tracks(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names{"intergenic", "utr", "cds", "intron"};
    if (count() > kClasses) names.insert(names.end(), {"phase_none", "phase_0", "phase_1", "phase_2"});
    return names;
  }
  std::string path() const override { return predictions_->path(); }

 private:
  std::shared_ptr<const Predictions> predictions_;
};

}  // namespace

std::unique_ptr<TrackFile> open_helixer_tracks(const std::string& predictions, const std::string& input) {
  return std::make_unique<HelixerTracks>(predictions, input);
}

}  // namespace semicrf

#else

namespace semicrf {

std::unique_ptr<TrackFile> open_helixer_tracks(const std::string& predictions, const std::string&) {
  throw InputError({predictions, "", "this program was built without HDF5",
                    "install libhdf5 and build again, or give the predictions as NPZ"});
}

}  // namespace semicrf

#endif
