// Steps of the traceback for all lanes of a warp together, from memory: of any length, through exact blocks,
// tails and the state at the window's left edge. What lies in shared memory is looked at first, see
// trace_ring.cuh: both form the same sums in the same order, so that equal scores decide alike.
#pragma once

#include "cuda/recursion/lanes.cuh"
#include "cuda/tables/limits.h"
#include "cuda/tables/numbers.cuh"
#include "cuda/viterbi/trace_launch.h"

namespace semicrf::cuda {

// Which lanes of a warp hold the largest score.
//
// Doubles in the order of whole numbers: the upper half and, where that is equal, the lower one. -0 is less
// than 0 where it is not said to be 0.
__device__ __forceinline__ int upper_key_but_zero(double x) {
  const int high = static_cast<int>(__double_as_longlong(x) >> 32);
  return high ^ (high >> 31 & 0x7fffffff);
}
// -0 as 0.
__device__ __forceinline__ int upper_key(double x) { return upper_key_but_zero(x + 0.0); }
__device__ __forceinline__ int lower_key(double x) {
  const long long bits = __double_as_longlong(x + 0.0);
  const unsigned low = static_cast<unsigned>(bits) ^ static_cast<unsigned>(bits >> 63);
  return static_cast<int>(low ^ 0x80000000u);
}

__device__ __forceinline__ int first_of(unsigned lanes) { return __ffs(static_cast<int>(lanes)) - 1; }

struct Largest {
  int upper;       // key of the largest score
  unsigned lanes;  // bit i: lane i has it
};
__device__ __forceinline__ Largest largest_of_warp(double score) {
  const int key = upper_key(score);
  Largest largest;
  largest.upper = most_of_warp(key);
  largest.lanes = __ballot_sync(kAllLanes, key == largest.upper);
  if ((largest.lanes & (largest.lanes - 1)) != 0) {
    const bool tied = key == largest.upper;
    const int rest = tied ? lower_key(score) : static_cast<int>(0x80000000u);
    const int most = most_of_warp(rest);
    largest.lanes = __ballot_sync(kAllLanes, tied && rest == most);
  }
  return largest;
}

// The largest of a warp by one reduction, for scores that are not -0: the lowest bits of a key make room for
// the lane, the smallest of equals.
struct Winner {
  static constexpr int kLaneBits = 31;
  int upper;      // key of the largest score, without those bits
  unsigned lane;  // that has it
  bool sure;      // no other lane's key differs in those bits alone
};
__device__ __forceinline__ Winner winner_of_warp(double score, bool asked) {
  const int lane = static_cast<int>(threadIdx.x) & Winner::kLaneBits;
  const int key = (upper_key_but_zero(asked ? score : kNone) | Winner::kLaneBits) - lane;
  const int most = most_of_warp(key);
  const unsigned differing = static_cast<unsigned>(key ^ most);
  const bool near = differing - 1 < Winner::kLaneBits;
  return {most & ~Winner::kLaneBits, static_cast<unsigned>(~most & Winner::kLaneBits),
          __any_sync(kAllLanes, near) == 0};
}

// The stored messages as the traceback reads them. Positions are relative to the window's first one; values
// are logarithms in double.
template <class Real>
__device__ double emission(const TraceParameters<Real>& p, std::int64_t at) {
  const DeviceScores& f = p.sequence.emissions;
  return f.f32 != nullptr ? static_cast<double>(f.f32[at]) : f.f64[at];
}
// Where the sequence of a block begins; 0 or less for a window.
template <class Real>
__device__ std::int64_t sequence_begin(const TraceParameters<Real>& p, int block) {
  return p.sequence_of == nullptr ? -p.range_begin : p.batch[p.sequence_of[block]].first_row;
}
template <class Real>
__device__ const double* baseline(const TraceParameters<Real>& p, int position) {
  return p.sequence_of == nullptr ? p.sequence.baseline : p.batch[p.sequence_of[position / kBlock]].baseline;
}
// Centred emission of one position, without its shift.
template <class Real>
__device__ double score(const TraceParameters<Real>& p, int position, int c) {
  const int labels = p.tables.labels;
  const std::int64_t row = (p.range_begin - p.sequence.begin + position) * labels;
  double value = emission(p, row + c);
  if (p.sequence.subtract_position_max) {
    double most = kNone;
    for (int other = 0; other < labels; ++other) most = fmax(most, emission(p, row + other));
    if (most != kNone) value -= most;
  }
  const double* const centre = baseline(p, position);
  if (centre != nullptr) value -= centre[c];
  return value - p.store.shift[position];
}
template <class Real>
__device__ std::int64_t entry(const TraceParameters<Real>& p, int row, int c) {
  return static_cast<std::int64_t>(row) * p.tables.labels + c;
}
// Puts values relative to `own` on the scale of the origin, which lies near.
__device__ inline double shift(const BlockOrigin& own, const BlockOrigin& origin) {
  return (own.whole - origin.whole) + (own.offset - origin.offset);
}
template <class Real>
__device__ std::int64_t pool_entry(const TraceParameters<Real>& p, int slot, int position, int c) {
  return (static_cast<std::int64_t>(slot - 1) * kBlock + position % kBlock) * p.tables.labels + c;
}
// A message on the scale of its block.
template <class Real>
__device__ double value_of(const TraceParameters<Real>& p, const MessageView<Real>& message, int position,
                           int c) {
  const int block = position / kBlock;
  const int exact = p.store.exact[block];
  if (exact != 0) return message.pool[pool_entry(p, exact, position, c)];
  return static_cast<double>(message.numbers[entry(p, position, c)]) + message.scale[entry(p, block, c)];
}

// --- out of line: rare where there are neither tails nor exact blocks ---

// The content of positions of one block.
template <class Real>
__device__ SEMICRF_NOINLINE double content(const TraceParameters<Real>& p, int begin, int end, int c) {
  double sum = 0;
#pragma unroll 1
  for (int position = begin; position < end; ++position) sum += score(p, position, c);
  return sum;
}
template <class Real>
__device__ SEMICRF_NOINLINE double content_sum(const TraceParameters<Real>& p, int begin, int end, int c) {
  double sum = 0;
  while (begin < end) {
    const int block = begin / kBlock;
    const int stop = (block + 1) * kBlock < end ? (block + 1) * kBlock : end;
    const bool whole = begin == block * kBlock && stop == (block + 1) * kBlock;
    sum += whole ? p.store.content[entry(p, block, c)] : content(p, begin, stop, c);
    begin = stop;
  }
  return sum;
}
// A segment that starts in an exact block, with its content up to `stop`, on the scale of the block.
template <class Real>
__device__ SEMICRF_NOINLINE double exact_start(const TraceParameters<Real>& p, int slot, int start, int stop,
                                               int c) {
  return p.store.gamma.pool[pool_entry(p, slot, start, c)] + content(p, start, stop, c);
}
// An entry of the state at the window's left edge.
template <class Real>
__device__ double left_entry(const TraceParameters<Real>& p, const BlockOrigin& origin, int row, int c) {
  return p.left_state[entry(p, row, c)] + shift(p.left, origin);
}
// The tail's share of alpha without the end score; where its block is not exact, without the content from the
// block's first boundary on. Not at the window's left edge.
template <class Real>
__device__ double tail_share(const TraceParameters<Real>& p, const BlockOrigin& origin, int boundary, int c) {
  return value_of(p, p.store.tail, boundary - 1, c) + shift(p.blocks[(boundary - 1) / kBlock], origin);
}
// The tail's share of alpha with all content up to the boundary.
template <class Real>
__device__ SEMICRF_NOINLINE double tail(const TraceParameters<Real>& p, BlockOrigin origin, int boundary,
                                        int c) {
  if (boundary == 0) return p.left_state == nullptr ? kNone : left_entry(p, origin, p.tables.duration + 1, c);
  const int block = (boundary - 1) / kBlock;
  const double share = tail_share(p, origin, boundary, c);
  if (p.store.exact[block] != 0) return share;
  return share + content(p, block * kBlock, boundary, c);
}
// Everything before a segment that starts at `boundary`, with its start score and, left of the window, its
// content up to the window's edge.
template <class Real>
__device__ SEMICRF_NOINLINE double started(const TraceParameters<Real>& p, BlockOrigin origin, int boundary,
                                           int c) {
  if (boundary < 0) return left_entry(p, origin, -boundary - 1, c);
  const int block = boundary / kBlock;
  const double value = value_of(p, p.store.gamma, boundary, c) + shift(p.blocks[block], origin);
  if (p.store.exact[block] != 0) return value;
  return value + content(p, block * kBlock, boundary, c);
}

__device__ __forceinline__ int lane_of_warp() { return static_cast<int>(threadIdx.x % 32); }
// A number that stays in its register instead of being found again at every use.
__device__ __forceinline__ unsigned kept(unsigned x) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(x));
#endif
  return x;
}

struct BestStart {
  double score;
  int duration;
};
// What is the same for all starts in one block.
struct StartBlock {
  int index;
  int exact;      // slot of the pool + 1, or 0
  double shift;   // puts it on the scale of the last block
  double before;  // content from its first boundary to the last block's (an exact last block: to the end)
  double after;   // content from its right edge to the last block's first boundary (exact: to the end)
};

// A later block is taken first and an earlier start must be strictly better: equal scores go to the shorter
// duration.
__device__ inline void take_best(double score, int shortest, BestStart* best) {
  const Largest largest = largest_of_warp(score);
  const int lane = first_of(largest.lanes);
  const double most = __shfl_sync(kAllLanes, score, lane);
  if (most > best->score) *best = {most, shortest + lane};
}

// The forbidden positions of a label in a block, a bit for each; an exact block has them in its logarithms.
template <class Real>
__device__ __forceinline__ unsigned cuts_of(const TraceParameters<Real>& p, int block, int exact, int c) {
  return exact == 0 ? p.store.cuts[entry(p, block, c)] : 0u;
}

// Takes starts behind the last of `cuts`.
template <class Real>
__device__ void take_starts(const TraceParameters<Real>& p, const StartBlock& block, unsigned cuts, int end,
                            int c, BestStart* best) {
  const TablesView<Real>& t = p.tables;
  const int first = block.index * kBlock;
  const int lane = lane_of_warp();
  const int start = first + kBlock - 1 - lane;
  const int duration = end - start;
  double score = kNone;
  if (lane < kBlock && duration >= 1 && duration <= t.duration && cuts >> (kBlock - 1 - lane) == 0) {
    const double bias = t.bias[static_cast<std::int64_t>(duration - 1) * t.width + c];
    if (block.exact == 0) {
      score = static_cast<double>(p.store.gamma.numbers[entry(p, start, c)]) + bias;
      score += block.shift + p.store.gamma.scale[entry(p, block.index, c)] + block.before;
    } else {
      // Every start with its own content, so that huge scores that do not concern a segment do not touch it.
      const int stop = first + kBlock < end ? first + kBlock : end;
      score = exact_start(p, block.exact, start, stop, c) + block.after + bias;
      score += block.shift;
    }
  }
  take_best(score, end - (first + kBlock - 1), best);
}

// Starts left of the window. `after`: content from its left edge.
template <class Real>
__device__ SEMICRF_NOINLINE BestStart take_earlier_starts(const TraceParameters<Real>& p, BlockOrigin origin,
                                                          int end, int c, double after, BestStart best) {
  const TablesView<Real>& t = p.tables;
  const std::int64_t all = p.range_begin + end;
  const int longest = t.duration < all ? t.duration : static_cast<int>(all);
#pragma unroll 1
  for (int shortest = end + 1; shortest <= longest; shortest += 32) {
    const int duration = shortest + lane_of_warp();
    double score = kNone;
    if (duration <= longest) {
      score = started(p, origin, end - duration, c) + after +
              t.bias[static_cast<std::int64_t>(duration - 1) * t.width + c];
    }
    take_best(score, shortest, &best);
  }
  return best;
}

// What rounding may take from a bound.
__device__ inline double slack_of(double score) { return 1e-6 + 1e-12 * fabs(score); }
__device__ inline bool may_win(double bound, double best) {
  return bound > kNone && !(bound + slack_of(best) < best);
}

// The duration of the best segment of c that ends at `end`, the shortest of equals; kIntoTail where that is
// longer than K.
inline constexpr int kIntoTail = 0;
template <class Real>
__device__ SEMICRF_NOINLINE int find_start(const TraceParameters<Real>& p, int end, int c) {
  const TablesView<Real>& t = p.tables;
  const int lane = lane_of_warp();
  const int last = (end - 1) / kBlock;
  const int oldest = end - t.duration;
  const std::int64_t first = sequence_begin(p, last);
  const int oldest_there = oldest > first ? oldest : static_cast<int>(first);
  const int oldest_block = oldest_there > 0 ? oldest_there / kBlock : 0;
  const BlockOrigin origin = p.blocks[last];
  BestStart best{kNone, 1};
  // Content from the first boundary of the last block to `end` is common to all starts, and to the tail, but
  // where that block is exact.
  const int last_exact = p.store.exact[last];
  double after = last_exact != 0 ? content(p, last * kBlock, end, c) : 0.0;
  const unsigned last_cuts = cuts_of(p, last, last_exact, c) & ((1u << (end - last * kBlock)) - 1);
  take_starts(p, {last, last_exact, 0.0, after, 0.0}, last_cuts, end, c, &best);
  bool barred = last_cuts != 0;
#pragma unroll 1
  for (int nearest = last - 1; nearest >= oldest_block && !barred; nearest -= 32) {
    // A block per lane: could a start in it still win?
    const int mine = nearest - lane;
    bool asked = mine >= oldest_block;
    const std::int64_t at = entry(p, asked ? mine : 0, c);
    const int exact = asked ? p.store.exact[mine] : 0;
    // Not left of a block with a forbidden position.
    const unsigned cuts = asked ? cuts_of(p, mine, exact, c) : 0u;
    const unsigned with_cuts = __ballot_sync(kAllLanes, cuts != 0);
    barred = with_cuts != 0;
    asked = asked && (!barred || lane <= first_of(with_cuts));
    const double moved = asked ? shift(p.blocks[mine], origin) : 0.0;
    const double start_bound = asked ? p.store.gamma_bound[at] : kNone;
    double before = asked ? p.store.content[at] : 0.0;
    for (int step = 1; step < 32; step *= 2) {
      const double more = __shfl_up_sync(kAllLanes, before, static_cast<unsigned>(step));
      if (lane >= step) before += more;
    }
    before += after;
    const double bound = exact != 0 ? -kNone : moved + start_bound + before + t.largest_bias[c];
    unsigned open = __ballot_sync(kAllLanes, asked && may_win(bound, best.score));
#pragma unroll 1
    while (open != 0) {
      const int who = first_of(open);
      StartBlock block{nearest - who, __shfl_sync(kAllLanes, exact, who), __shfl_sync(kAllLanes, moved, who),
                       __shfl_sync(kAllLanes, before, who), after};
      const double nearer = __shfl_sync(kAllLanes, before, who > 0 ? who - 1 : 0);
      if (block.exact != 0 && who > 0) block.after = nearer;
      take_starts(p, block, __shfl_sync(kAllLanes, cuts, who), end, c, &best);
      open = __ballot_sync(kAllLanes, asked && lane > who && may_win(bound, best.score));
    }
    after = __shfl_sync(kAllLanes, before, 31);
  }
  if (oldest < 0 && p.left_state != nullptr && !barred)
    best = take_earlier_starts(p, origin, end, c, after, best);
  if (t.tail && tail_share(p, origin, end, c) > best.score) return kIntoTail;
  return best.duration;
}

// Whether a segment that becomes longer than K at `before` is as good as one that was longer already.
// `between`: content from the block of its start to `block`, both to their first boundaries; `first`: where
// the sequence begins.
template <class Real>
__device__ bool enters_tail(const TraceParameters<Real>& p, BlockOrigin origin, int before, int block,
                            double between, std::int64_t first, int c) {
  const double last_bias = p.tables.last_bias[c];
  const int begin = before - p.tables.duration;
  if (begin < first || (begin < 0 && p.left_state == nullptr)) return false;
  if (before == 0 || begin < 0 || p.store.exact[block] != 0 || p.store.exact[begin / kBlock] != 0) {
    const double sum = content_sum(p, begin > 0 ? begin : 0, before, c);
    return started(p, origin, begin, c) + sum + last_bias >= tail(p, origin, before, c);
  }
  // Content within the last block is part of both.
  const double start =
      static_cast<double>(p.store.gamma.numbers[entry(p, begin, c)]) +
      (p.store.gamma.scale[entry(p, begin / kBlock, c)] + shift(p.blocks[begin / kBlock], origin));
  const double longer = static_cast<double>(p.store.tail.numbers[entry(p, before - 1, c)]) +
                        (p.store.tail.scale[entry(p, block, c)] + shift(p.blocks[block], origin));
  return start + between + last_bias >= longer;
}

// Leftwards along the tail of a segment of c that is longer than K at boundary `at`: where it began, or
// kNotHere when that lies left of what is known. Half a warp takes a block of boundaries, the other half the
// one left of it.
inline constexpr int kNotHere = -2147483647;
template <class Real>
__device__ SEMICRF_NOINLINE int follow_tail(const TraceParameters<Real>& p, int at, int c) {
  const int duration = p.tables.duration;
  const int lane = lane_of_warp();
  const int half = lane / kBlock;
  const std::int64_t first = sequence_begin(p, (at - 1) / kBlock);
#pragma unroll 1
  while (at > 0 && at > first) {
    const int nearest = at >= 2 ? (at - 2) / kBlock : -1;  // that ends at the last boundary to try
    const int block = nearest - half;
    // Starts lie in block `oldest` and the next one; content from these to `block`.
    const int oldest = (block * kBlock + 1 - duration) >> 4;
    double nearer = 0;
    for (int b = (oldest < 0 ? 0 : oldest + 1) + lane % kBlock; b < block; b += kBlock)
      nearer += p.store.content[entry(p, b, c)];
    for (int step = kBlock / 2; step > 0; step /= 2) nearer += __shfl_xor_sync(kAllLanes, nearer, step);
    const int before = (block + 1) * kBlock - lane % kBlock;
    bool enters = false;
    if (block >= -1 && before >= 0 && before < at) {
      const BlockOrigin origin =
          block >= 0 ? p.blocks[block] : (p.left_state != nullptr ? p.left : p.blocks[0]);
      const bool farther = oldest >= 0 && oldest < block && (before - duration) >> 4 == oldest;
      const double between = nearer + (farther ? p.store.content[entry(p, oldest, c)] : 0.0);
      enters = enters_tail(p, origin, before, block, between, first, c);
    }
    const unsigned lanes = __ballot_sync(kAllLanes, enters);
    if (lanes != 0) return __shfl_sync(kAllLanes, before, first_of(lanes)) - duration;
    at = nearest >= 1 ? (nearest - 1) * kBlock + 1 : 0;
  }
  return kNotHere;
}

// The label of a lane among those that hold the largest score, the smallest of equals; 0 when there is none.
__device__ __forceinline__ int first_label(double score, int label, int labels) {
  const Largest largest = largest_of_warp(score);
  const bool among = (largest.lanes >> lane_of_warp() & 1u) != 0;
  const int smallest = least_of_warp(among ? label : labels);
  return smallest < labels ? smallest : 0;
}

// The first label with the largest alpha at the boundary plus transition into `to` (-1: none).
template <class Real>
__device__ SEMICRF_NOINLINE int find_source(const TraceParameters<Real>& p, int boundary, int to) {
  const TablesView<Real>& t = p.tables;
  double most = kNone;
  int label = t.labels;
#pragma unroll 1
  for (int c = lane_of_warp(); c < t.labels; c += 32) {
    double value =
        boundary == 0 ? p.left_state[entry(p, t.duration, c)] : value_of(p, p.store.alpha, boundary - 1, c);
    if (to >= 0) value += t.transition_log[static_cast<std::int64_t>(c) * t.width + to];
    if (value > most) {
      most = value;
      label = c;
    }
  }
  return first_label(most, label, t.labels);
}

}  // namespace semicrf::cuda
