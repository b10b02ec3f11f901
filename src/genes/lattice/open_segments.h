// The segments of a label that have begun and may go on: what the sum over durations is taken of.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/chain_model.h"
#include "genes/lattice/lattice.h"

namespace semicrf {

enum class LatticeSemiring { kLog, kMax };

// Terms so far below another are nothing beside it in double precision.
inline constexpr double kNegligible = -40;

// log_add() without exponentials where one is nothing beside the other.
inline double log_add_near(double a, double b) {
  if (b < a + kNegligible) return a;
  return a < b + kNegligible ? b : log_add(a, b);
}

// What the sum over the starts of a label came to, where a segment ends.
struct ClosedSegments {
  double value = -std::numeric_limits<double>::infinity();  // relative to the content up to here
  std::int64_t start = -1;    // max semiring: the start of the best; of equals the latest
  double duration_score = 0;  // log semiring: the mean score of the duration under the sum
};

// What is wanted of ClosedSegments beside the value.
enum class ClosingDetail { kNone, kAll };

// exp(score - top) of each duration of a law, for sums without exponentials.
struct LinearLaw {
  double top = 0;
  std::vector<double> factors;         // none where no duration of the table is possible
  std::vector<double> factors_scores;  // with the scores themselves
};
// The durations up to `longest`.
LinearLaw linear_law(const LatticeLaw& law, std::int64_t longest);

// The durations of a law that a label may have.
struct DurationRule {
  int residue = 0;
  std::int64_t tail_from = 0;  // the longest duration of the table that leaves the residue
  double tail_score = -std::numeric_limits<double>::infinity();  // its score; -inf: there is no tail
};
DurationRule duration_rule(const LatticeLaw& law, const LatticeLabel& label);

// Labels that begin alike and differ in their residues may share one. Starts lie in the order of the
// boundaries at which they were opened, by the remainder of the boundary, so that those with a forbidden
// remainder are not looked at. Those more than K ago are one sum per remainder, which the tail lowers step by
// step. In the log semiring a start also has its weight, exp of its value less a scale that its class has.
// Copies are states to go on from.
class OpenSegments {
 public:
  // All must outlive it. `cut`, `twice_cut`: null where no segment is cut at an end of the sequence.
  // `keeps_tail`: durations beyond the table are possible, for some residue or at such an end.
  OpenSegments(const LatticeLaw& law, const LinearLaw& linear, const LatticeLaw* cut,
               const LatticeLaw* twice_cut, int modulus, bool keeps_tail, LatticeSemiring semiring);

  // A segment begins at `boundary`. `value`: everything before, less the content up to here.
  void open(std::int64_t boundary, double value);
  // One goes on that began before 0.
  void open_cut(double value) { cut_value_ = value; }
  // All that began at `boundary` or before are impossible.
  void forget(std::int64_t boundary);
  // Adds where those began that may end at `boundary` or beyond, without order. Max semiring.
  void append_starts(std::int64_t boundary, std::vector<std::int64_t>& starts) const;
  // Over all that may end at `boundary` by the rule, which is that of the law and the modulus.
  ClosedSegments close(std::int64_t boundary, const DurationRule& rule, ClosingDetail detail);
  // Over all that are open at `boundary`, the last one, and end behind it.
  ClosedSegments close_cut(std::int64_t boundary) const;

 private:
  struct Tail {
    double value = -std::numeric_limits<double>::infinity();  // sum of value - boundary * log_tail
    std::int64_t best_start = -1;                             // max semiring
    // Log semiring: sums of exp(value - boundary * log_tail - scale), and of this times the start.
    double scale = 0, sum = 0, sum_starts = 0;
    double mean_start() const { return sum > 0 ? sum_starts / sum : 0; }
  };
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max() / 2;
  struct Class {
    // By start.
    std::vector<std::int64_t> boundaries;
    std::vector<double> values, weights;
    std::size_t first = 0;        // those before it are gone
    std::int64_t oldest = kNone;  // the boundary of the first that is left
    double scale = 0;
    Tail tail;
    void drop_gone();
  };
  void age(Class& kept, std::int64_t boundary) const;
  double mean_tail_score(const Class& kept, std::int64_t boundary, const DurationRule& rule) const;
  double tail_score(const Class& kept, std::int64_t boundary, const DurationRule& rule) const;
  ClosedSegments close_begun(std::int64_t boundary, const DurationRule& rule, ClosingDetail detail);
  void add(ClosedSegments& closed, double value, double score, std::int64_t start) const;
  ClosedSegments sum(Class& kept, std::size_t last, std::int64_t boundary, const DurationRule& rule,
                     ClosingDetail detail) const;
  void add_to_tail(Tail& tail, double value, std::int64_t start) const;
  // Nothing (-inf) where weights are too small to tell, or the tail is too large.
  ClosedSegments quick_sum(const Class& kept, std::size_t last, std::int64_t boundary,
                           const DurationRule& rule, double tail, ClosingDetail detail) const;
  void rescale(Class& kept, double scale) const;
  ClosedSegments best(const Class& kept, std::size_t last, std::int64_t boundary, const DurationRule& rule,
                      ClosingDetail detail) const;
  int class_of(std::int64_t boundary) const;

  const LatticeLaw* law_;
  const LinearLaw* linear_;
  const LatticeLaw *cut_, *twice_cut_;
  // The segment that began before 0: what open_cut() was given.
  double cut_value_ = -std::numeric_limits<double>::infinity();
  LatticeSemiring semiring_;
  int modulus_;
  bool keeps_tail_;
  std::int64_t longest_;        // K
  std::vector<Class> classes_;  // by remainder
};

}  // namespace semicrf
