#include "model/pieces.h"

#include <algorithm>

namespace semicrf {
namespace {

bool begins_before(const BinRange& a, const BinRange& b) {
  return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
}

// Sorts and merges those that overlap.
void merge_overlapping(std::vector<BinRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), begins_before);
  std::size_t kept = 0;
  for (const BinRange& range : ranges) {
    if (kept > 0 && range.begin < ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

// What is left of `ranges` without `removed`; both sorted and disjoint.
std::vector<BinRange> subtract(const std::vector<BinRange>& ranges, const std::vector<BinRange>& removed) {
  std::vector<BinRange> rest;
  std::size_t first = 0;  // first removed range that may still matter
  for (const BinRange& range : ranges) {
    while (first < removed.size() && removed[first].end <= range.begin) ++first;
    std::int64_t begin = range.begin;
    for (std::size_t i = first; i < removed.size() && removed[i].begin < range.end; ++i) {
      if (removed[i].begin > begin) rest.push_back({begin, removed[i].begin});
      begin = removed[i].end;
    }
    if (begin < range.end) rest.push_back({begin, range.end});
  }
  return rest;
}

}  // namespace

std::int64_t count_bins(std::int64_t length, std::int64_t bin_size) {
  return length / bin_size + (length % bin_size != 0 ? 1 : 0);
}

std::vector<BinRange> widen_to_bins(const std::vector<BaseRange>& ranges, std::int64_t length,
                                    std::int64_t bin_size) {
  std::vector<BinRange> widened;
  widened.reserve(ranges.size());
  for (const BaseRange& range : ranges) {
    const std::int64_t begin = std::max<std::int64_t>(range.begin, 0);
    const std::int64_t end = std::min(range.end, length);
    if (begin < end) widened.push_back({begin / bin_size, count_bins(end, bin_size)});
  }
  merge_overlapping(widened);
  return widened;
}

std::vector<BinRange> make_pieces(const PieceRequest& request) {
  const std::int64_t bins = count_bins(request.length, request.bin_size);
  const std::vector<BinRange> included =
      request.include ? widen_to_bins(*request.include, request.length, request.bin_size)
                      : std::vector<BinRange>{{0, bins}};
  std::vector<BinRange> removed = widen_to_bins(request.exclude, request.length, request.bin_size);
  for (const BinRange& range : request.missing) {
    if (range.begin < range.end) removed.push_back(range);
  }
  merge_overlapping(removed);
  return subtract(included, removed);
}

CutEdges cut_edges(std::span<const BinRange> pieces, std::size_t number, std::int64_t sequence_bins,
                   ChromosomeEnds ends) {
  const BinRange& piece = pieces[number];
  const bool begins = piece.begin == 0 && ends.left;
  const bool ends_here = piece.end == sequence_bins && ends.right;
  const bool touches_left = number > 0 && pieces[number - 1].end == piece.begin;
  const bool touches_right = number + 1 < pieces.size() && pieces[number + 1].begin == piece.end;
  return {!begins && !touches_left, !ends_here && !touches_right};
}

std::int64_t total_bins(const std::vector<BinRange>& ranges) {
  std::int64_t bins = 0;
  for (const BinRange& range : ranges) bins += range.size();
  return bins;
}

}  // namespace semicrf
