// The segments of one label that have begun and may go on: what the sum over durations is taken of.
#pragma once

#include <cstdint>
#include <vector>

#include "genes/lattice/lattice.h"

namespace semicrf {

enum class LatticeSemiring { kLog, kMax };

// What the sum over the starts of a label came to, where a segment ends.
struct ClosedSegments {
  double value = -std::numeric_limits<double>::infinity();  // relative to the content up to here
  std::int64_t start = -1;    // max semiring: the start of the best; of equals the latest
  double duration_score = 0;  // log semiring: the mean score of the duration under the sum
};

// Starts lie in the order of the boundaries at which they were opened, by the remainder of the boundary,
// so that those with a forbidden remainder are not looked at. Those more than K ago are one sum per
// remainder, which the tail lowers step by step. Copies are states to go on from.
class OpenSegments {
 public:
  OpenSegments(const LatticeLaw& law, const LatticeLabel& label, LatticeSemiring semiring);

  // A segment begins at `boundary`. `value`: everything before, less the content up to here.
  void open(std::int64_t boundary, double value);
  // All that began at `boundary` or before are impossible.
  void forget(std::int64_t boundary);
  // Over all that may end at `boundary`.
  ClosedSegments close(std::int64_t boundary);

 private:
  struct Start {
    std::int64_t boundary = 0;
    double value = 0;
  };
  struct Tail {
    double value = -std::numeric_limits<double>::infinity();  // sum of value - boundary * log_tail
    double mean_start = 0;
    std::int64_t best_start = -1;
  };
  struct Class {
    std::vector<Start> starts;
    std::size_t first = 0;  // those before it are gone
    Tail tail;
  };
  void age(Class& kept, std::int64_t boundary) const;
  ClosedSegments sum(const Class& kept, std::int64_t boundary) const;
  ClosedSegments best(const Class& kept, std::int64_t boundary) const;
  int class_of(std::int64_t boundary) const;

  const LatticeLaw* law_;
  LatticeSemiring semiring_;
  int modulus_, residue_;
  std::int64_t longest_;        // K
  std::int64_t tail_from_;      // the longest duration of the table that has the residue
  std::vector<Class> classes_;  // by remainder
};

}  // namespace semicrf
