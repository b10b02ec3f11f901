// Constraints as files have them: BED lines whose names say what all segmentations must be like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.h"
#include "inputs/statements/interval_file.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

// What all segmentations of a piece must be like: questions of the kind "what if".
//
// About positions [begin, end) of a piece.
struct Constraint {
  enum class Kind {
    kForbidden,   // none of the positions has one of the labels
    kBoundary,    // a segment starts at `begin` > 0; end = begin + 1
    kNoBoundary,  // no segment starts at any of the positions; begin > 0
  };
  Kind kind = Kind::kBoundary;
  std::int64_t begin = 0;
  std::int64_t end = 0;        // > begin
  std::vector<int> forbidden;  // labels of kForbidden
  std::size_t number = 0;      // by which its maker knows it
};

// The constraints of a run, wherever they come from.
class ConstraintSet {
 public:
  virtual ~ConstraintSet() = default;
  // Those that say something about `bins` bins of a piece, as far as they do, sorted by where they begin. A
  // boundary at its first bin, where there always is one, is left out. InputError: there may be none. From
  // any thread.
  virtual std::vector<Constraint> of(const BinLocation& piece, std::int64_t bins) = 0;
  // InputError: with this one and those before it no segmentation is possible.
  [[noreturn]] virtual void refuse(const Constraint& constraint, const BinLocation& piece) const = 0;
  // When all pieces are done: what the user should know of constraints that said nothing, or less than they
  // look like.
  virtual std::vector<Warning> warnings() const { return {}; }
};

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
