// What the segments of a decoded path are, by label: for the statistics.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/chain_model.h"
#include "io/json/stats_json.h"
#include "io/text/bin_location.h"
#include "pipeline/analyses/viterbi/segment_list.h"

namespace semicrf {

// Counts how often each length occurs, so that memory does not grow with the segments.
class DecodedLabels {
 public:
  explicit DecodedLabels(const ChainModel& model);

  // The path of a piece.
  void add(const SegmentList& path, const BinLocation& location);
  void add(const DecodedLabels& other);
  // Without names. Shares are of all bases that were added.
  std::vector<DecodedLabelStats> stats() const;

 private:
  struct Counts {
    std::map<std::int64_t, std::int64_t> lengths;  // bases: segments
    std::int64_t bases = 0, segments = 0;
    std::int64_t at_cap = 0, in_tail = 0;  // segments of K bins, of more
  };

  int max_duration_;
  std::vector<bool> has_tail_;  // by label
  std::vector<Counts> labels_;
  std::vector<std::int64_t> transitions_;  // (C, C) row-major, [from][to], of segments that touch
};

}  // namespace semicrf
