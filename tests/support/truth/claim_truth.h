// Which segmentations a claim is true of.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/claims/claim.h"
#include "core/segment.h"

namespace semicrf::testing {

inline constexpr ClaimKind kClaimKinds[] = {ClaimKind::kSegment, ClaimKind::kBoundary, ClaimKind::kNoBoundary,
                                            ClaimKind::kLabel,   ClaimKind::kWithin,   ClaimKind::kStarts,
                                            ClaimKind::kEnds};

inline bool has_label(ClaimKind kind) {
  return kind != ClaimKind::kBoundary && kind != ClaimKind::kNoBoundary;
}

// Whether the claim is true of a segmentation.
inline bool holds(const Claim& claim, const std::vector<Segment>& path) {
  bool boundary = false, starts = false, ends = false, everywhere = true, within = false, exactly = false;
  for (const Segment& segment : path) {
    const bool mine = segment.label == claim.label;
    const bool begins_inside = segment.begin >= claim.begin && segment.begin < claim.end;
    const bool meets = segment.begin < claim.end && segment.end > claim.begin;
    boundary |= begins_inside;
    starts |= begins_inside && mine;
    ends |= mine && segment.end > claim.begin && segment.end <= claim.end;
    everywhere &= !meets || mine;
    within |= mine && segment.begin <= claim.begin && segment.end >= claim.end;
    exactly |= mine && segment.begin == claim.begin && segment.end == claim.end;
  }
  switch (claim.kind) {
    case ClaimKind::kSegment:
      return exactly;
    case ClaimKind::kBoundary:
      return boundary;
    case ClaimKind::kNoBoundary:
      return !boundary;
    case ClaimKind::kLabel:
      return everywhere;
    case ClaimKind::kWithin:
      return within;
    case ClaimKind::kStarts:
      return starts;
    case ClaimKind::kEnds:
      return ends;
  }
  return false;
}

inline std::vector<Claim> all_claims(std::int64_t length, int num_labels) {
  std::vector<Claim> claims;
  for (const ClaimKind kind : kClaimKinds)
    for (int label = 0; label < (has_label(kind) ? num_labels : 1); ++label)
      for (std::int64_t begin = 0; begin < length; ++begin)
        for (std::int64_t end = begin + 1; end <= length; ++end)
          claims.push_back({kind, has_label(kind) ? label : -1, begin, end});
  return claims;
}

}  // namespace semicrf::testing
