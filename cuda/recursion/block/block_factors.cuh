// Factors exp(S + last score) and exp(first score - S) of a block, for blocks that the fast way of BlockRun
// does not load: large scores, boundary scores, position maxima, scores in double. S begins with the rest of
// the gauge.
#pragma once

#include "cuda/recursion/block/exact_block.cuh"
#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

template <class Real>
struct BlockFactors {
  Scaled<Real> alpha[kBlock], start[kBlock];
  bool good;               // the content is finite and its units are whole numbers that can be added up
  double sum, mass;        // sum of the content, with the rest; of the position shifts
  double content[kBlock];  // up to the right boundary of each slot, with the rest
  unsigned cuts;           // a bit per slot: its position is forbidden, which the content leaves out
};

struct FactorSource {
  std::int64_t row;  // row of the block's first run position
  int step;          // rows from one to the next, 0: none is there
  int first, last;   // positions outside of [first, last) are not of the sequence: scores of 0
  double rest;
  bool first_here, last_here, edges, backward;
  double* shift;  // row of the block's first token, or null
};

// Scores of starts and of ends in the direction of the run.
struct EdgeScores {
  DeviceScores first, last;
  __device__ __forceinline__ explicit EdgeScores(const SequenceView& sequence, bool backward)
      : first(backward ? sequence.ends : sequence.starts), last(backward ? sequence.starts : sequence.ends) {}
};

// A score as a summand, or 0, with which nothing overflows, where it is too large or forbids.
template <class Real>
struct Summand {
  ExponentSum<Real> sum;
  bool moderate, forbids;
};
template <class Real, class Value>
__device__ __forceinline__ Summand<Real> summand(Value score, Value added) {
  constexpr auto kMost = static_cast<Value>(kModerateScore - 1);
  const bool moderate = magnitude(score + added) <= kMost;
  const Value here = moderate ? score : Value(0);
  if constexpr (sizeof(Value) == sizeof(Real)) {
    return {ExponentSum<Real>::exactly(here), moderate, score == static_cast<Value>(kNone)};
  } else {
    return {ExponentSum<Real>::of(static_cast<double>(here)), moderate, score == static_cast<Value>(kNone)};
  }
}
// The scores of one position, as they were loaded: who uses them waits for them.
template <class Value, class Edge>
struct RowScores {
  Value emission;
  Edge first, last;
};

// The factors of a block as BlockContent would make them of its emissions: whole, inside the sequence,
// without maxima. Returns whether all scores of the label were of moderate size, so that they stand. A
// label's own column; `at`: of the block's first position, `step`: to the next one. The code is short on
// purpose: what the blocks of a run execute must stay in the instruction cache. Scores are asked for two
// positions ahead, as the cache is too small to keep them near.
template <class Real, class Semiring, class Value, class Edge>
__device__ __forceinline__ bool moderate_factors_of(const Value* emissions, const Edge* first,
                                                    const Edge* last, std::int64_t at, std::int64_t step,
                                                    double less, double rest, BlockFactors<Real>* out) {
  using O = Ops<Real, Semiring>;
  using Sum = ExponentSum<Real>;
  bool moderate = true;
  const auto load = [&]() -> RowScores<Value, Edge> {
    return {__ldg(emissions + at), first != nullptr ? __ldg(first + at) : Edge(0),
            last != nullptr ? __ldg(last + at) : Edge(0)};
  };
  // The factors of content and of a boundary score stay apart, so that rounding of the content goes out again
  // from one segment to the next, and a boundary score has the same factor in both directions.
  const auto edge_factor = [&](Edge value, Scaled<Real> content) -> Scaled<Real> {
    const Summand<Real> score = summand<Real>(value, Edge(0));
    moderate = moderate && (score.moderate || score.forbids);
    const Scaled<Real> edge = scaled<Real, Semiring>(score.sum);
    if (score.forbids) return {O::zero(), 0};
    return {O::times(content.number, edge.number), content.units + edge.units};
  };
  const Sum every = Sum::of(less);
  out->cuts = 0;
  Sum sum = Sum::of(rest);
  Scaled<Real> content = scaled<Real, Semiring>(sum);
  RowScores<Value, Edge> next = load();
  at += step;
  RowScores<Value, Edge> after = load();
#pragma unroll 1
  for (int slot = 0; slot < kBlock; ++slot) {
    const RowScores<Value, Edge> here = next;
    next = after;
    if (slot < kBlock - 2) {
      at += step;
      after = load();
    }
    Summand<Real> score = summand<Real>(here.emission, static_cast<Value>(less));
    const Scaled<Real> start = O::inverse(content);
    out->start[slot] = first != nullptr ? edge_factor(here.first, start) : start;
    moderate = moderate && (score.moderate || score.forbids);
    if (score.forbids) {
      out->cuts |= 1u << slot;
    } else {
      score.sum.add(every);
      sum.add(score.sum);
    }
    content = scaled<Real, Semiring>(sum);
    out->content[slot] = sum.value();
    out->alpha[slot] = last != nullptr ? edge_factor(here.last, content) : content;
  }
  out->sum = sum.value();
  out->mass = 0;
  out->good = true;
  return moderate;
}
// False, too, where emissions are doubles and boundary scores are not, which nobody makes.
template <class Real, class Semiring>
__device__ __forceinline__ bool moderate_factors(const SequenceView& sequence, const EdgeScores& edges,
                                                 std::int64_t at, std::int64_t step, double less, double rest,
                                                 BlockFactors<Real>* out) {
  const float* const single = sequence.emissions.f32;
  const bool floats = edges.first.f64 == nullptr && edges.last.f64 == nullptr;
  const bool doubles = edges.first.f32 == nullptr && edges.last.f32 == nullptr;
  if (single != nullptr && floats)
    return moderate_factors_of<Real, Semiring>(single, edges.first.f32, edges.last.f32, at, step, less, rest,
                                               out);
  if (single != nullptr && doubles)
    return moderate_factors_of<Real, Semiring>(single, edges.first.f64, edges.last.f64, at, step, less, rest,
                                               out);
  if (single == nullptr && doubles)
    return moderate_factors_of<Real, Semiring>(sequence.emissions.f64, edges.first.f64, edges.last.f64, at,
                                               step, less, rest, out);
  return false;
}

// The factors of any block: position shifts, maxima, boundary scores, scores in double. The whole team.
template <class Real, class Semiring, class Lanes>
__device__ __forceinline__ void any_factors(const TablesView<Real>& t, const SequenceView& sequence,
                                            const FactorSource& source, const Lanes& lanes,
                                            BlockFactors<Real>* out) {
  using O = Ops<Real, Semiring>;
  constexpr double kWidest = kMostContent * Semiring::kUnit;
  const int label = lanes.c < t.labels ? lanes.c : t.labels - 1;
  const EdgeScores edges(sequence, source.backward);
  Wide<Real> sum = Wide<Real>::of(source.rest);
  Scaled<Real> alpha = O::scaled_from_log(source.rest);
  out->good = true;
  out->mass = 0;
  out->cuts = 0;
  // Forbidden boundaries are zeros, which certificates need not know of.
  const auto within = [](double x) { return x <= kWidest && (x >= -kWidest || x == kNone); };
#pragma unroll 1
  for (int slot = 0; slot < kBlock; ++slot) {
    const bool inside = slot >= source.first && slot < source.last;
    const std::int64_t row = source.row + (inside ? slot : source.first) * source.step;
    const std::int64_t at = row * t.labels + label;
    Wide<Real> content = centred_wide<Real>(sequence, row, t.labels, lanes);
    const double most =
        static_cast<double>(lanes.most(lanes.valid ? content.high : static_cast<Real>(kNone)));
    const double shift = inside ? shift_for(most) : 0.0;
    const bool forbidden = inside && (content.high == static_cast<Real>(kNone) ||
                                      is_mask(t, sequence, static_cast<double>(content.high) - shift));
    if (forbidden) out->cuts |= 1u << slot;
    if (!inside || forbidden) content = Wide<Real>::of(0);
    if (shift != 0) content.add(Wide<Real>::of(-shift));
    out->mass += shift;
    if (source.shift != nullptr && lanes.valid && lanes.c == 0) {
      source.shift[source.backward ? kBlock - 1 - slot : slot] = shift;
    }
    const bool at_edge = source.edges && inside;
    out->start[slot] = O::inverse(alpha);
    if (at_edge) {
      const double start = score_at(edges.first, at) +
                           (source.first_here && slot == source.first ? t.first_scores[label] : 0.0) -
                           sum.value();
      out->good = out->good && within(start);
      out->start[slot] = O::scaled_from_log(start);
    }
    sum.add(content);
    const double here = sum.value();
    out->content[slot] = here;
    out->good = out->good && fabs(here) <= kWidest;
    alpha = O::scaled_from_log(here);
    out->alpha[slot] = alpha;
    if (at_edge) {
      const double end = here + score_at(edges.last, at) +
                         (source.last_here && slot == source.last - 1 ? t.last_scores[label] : 0.0);
      out->good = out->good && within(end);
      out->alpha[slot] = O::scaled_from_log(end);
    }
  }
  out->sum = sum.value();
}

// All teams of a warp together: what one of them needs changes no digit of another's.
template <class Real, class Semiring, class Lanes>
__device__ SEMICRF_NOINLINE void block_factors(const TablesView<Real>& t, const SequenceView& sequence,
                                               FactorSource source, Lanes lanes, BlockFactors<Real>* out) {
  const EdgeScores edges(sequence, source.backward);
  const int label = lanes.c < t.labels ? lanes.c : t.labels - 1;
  const std::int64_t at = source.row * t.labels + label;
  const std::int64_t step = static_cast<std::int64_t>(source.step) * t.labels;
  const double less = sequence.baseline != nullptr ? -sequence.baseline[label] : 0.0;
  const bool inside = source.step != 0 && source.first == 0 && source.last == kBlock && !source.first_here &&
                      !source.last_here && !sequence.subtract_position_max;
  const bool quick =
      inside && moderate_factors<Real, Semiring>(sequence, edges, at, step, less, source.rest, out);
  const bool stands = !lanes.any(!quick);
  if (lanes.any_team(!stands)) [[unlikely]] {
    any_factors<Real, Semiring>(t, sequence, source, lanes, out);
    if (stands) moderate_factors<Real, Semiring>(sequence, edges, at, step, less, source.rest, out);
  }
  if (!stands) return;
  if (source.shift != nullptr && lanes.valid && lanes.c == 0) {
    for (int slot = 0; slot < kBlock; ++slot) source.shift[source.backward ? kBlock - 1 - slot : slot] = 0;
  }
}

// The scores of a block and the factors made of them: exp(S), S from the block's first boundary and beginning
// with the rest of the gauge, as a number near one and whole units, so that no size of the scores overflows.
// The way of most blocks: scores of moderate size in float, no boundary scores.
//
// A score, asked for where the program says so: neither earlier, where it would take a register, nor later.
__device__ __forceinline__ float load_here(const float* from) {
#if defined(__CUDA_ARCH__)
  float x;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(from));
  return x;
#else
  return *from;
#endif
}

// Scores of some positions, asked for before they are wanted.
template <class Real, int kCount>
struct ComingScores {
  Real emission[kCount];
  Real start[kCount], end[kCount];  // where there are boundary scores
};

// What a label's content does to alpha and to starts along a block: factors made from the scores as they are
// asked for, or those of the long way. Units have a bias: see kBiasOfSums.
template <class Real, class Semiring>
struct BlockContent {
  using O = Ops<Real, Semiring>;
  using Sum = ExponentSum<Real>;
  static constexpr int kBias = kBiasOfSums<Real, Semiring>;
  const float* scores;  // scores of the label from the block's first position on, or null: zeros
  int step;             // entries from one position to the next
  int after;            // the slot to read on from after the last one: kBlock, or 0 where no block comes
  Sum less;             // taken out of every score
  Sum sum;
  const float *starts, *ends;         // boundary scores of the first position, or null: zeros
  const BlockFactors<Real>* factors;  // null: of the scores
  Real size;                          // the largest magnitude of the scores that were asked for

  __device__ __forceinline__ void begin(const float* from, int step_, Sum less_, double rest) {
    scores = from;
    step = step_;
    less = less_;
    sum = Sum::of(rest);
    after = 0;
    starts = ends = nullptr;
    factors = nullptr;
    size = 0;
  }
  // Whether surely no score is so large that all labels' share goes out of it, which is not done here. The
  // scores are near when they are asked for again.
  __device__ __forceinline__ bool is_moderate(bool* forbidden = nullptr) const {
    if (scores == nullptr) return true;
    const float* from = scores;
    float most = 0;
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot, from += step) most = larger(most, magnitude(__ldg(from)));
    if (forbidden != nullptr) *forbidden = most == static_cast<float>(-kNone);
    return is_moderate(static_cast<Real>(most));
  }
  // is_moderate() when all slots were asked for.
  __device__ __forceinline__ bool was_moderate() const { return is_moderate(size); }
  // Asks for the scores k positions after a slot; kBlock: where to read on.
  template <bool kEdges, int kCount>
  __device__ __forceinline__ void load(int slot, int k, ComingScores<Real, kCount>& coming) const {
    coming.emission[k % kCount] = load_of(scores, slot, k);
    if constexpr (kEdges) {
      coming.start[k % kCount] = load_of(starts, slot, k);
      coming.end[k % kCount] = load_of(ends, slot, k);
    }
  }
  // What a boundary score multiplies a factor by: apart from the content, as in moderate_factors_of(). Its
  // units have no bias.
  __device__ __forceinline__ Scaled<Real> edge_factor(Real score) {
    const bool forbids = score == static_cast<Real>(kNone);
    const Real known = forbids ? Real(0) : score;
    size = larger(size, magnitude(known));
    const Scaled<Real> edge = biased<Real, Semiring>(Sum::exactly(known));
    return {forbids ? O::zero() : edge.number, edge.units - kBias};
  }
  // exp(S) at the first boundary: alpha's factor, whose inverse is that of starts.
  __device__ __forceinline__ Scaled<Real> first_factor() const { return biased<Real, Semiring>(sum); }
  // exp(S + last score) at the right boundary of the next position, which has score x.
  __device__ __forceinline__ Scaled<Real> alpha_factor(Real x) {
    size = larger(size, magnitude(x));
    Sum content = Sum::exactly(x);
    content.add(less);
    sum.add(content);
    return biased<Real, Semiring>(sum);
  }
  // The content with the rest before it; when all slots were asked for.
  __device__ __forceinline__ double total() const { return factors != nullptr ? factors->sum : sum.value(); }

 private:
  __device__ __forceinline__ Real load_of(const float* from, int slot, int k) const {
    if (from == nullptr) return Real(0);
    return static_cast<Real>(load_here(from + (slot < kBlock ? slot : after) * step + k * step));
  }
  __device__ __forceinline__ bool is_moderate(Real most) const {
    return most <= static_cast<Real>(kModerateScore - 1) - magnitude(less.high);
  }
};

}  // namespace semicrf::cuda
