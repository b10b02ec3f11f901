// The pieces of one sequence: which ranges of bins are decoded, each as a sequence of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/scores/edge_roles.h"

namespace semicrf {

// A half-open range of bases.
struct BaseRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// A half-open range of bins, counted from the sequence's first bin.
struct BinRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }

  friend bool operator==(const BinRange&, const BinRange&) = default;
};

struct PieceRequest {
  std::int64_t length = 0;                        // bases of the sequence, >= 1
  std::int64_t bin_size = 1;                      // bases, >= 1; the last bin may be shorter
  std::optional<std::vector<BaseRange>> include;  // regions asked for, in any order; absent: everything
  std::vector<BaseRange> exclude;                 // regions to leave out, in any order
  std::vector<BinRange> missing;                  // runs of bins without data, in any order
};

// Bins of a sequence: ceil(length / bin_size).
std::int64_t count_bins(std::int64_t length, std::int64_t bin_size);

// `ranges` (within the sequence or cut to it, empty ones dropped) widened to whole bins and sorted. Ranges
// that overlap after the widening are merged; ranges that only touch stay apart.
std::vector<BinRange> widen_to_bins(const std::vector<BaseRange>& ranges, std::int64_t length,
                                    std::int64_t bin_size);

// The pieces, sorted and disjoint. Included regions that overlap (after widening to the grid of bins that
// starts at base 0) become one piece; regions that only touch stay two pieces, because whoever gave them
// separately wants a boundary there. Excluded regions are widened to whole bins too; they and the missing
// bins cut pieces or remove them.
std::vector<BinRange> make_pieces(const PieceRequest& request);

// Which edges of piece `number` of sorted, disjoint `pieces` are cuts: not those where regions touch, nor
// those at an end of the sequence that is one of its chromosome.
struct ChromosomeEnds {
  bool left = true, right = true;
};
CutEdges cut_edges(std::span<const BinRange> pieces, std::size_t number, std::int64_t sequence_bins,
                   ChromosomeEnds ends);

// Bins of all `ranges`, each counted as often as it stands there.
std::int64_t total_bins(const std::vector<BinRange>& ranges);

}  // namespace semicrf
