// The Viterbi traceback, in pieces at a time: eight lanes per piece follow the best path right to left
// through the stored messages (docs/algorithm.md, "Viterbi without back-pointers"). The rightmost piece
// starts from the cursor. The others start some way right of their piece from the label that is best there;
// paths run together soon. The host checks that each piece passed through the state in which the piece to its
// right left it, and sends out a group again where not.
//
// A step of the path is a few hundred instructions of a group and two or three trips to memory: the starts in
// the last block together with the bounds of the eight blocks before it, the starts of a block whose bound
// could still win, the sources. Positions are relative to the window's first one.
#include "cuda/cuda_check.h"
#include "cuda/numbers.cuh"
#include "cuda/trace_launch.h"

namespace semicrf::cuda {
namespace {

constexpr int kGroup = 8;  // lanes per piece
constexpr int kThreads = 128;

template <class Real>
__device__ double emission(const TraceParameters<Real>& p, std::int64_t at) {
  const DeviceScores& f = p.sequence.emissions;
  return f.f32 != nullptr ? static_cast<double>(f.f32[at]) : f.f64[at];
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
  if (p.sequence.baseline != nullptr) value -= p.sequence.baseline[c];
  return value - p.store.shift[position];
}
template <class Real>
__device__ std::int64_t entry(const TraceParameters<Real>& p, int row, int c) {
  return static_cast<std::int64_t>(row) * p.tables.labels + c;
}
// Puts values relative to `own` on the scale of the origin, which lies near.
__device__ double shift(const BlockOrigin& own, const BlockOrigin& origin) {
  return (own.whole - origin.whole) + (own.offset - origin.offset);
}
template <class Real>
__device__ std::int64_t pool_entry(const TraceParameters<Real>& p, int slot, int position, int c) {
  return (static_cast<std::int64_t>(slot - 1) * kBlock + position % kBlock) * p.tables.labels + c;
}
// A message on the scale of its block.
template <class Real>
__device__ double value_of(const TraceParameters<Real>& p, const Real* numbers, const double* pool,
                           const double* scale, int position, int c) {
  const int block = position / kBlock;
  const int exact = p.store.exact[block];
  if (exact != 0) return pool[pool_entry(p, exact, position, c)];
  return static_cast<double>(numbers[entry(p, position, c)]) + scale[entry(p, block, c)];
}

// --- out of line: rare where there are neither tails nor exact blocks ---

// Of positions of one block.
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
  return p.store.pool_start[pool_entry(p, slot, start, c)] + content(p, start, stop, c);
}
// An entry of the state at the window's left edge.
template <class Real>
__device__ double left_entry(const TraceParameters<Real>& p, const BlockOrigin& origin, int row, int c) {
  return p.left_state[entry(p, row, c)] + shift(p.left, origin);
}
// The tail's share of alpha without the end score, content summed up to the boundary.
template <class Real>
__device__ SEMICRF_NOINLINE double tail(const TraceParameters<Real>& p, BlockOrigin origin, int boundary,
                                        int c) {
  if (boundary == 0) return p.left_state == nullptr ? kNone : left_entry(p, origin, p.tables.duration + 1, c);
  const int block = (boundary - 1) / kBlock;
  const double share = value_of(p, p.store.tail, p.store.pool_tail, p.store.alpha_scale, boundary - 1, c) +
                       shift(p.blocks[block], origin);
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
  const double value = value_of(p, p.store.start, p.store.pool_start, p.store.start_scale, boundary, c) +
                       shift(p.blocks[block], origin);
  if (p.store.exact[block] != 0) return value;
  return value + content(p, block * kBlock, boundary, c);
}

template <class Real>
class Tracer {
 public:
  __device__ explicit Tracer(const TraceParameters<Real>& p)
      : p_(p),
        t_(p.tables),
        lane_(static_cast<int>(threadIdx.x % kGroup)),
        first_lane_(static_cast<int>(threadIdx.x % 32) / kGroup * kGroup),
        group_(((1u << kGroup) - 1) << first_lane_) {}

  __device__ void run(const TracePiece& piece, TraceResult* result) {
    phase_ = piece.start.phase;
    label_ = piece.start.label;
    at_ = relative(piece.start.boundary);
    segment_end_ = phase_ == TracePhase::kInTail ? relative(piece.start.segment_end) : 0;
    const int right = relative(piece.right);
    const int left = relative(piece.left);
    if (piece.guess) label_ = best_label(at_, -1);
    TraceState entry{-1, 0, TracePhase::kFindStart, 0};  // never met
    int records = 0;
    bool entered = at_ <= right && !piece.guess;
    if (entered) entry = state();
    bool moved = true;
    // Where the window begins the path stops by itself, when it needs what lies left of it.
    while (moved && phase_ != TracePhase::kDone && !(entered && left != 0 && at_ <= left)) {
      closed_length_ = 0;
      const int label = label_;
      moved = step();
      if (closed_length_ == 0) continue;
      if (entered) {
        if (lane_ == 0) {
          p_.records[piece.out + records] =
              static_cast<TraceRecord>(closed_length_) << kRecordLabelBits | static_cast<TraceRecord>(label);
        }
        ++records;
      } else if (at_ <= right) {
        entered = true;
        entry = state();
      }
    }
    if (lane_ == 0) *result = {entry, state(), records, !moved ? 1 : 0};
  }

 private:
  struct Best {
    double score;
    int duration;
  };

  __device__ int relative(std::int64_t position) const { return static_cast<int>(position - p_.range_begin); }
  __device__ TraceState state() const {
    return {p_.range_begin + at_, p_.range_begin + segment_end_, phase_, label_};
  }

  // --- the group ---

  template <class Value>
  __device__ Value from_lane(Value value, int lane) const {
    return __shfl_sync(group_, value, lane, kGroup);
  }
  // Bit i: lane i says yes.
  __device__ unsigned votes(bool yes) const {
    return __ballot_sync(group_, yes) >> first_lane_ & ((1u << kGroup) - 1);
  }
  __device__ static int first_of(unsigned votes) { return __ffs(static_cast<int>(votes)) - 1; }
  __device__ double largest(double value) const {
    for (int step = kGroup / 2; step > 0; step /= 2)
      value = fmax(value, __shfl_xor_sync(group_, value, step));
    return value;
  }
  __device__ double sum(double value) const {
    for (int step = kGroup / 2; step > 0; step /= 2) value += __shfl_xor_sync(group_, value, step);
    return value;
  }
  __device__ int smallest(int value) const {
    for (int step = kGroup / 2; step > 0; step /= 2) {
      const int other = __shfl_xor_sync(group_, value, step);
      value = other < value ? other : value;
    }
    return value;
  }

  // --- reading ---

  __device__ std::int64_t entry_of(int row, int c) const { return entry(p_, row, c); }
  __device__ void take_origin(int block) { origin_ = block < 0 ? p_.left : p_.blocks[block]; }
  __device__ double shift_of(int block) const { return shift(p_.blocks[block], origin_); }

  // --- one step of the path ---

  __device__ bool step() {
    switch (phase_) {
      case TracePhase::kFindStart:
        return find_start();
      case TracePhase::kInTail:
        return follow_tail();
      case TracePhase::kFindSource:
        return find_source();
      default:
        return false;
    }
  }
  __device__ void close_segment(int end, int begin) {
    closed_length_ = end - begin;
    at_ = begin;
    phase_ = p_.range_begin + begin == 0 ? TracePhase::kDone : TracePhase::kFindSource;
  }

  // What is the same for all starts in one block.
  struct Block {
    int index;
    int exact;      // slot of the pool + 1, or 0
    double shift;   // puts it on the scale of the origin
    double before;  // content from its first boundary to the last block's (or to `end`, see find_start)
    double after;   // the same from its right edge
  };
  // Starts in a block, two per lane, later ones in lower lanes: equal scores go to the shorter duration.
  __device__ void take_starts(const Block& block, int end, int c, Best* best) const {
    double scores[2];
    const int first = block.index * kBlock;
    for (int i = 0; i < 2; ++i) {
      const int start = first + kBlock - 1 - i * kGroup - lane_;
      const int duration = end - start;
      scores[i] = kNone;
      if (duration < 1 || duration > t_.duration) continue;
      const double bias = t_.bias[static_cast<std::int64_t>(duration - 1) * t_.width + c];
      if (block.exact == 0) {
        scores[i] = static_cast<double>(p_.store.start[entry_of(start, c)]) + bias;
        scores[i] += block.shift + p_.store.start_scale[entry_of(block.index, c)] + block.before;
      } else {
        // Every start with its own content, so that huge scores that do not concern a segment do not touch
        // it.
        const int stop = first + kBlock < end ? first + kBlock : end;
        scores[i] = exact_start(p_, block.exact, start, stop, c) + block.after + bias;
        scores[i] += block.shift;
      }
    }
    const double most = largest(fmax(scores[0], scores[1]));
    if (!(most > best->score)) return;
    const unsigned late = votes(scores[0] == most);
    const unsigned early = votes(scores[1] == most);
    const int back = late != 0 ? first_of(late) : kGroup + first_of(early);
    *best = {most, end - (first + kBlock - 1 - back)};
  }

  __device__ bool find_start() {
    const int end = at_;
    if (end <= 0) return false;
    const int c = label_;
    const int last = (end - 1) / kBlock;
    const int oldest = end - t_.duration;
    const int oldest_block = oldest > 0 ? oldest / kBlock : 0;
    take_origin(last);
    Best best{kNone, 1};
    // Content from the first boundary of the last block to `end` is common to all starts but those in an
    // exact block.
    const int last_exact = p_.store.exact[last];
    double after = last_exact != 0 || t_.tail ? content(p_, last * kBlock, end, c) : 0.0;
    take_starts({last, last_exact, 0.0, after, 0.0}, end, c, &best);
#pragma unroll 1
    for (int nearest = last - 1; nearest >= oldest_block; nearest -= kGroup) {
      // A block per lane: could a start in it still win?
      const int mine = nearest - lane_;
      const bool asked = mine >= oldest_block;
      const std::int64_t at = entry_of(mine, c);
      const int exact = asked ? p_.store.exact[mine] : 0;
      const double shift = asked ? shift_of(mine) : 0.0;
      const double start_bound = asked ? p_.store.start_bound[at] : kNone;
      double before = asked ? p_.store.content[at] : 0.0;
      for (int step = 1; step < kGroup; step *= 2) {
        const double more = __shfl_up_sync(group_, before, static_cast<unsigned>(step), kGroup);
        if (lane_ >= step) before += more;
      }
      before += after;
      const double bound = exact != 0 ? -kNone : shift + start_bound + before + p_.largest_bias[c];
      unsigned open = votes(asked && bound > best.score);
      while (open != 0) {
        const int who = first_of(open);
        Block block{nearest - who, from_lane(exact, who), from_lane(shift, who), from_lane(before, who),
                    after};
        if (block.exact != 0 && who > 0) block.after = from_lane(before, who - 1);
        take_starts(block, end, c, &best);
        open = votes(asked && lane_ > who && bound > best.score);
      }
      after = from_lane(before, kGroup - 1);
    }
    if (oldest < 0 && p_.left_state != nullptr) take_earlier_starts(end, c, after, &best);
    if (t_.tail && tail(p_, origin_, end, c) > best.score) {
      phase_ = TracePhase::kInTail;
      segment_end_ = end;
      return true;
    }
    close_segment(end, end - best.duration);
    return true;
  }

  // Starts left of the window.
  __device__ void take_earlier_starts(int end, int c, double after, Best* best) const {
    const std::int64_t all = p_.range_begin + end;
    const int longest = t_.duration < all ? t_.duration : static_cast<int>(all);
#pragma unroll 1
    for (int shortest = end + 1; shortest <= longest; shortest += kGroup) {
      const int duration = shortest + lane_;
      double score = kNone;
      if (duration <= longest) {
        score = started(p_, origin_, end - duration, c) + after +
                t_.bias[static_cast<std::int64_t>(duration - 1) * t_.width + c];
      }
      const double most = largest(score);
      if (!(most > best->score)) continue;
      *best = {most, shortest + first_of(votes(score == most))};
    }
  }

  // Leftwards along the tail, a block of boundaries at a time: at which did the segment become longer than K?
  __device__ bool follow_tail() {
    const int c = label_;
    const double last_bias = t_.last_bias[c];
#pragma unroll 1
    while (at_ > 0) {
      const int block = at_ >= 2 ? (at_ - 2) / kBlock : -1;  // that ends at the last boundary to try
      take_origin(block >= 0 ? block : (p_.left_state != nullptr ? -1 : 0));
      // Starts lie in block `oldest` and the next one; content from these to `block`.
      const int oldest = (block * kBlock + 1 - t_.duration) >> 4;
      double nearer = 0;
      for (int b = (oldest < 0 ? 0 : oldest + 1) + lane_; b < block; b += kGroup)
        nearer += p_.store.content[entry_of(b, c)];
      nearer = sum(nearer);
      const double farther =
          nearer + (oldest >= 0 && oldest < block ? p_.store.content[entry_of(oldest, c)] : 0.0);
      bool enters[2];
      for (int i = 0; i < 2; ++i) {
        const int before = (block + 1) * kBlock - i * kGroup - lane_;
        const bool tried = before >= 0 && before < at_;
        enters[i] =
            tried &&
            enters_at(before, block, (before - t_.duration) >> 4 == oldest ? farther : nearer, last_bias, c);
      }
      const unsigned late = votes(enters[0]);
      const unsigned early = votes(enters[1]);
      if ((late | early) != 0) {
        const int back = late != 0 ? first_of(late) : kGroup + first_of(early);
        close_segment(segment_end_, (block + 1) * kBlock - back - t_.duration);
        return true;
      }
      at_ = block >= 0 ? block * kBlock + 1 : 0;
    }
    return false;
  }
  // Whether a segment that becomes longer than K at `before` is as good as one that was longer already.
  // `between`: content from the block of its start to `block`, both to their first boundaries.
  __device__ bool enters_at(int before, int block, double between, double last_bias, int c) const {
    const int begin = before - t_.duration;
    if (p_.range_begin + begin < 0 || (begin < 0 && p_.left_state == nullptr)) return false;
    if (before == 0 || begin < 0 || p_.store.exact[block] != 0 || p_.store.exact[begin / kBlock] != 0) {
      const double content = content_sum(p_, begin > 0 ? begin : 0, before, c);
      return started(p_, origin_, begin, c) + content + last_bias >= tail(p_, origin_, before, c);
    }
    // Content within the last block is part of both.
    const double start = static_cast<double>(p_.store.start[entry_of(begin, c)]) +
                         (p_.store.start_scale[entry_of(begin / kBlock, c)] + shift_of(begin / kBlock));
    const double longer = static_cast<double>(p_.store.tail[entry_of(before - 1, c)]) +
                          (p_.store.alpha_scale[entry_of(block, c)] + shift_of(block));
    return start + between + last_bias >= longer;
  }

  // The first label with the largest alpha at the boundary plus transition into `to` (-1: none).
  __device__ int best_label(int boundary, int to) const {
    const int position = boundary - 1;
    double most = kNone;
    int label = t_.labels;
#pragma unroll 1
    for (int c = lane_; c < t_.labels; c += kGroup) {
      double value = boundary == 0 ? p_.left_state[entry_of(t_.duration, c)]
                                   : value_of(p_, p_.store.alpha, p_.store.pool_alpha, p_.store.alpha_scale,
                                              position, c);
      if (to >= 0) value += t_.transition_log[static_cast<std::int64_t>(c) * t_.width + to];
      if (value > most) {
        most = value;
        label = c;
      }
    }
    const double best = largest(most);
    label = smallest(most == best ? label : t_.labels);
    return label < t_.labels ? label : 0;
  }
  __device__ bool find_source() {
    if (at_ < 0) return false;
    label_ = best_label(at_, label_);
    phase_ = TracePhase::kFindStart;
    return at_ > 0;
  }

  const TraceParameters<Real>& p_;
  const TablesView<Real>& t_;
  const int lane_, first_lane_;
  const unsigned group_;
  TracePhase phase_ = TracePhase::kDone;
  int label_ = 0;
  int at_ = 0;  // boundary
  int segment_end_ = 0;
  int closed_length_ = 0;  // of the segment that the last step finished, or 0
  BlockOrigin origin_{};
};

template <class Real>
__global__ void __launch_bounds__(kThreads)
    trace_kernel(const __grid_constant__ TraceParameters<Real> p, int pieces) {
  const int index = static_cast<int>(blockIdx.x * (kThreads / kGroup) + threadIdx.x / kGroup);
  if (index >= pieces) return;
  const TracePiece piece = p.pieces[index];
  Tracer<Real> tracer(p);
  tracer.run(piece, p.results + piece.result);
}

template <class Real>
__global__ void __launch_bounds__(kThreads) place_kernel(const __grid_constant__ TraceParameters<Real> p) {
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (block * kBlock >= p.range_end - p.range_begin) return;
  const BlockOrigin run = p.runs[block * kBlock / p.run];
  p.blocks[block] = {run.whole + p.store.base[block], run.offset};
}

// Records of all pieces one after the other.
__global__ void gather_kernel(const TraceRecord* from, const std::int64_t* first, const std::int64_t* offsets,
                              const int* counts, TraceRecord* to) {
  for (int i = static_cast<int>(threadIdx.x); i < counts[blockIdx.x]; i += static_cast<int>(blockDim.x)) {
    to[offsets[blockIdx.x] + i] = from[first[blockIdx.x] + i];
  }
}

cudaLaunchConfig_t shape(std::int64_t blocks, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  return config;
}

}  // namespace

template <class Real>
void place_blocks(const TraceParameters<Real>& parameters, cudaStream_t stream) {
  const std::int64_t blocks = (parameters.range_end - parameters.range_begin + kBlock - 1) / kBlock;
  const cudaLaunchConfig_t config = shape((blocks + kThreads - 1) / kThreads, stream);
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, place_kernel<Real>, parameters));
}
template <class Real>
void trace_pieces(const TraceParameters<Real>& parameters, int pieces, cudaStream_t stream) {
  const cudaLaunchConfig_t config = shape((pieces * kGroup + kThreads - 1) / kThreads, stream);
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, trace_kernel<Real>, parameters, pieces));
}
template void place_blocks<float>(const TraceParameters<float>&, cudaStream_t);
template void place_blocks<double>(const TraceParameters<double>&, cudaStream_t);
template void trace_pieces<float>(const TraceParameters<float>&, int, cudaStream_t);
template void trace_pieces<double>(const TraceParameters<double>&, int, cudaStream_t);

void gather_records(const TraceRecord* from, const std::int64_t* first, const std::int64_t* offsets,
                    const int* counts, int pieces, TraceRecord* to, cudaStream_t stream) {
  const cudaLaunchConfig_t config = shape(pieces, stream);
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, gather_kernel, from, first, offsets, counts, to));
}

}  // namespace semicrf::cuda
