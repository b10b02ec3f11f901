// How many segments each label has, how long they are, and what follows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/chain_model.h"
#include "io/segments/segmentation.h"
#include "model/parameters.h"
#include "model/statistics.h"
#include "segmentation/label_tracks.h"

namespace semicrf {

// Counts how often each length occurs, so that memory does not grow with the segments.
class SegmentCounts {
 public:
  // `model`: of the segments, which tells K and tails; null: not known.
  SegmentCounts(std::size_t labels, const ChainModel* model);

  void add(std::size_t label, std::int64_t bases, std::int64_t bins);
  // A segment of `to` stands right behind one of `from`.
  void add_transition(std::size_t from, std::size_t to) { transitions_[from * labels_.size() + to] += 1; }
  void add(const SegmentCounts& other);

  // Without names. Shares are of all bases that were added.
  std::vector<DecodedLabelStats> stats() const;
  // The lengths of the segments of all labels; nothing without segments.
  std::optional<LengthStats> lengths() const;

 private:
  struct Counts {
    std::map<std::int64_t, std::int64_t> lengths;  // bases: segments
    std::int64_t bases = 0, segments = 0;
    std::int64_t at_cap = 0, in_tail = 0;  // segments of K bins, of more
  };

  int max_duration_ = 0;        // 0: not known
  std::vector<bool> has_tail_;  // by label
  std::vector<Counts> labels_;
  std::vector<std::int64_t> transitions_;  // (C, C) row-major, [from][to]
};

// Numbers about the labels of a segmentation.
//
// `model`: of the segmentation, or null. `tracks`: of every label of the segmentation, or empty. InputError:
// a label that the model does not have. Labels are those of the model in its order, or those of the file in
// natural order.
std::vector<DecodedLabelStats> summarize(const SegmentationFile& segmentation, const Parameters* model,
                                         const std::vector<LabelTrack>& tracks = {});

// Lengths of all segments, bases; nothing without segments.
std::optional<LengthStats> lengths_of(const SegmentationFile& segmentation);

// Tables: a line of names, a line per label; columns separated by tabs, "." for what is not known. Columns of
// the summary are "label" and label_statistics().
std::string summary_text(const std::vector<DecodedLabelStats>& labels);
std::string transitions_text(const std::vector<DecodedLabelStats>& labels);

}  // namespace semicrf
