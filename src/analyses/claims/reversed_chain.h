// A chain and its scores read from right to left. The forward messages of the reversed sequence are the
// backward messages of the sequence, in the log domain and by any engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/chain_model.h"
#include "model/scores/score_source.h"

namespace semicrf {

// Every segmentation, mirrored, has the same score as in `model` in the log semiring: transitions are
// transposed, pi_start and pi_end change places, and the initial term becomes a part of pi_end.
ChainModel reversed(const ChainModel& model);

// Position t of it is position T-1-t of `source`, which must outlive it; start and end scores change places.
class ReversedSource : public ScoreSource {
 public:
  ReversedSource(ScoreSource& source, int num_labels)
      : source_(source), projected_(source), labels_(static_cast<std::size_t>(num_labels)) {}

  std::int64_t length() const override { return source_.length(); }
  std::size_t bytes_per_position() const override {
    return source_.bytes_per_position() + 3 * labels_ * sizeof(double);
  }
  std::size_t score_bytes() const override { return source_.score_bytes(); }
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override;

 private:
  ScoreSource& source_;
  HostProjection projected_;
  std::size_t labels_;
  ScoreBuffers forward_;
};

}  // namespace semicrf
