// What all segmentations of a piece must be like: questions of the kind "what if".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/error.h"
#include "io/text/chromosomes.h"

namespace semicrf {

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

}  // namespace semicrf
