// Tracks of one sequence: numbers for every base of both strands, as a network wrote them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "genes/gene_model.h"

namespace semicrf {

// Called by several threads at once.
class TrackValues {
 public:
  virtual ~TrackValues() = default;
  // `values`: (end - begin, tracks) row-major, for bases [begin, end) of the sequence on the strand '+' or
  // '-'. Row i is base begin + i on both strands. Errors of the file are InputErrors.
  virtual void read(char strand, std::int64_t begin, std::int64_t end, float* values) const = 0;
};

// The tracks of a sequence in the scales of `models`. InputError naming `name` and the base: a value that is
// not finite, or a negative one where the scale is logarithmic.
class ScaledTracks : public TrackValues {
 public:
  ScaledTracks(std::shared_ptr<const TrackValues> raw, std::vector<TrackModel> models, std::string name)
      : raw_(std::move(raw)), models_(std::move(models)), name_(std::move(name)) {}
  void read(char strand, std::int64_t begin, std::int64_t end, float* values) const override;

 private:
  void check(char strand, std::int64_t begin, std::int64_t end, const float* values) const;

  std::shared_ptr<const TrackValues> raw_;
  std::vector<TrackModel> models_;
  std::string name_;
};

// All values of a sequence of `length` bases in memory: for those who read them again and again.
class KeptTracks : public TrackValues {
 public:
  KeptTracks(const TrackValues& values, std::size_t tracks, std::int64_t length);
  void read(char strand, std::int64_t begin, std::int64_t end, float* values) const override;

 private:
  std::size_t tracks_;
  std::vector<float> plus_, minus_;
};

// What a stretch of a sequence has on both strands, with a margin for signals that look beyond it.
class TrackWindow {
 public:
  // Bases [begin - margin, end + margin) as far as the sequence of `length` bases has them. `values` may be
  // null: no tracks. Keeps its memory between calls.
  void load(const TrackValues* values, std::size_t tracks, std::int64_t length, std::int64_t begin,
            std::int64_t end, std::int64_t margin);
  // The values of a base on a strand, one per track; null outside of what was loaded.
  const float* at(char strand, std::int64_t base) const {
    if (base < begin_ || base >= end_) return nullptr;
    return (strand == '+' ? plus_ : minus_).get() + (base - begin_) * tracks_;
  }

 private:
  std::size_t tracks_ = 0;
  std::int64_t begin_ = 0, end_ = 0;
  std::size_t room_ = 0;  // values of each strand
  std::unique_ptr<float[]> plus_, minus_;
};

}  // namespace semicrf
