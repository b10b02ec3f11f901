// The smallest interval around a boundary of the path that holds one into the same label with a wanted
// probability.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/segment.h"
#include "io/text/segment_support.h"

namespace semicrf {

// The posteriors p(t) of starts of the label that a boundary at b leads to, collected position by position
// over the two segments beside it. The interval begins as b alone and takes the neighbour with the larger
// posterior (the left one where both are equal) until its sum is at least `level`. It stays inside the two
// segments, so that it holds neither of their outer boundaries, and within kReach bins of b.
//
// The sum is the expected number of such starts in the interval. It is their probability unless two of them
// can be in it.
class StartInterval {
 public:
  static constexpr std::size_t kReach = std::size_t{1} << 20;  // bins to each side

  // `level` in (0, 1).
  explicit StartInterval(double level) : level_(level) {}

  // A piece begins.
  void begin_piece();
  // The next position: the posteriors that the label of its segment starts there, and that the label of the
  // next segment does.
  void add(double start, double next_start);
  // After the last position of a segment: the interval of its start. None: less than `level` is in reach. The
  // first segment of a piece starts where that begins.
  std::optional<BoundaryInterval> end_segment(const Segment& segment);

 private:
  std::optional<BoundaryInterval> grown(std::int64_t boundary) const;

  double level_;
  bool first_ = true;         // segment of the piece
  std::vector<double> left_;  // of the segment before: starts of this one's label, the last positions
  std::vector<double> here_;  // of this segment: starts of its label, the first positions
  std::vector<double> next_;  // of this segment: starts of the next one's label, the last positions
};

}  // namespace semicrf
