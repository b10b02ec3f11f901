// Constraints as files have them: BED lines whose names say what all segmentations must be like.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.h"
#include "inputs/statements/constraint.h"
#include "inputs/statements/interval_file.h"
#include "inputs/statements/interval_index.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

// Kinds: label:A,B, not:A, boundary, no-boundary. Intervals are widened to whole bins; of a boundary the
// first bin counts.
class ConstraintFile : public ConstraintSet {
 public:
  // InputError with the line, or both: not BED, no constraint in column 4, an unknown kind or label, an
  // interval that is not on its chromosome; two that contradict each other at a bin; no constraint at all.
  ConstraintFile(const std::string& path, const std::vector<Label>& labels, const InputSet& inputs);

  std::vector<Constraint> of(const BinLocation& piece, std::int64_t bins) override;
  [[noreturn]] void refuse(const Constraint& constraint, const BinLocation& piece) const override;
  // Warnings of lines that said nothing, or less than their intervals look like.
  std::vector<Warning> warnings() const override;

 private:
  struct Line : IntervalLine {
    Constraint::Kind kind = Constraint::Kind::kBoundary;
    std::vector<int> forbidden;
    std::int64_t bins = 0;     // that it says something about
    std::int64_t decoded = 0;  // bins of these in pieces so far
    bool longer = false;       // a boundary, and the interval has more than one bin
  };

  Line parse(IntervalLine line, const std::vector<Label>& labels) const;
  std::vector<Constraint> within(const BinLocation& piece, std::int64_t bins) const;
  void check_sequence(const Sequence& sequence);
  [[noreturn]] void refuse_contradiction(const std::vector<Constraint>& active,
                                         const BinLocation& location) const;

  IntervalFile file_;
  std::size_t num_labels_;
  std::int64_t bin_size_;
  std::vector<Line> lines_;
  IntervalIndex index_;  // finds lines
  std::mutex mutex_;     // guards what is counted in lines
};

}  // namespace semicrf
