// Claims: events, stated about a segmentation, whose event probabilities are asked for.
#pragma once

#include <cstdint>

namespace semicrf {

// `[begin, end)` are positions of a piece. "Starts at p": a segment has its first position there; the first
// segment of a piece starts at position 0.
enum class ClaimKind {
  kSegment,     // exactly this segment of the label
  kBoundary,    // a segment starts somewhere in the interval
  kNoBoundary,  // no segment starts in the interval
  kLabel,       // the label is that of every position, in one segment or several
  kWithin,      // one segment of the label holds the interval
  kStarts,      // a segment of the label starts somewhere in the interval
  kEnds,        // a segment of the label has its last position in the interval
};

struct Claim {
  ClaimKind kind = ClaimKind::kBoundary;
  int label = -1;  // -1 for kinds that have none
  std::int64_t begin = 0;
  std::int64_t end = 0;  // > begin
};

// Natural logarithms of the probabilities that a claim holds and that it does not.
struct ClaimResult {
  double log_true = 0;
  double log_false = 0;
};

}  // namespace semicrf
