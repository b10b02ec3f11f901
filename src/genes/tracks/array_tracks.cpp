#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "genes/tracks/track_file.h"
#include "io/arrays/npz_reader.h"

namespace semicrf {
namespace {

class ArrayValues : public TrackValues {
 public:
  ArrayValues(NpyArray plus, NpyArray minus) : plus_(std::move(plus)), minus_(std::move(minus)) {}
  void read(char strand, std::int64_t begin, std::int64_t end, float* values) const override {
    (strand == '+' ? plus_ : minus_).pass_rows(begin, end, values);
  }

 private:
  NpyArray plus_, minus_;
};

class ArrayTracks : public TrackFile {
 public:
  explicit ArrayTracks(const std::string& path) : archive_(NpzFile::open(path)) {
    for (std::size_t i = 0; i < archive_.members().size(); ++i) {
      const std::string& name = archive_.members()[i].name;
      if (name.ends_with('+') || name.ends_with('-')) members_[name] = i;
    }
    if (members_.empty())
      throw InputError({path, "", "no array has a name that ends with the strand, + or -",
                        "name the arrays of sequence NAME \"NAME+\" and \"NAME-\""});
    tracks_ = archive_.load(members_.begin()->second).columns();
  }

  std::shared_ptr<const TrackValues> open(const std::string& sequence, std::int64_t length) const override {
    NpyArray plus = load(sequence + "+", length);
    return std::make_shared<ArrayValues>(std::move(plus), load(sequence + "-", length));
  }
  std::size_t count() const override { return tracks_; }
  std::string path() const override { return archive_.path(); }

 private:
  NpyArray load(const std::string& name, std::int64_t length) const {
    const auto found = members_.find(name);
    if (found == members_.end())
      throw InputError({path(), "", "no array " + name + " in it", "every sequence needs one per strand"});
    NpyArray array = archive_.load(found->second);
    if (array.rows() != length || static_cast<std::size_t>(array.columns()) != tracks_)
      throw InputError({path(), name,
                        fmt::format("shape ({}, {}) where the sequence and the other arrays have ({}, {})",
                                    array.rows(), array.columns(), length, tracks_),
                        "give a row per base and a column per track"});
    return array;
  }

  NpzFile archive_;
  std::unordered_map<std::string, std::size_t> members_;
  std::size_t tracks_ = 0;
};

}  // namespace

std::unique_ptr<TrackFile> open_array_tracks(const std::string& path) {
  return std::make_unique<ArrayTracks>(path);
}

}  // namespace semicrf
