#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/error.h"
#include "genes/tracks/track_file.h"
#include "io/bigwig/bigwig_reader.h"

namespace semicrf {
namespace {

// A file that several threads read one after the other.
struct SharedBigWig {
  explicit SharedBigWig(const std::string& path) : file(BigWigFile::open(path)) {}
  BigWigFile file;
  std::mutex mutex;
};

struct OpenTrack {
  std::string name;
  std::shared_ptr<SharedBigWig> plus, minus;
};

class BigWigValues : public TrackValues {
 public:
  BigWigValues(std::vector<OpenTrack> tracks, const std::string& sequence, std::int64_t length)
      : tracks_(std::move(tracks)) {
    for (const OpenTrack& track : tracks_) {
      plus_.push_back(chromosome(*track.plus, sequence, length));
      minus_.push_back(chromosome(*track.minus, sequence, length));
    }
  }

  void read(char strand, std::int64_t begin, std::int64_t end, float* values) const override {
    std::fill_n(values, (end - begin) * tracks_.size(), 0.0F);
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      SharedBigWig& shared = strand == '+' ? *tracks_[i].plus : *tracks_[i].minus;
      const std::lock_guard lock(shared.mutex);
      shared.file.read((strand == '+' ? plus_ : minus_)[i], begin, end,
                       [&](std::span<const BigWigInterval> intervals) {
                         for (const BigWigInterval& one : intervals)
                           for (std::int64_t t = one.begin; t < one.end; ++t)
                             values[(t - begin) * tracks_.size() + i] = one.value;
                       });
      shared.file.let_go();
    }
  }

 private:
  static std::size_t chromosome(const SharedBigWig& shared, const std::string& sequence,
                                std::int64_t length) {
    const auto found = shared.file.find_chromosome(sequence);
    if (!found)
      throw InputError({shared.file.path(), "", "no chromosome " + sequence + " in it",
                        "names of sequences must be the same in all files"});
    const std::int64_t bases = shared.file.chromosomes()[*found].length;
    if (bases != length)
      throw InputError({shared.file.path(), sequence,
                        fmt::format("{} bases long, but {} in the sequences", bases, length),
                        "give the sequence that the track was made of"});
    return *found;
  }

  std::vector<OpenTrack> tracks_;
  std::vector<std::size_t> plus_, minus_;  // chromosomes
};

class BigWigTracks : public TrackFile {
 public:
  explicit BigWigTracks(const std::vector<BigWigTrack>& tracks) {
    for (const BigWigTrack& one : tracks) {
      const auto plus = std::make_shared<SharedBigWig>(one.plus);
      tracks_.push_back(
          {one.name, plus, one.minus == one.plus ? plus : std::make_shared<SharedBigWig>(one.minus)});
    }
  }

  std::shared_ptr<const TrackValues> open(const std::string& sequence, std::int64_t length) const override {
    return std::make_shared<BigWigValues>(tracks_, sequence, length);
  }
  std::size_t count() const override { return tracks_.size(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const OpenTrack& one : tracks_) names.push_back(one.name);
    return names;
  }
  std::string path() const override { return tracks_.front().plus->file.path(); }

 private:
  std::vector<OpenTrack> tracks_;
};

}  // namespace

std::unique_ptr<TrackFile> open_bigwig_tracks(const std::vector<BigWigTrack>& tracks) {
  return std::make_unique<BigWigTracks>(tracks);
}

}  // namespace semicrf
