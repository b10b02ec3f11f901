// The Viterbi traceback, in pieces at a time: a warp per piece follows the best path right to left through
// the stored messages (docs/algorithm.md, "Viterbi without back-pointers"). The rightmost piece starts from
// the cursor. The others start some way right of their piece from the label that is best there; paths run
// together soon. The host checks that each piece passed through the state in which the piece to its right
// left it, and sends out a warp again where not.
//
// Each step waits for the one before, so its latency is what counts: the blocks that the path is in lie in
// shared memory before it gets there (trace_ring.cuh), a lane is one of the newest 32 starts, then a source,
// and one number per block and label says that nothing older can win. Positions are relative to the window's
// first one.
#include "cuda/device/launch.h"
#include "cuda/viterbi/trace_launch.h"
#include "cuda/viterbi/trace_ring.cuh"

namespace semicrf::cuda {

namespace {

constexpr int kThreads = 128;  // threads of kernels without staged blocks
constexpr int kMostWarps = 8;  // per block of threads, see trace_shape

// Without a branch, at which lanes would wait for each other.
__device__ __forceinline__ void store_if(bool wanted, TraceRecord* to, TraceRecord record) {
#if defined(__CUDA_ARCH__)
  asm volatile("{ .reg .pred wanted; setp.ne.s32 wanted, %0, 0; @wanted st.global.u32 [%1], %2; }" ::"r"(
                   static_cast<int>(wanted)),
               "l"(to), "r"(record)
               : "memory");
#else
  if (wanted) *to = record;
#endif
}

template <class Real, bool kFew, bool kTails>
class Tracer {
 public:
  __device__ Tracer(const TraceParameters<Real>& p, unsigned warp) : p_(p), ring_(p, warp) {}

  __device__ __forceinline__ void run(const TracePiece& piece, TraceResult* result) {
    phase_ = piece.start.phase;
    label_ = piece.start.label;
    at_ = relative(piece.start.boundary);
    if (phase_ == TracePhase::kInTail) segment_end_ = relative(piece.start.segment_end);
    const int right = relative(piece.right);
    const int left = relative(piece.left);
    if (piece.guess != 0) label_ = semicrf::cuda::find_source(p_, at_, -1);
    bool entered = at_ <= right && piece.guess == 0;
    const bool writes = lane_of_warp() == 0;
    if (writes)
      result->entry = entered ? state() : TraceState{-1, 0, TracePhase::kFindStart, 0};  // never met
    TraceRecord* const records = p_.records + piece.out;
    next_ = records;
    // Where the window begins the path stops by itself, when it needs what lies left of it.
    bool moved = phase_ != TracePhase::kDone && !(entered && left != 0 && at_ <= left);
    const bool begun = moved;
    int length = 0;
    while (moved) {
      ring_.move_to(at_, length);
      length = kNotHere;
      if (phase_ == TracePhase::kFindSource) {
        moved = find_source();
        if (!moved) break;
      }
      if (phase_ == TracePhase::kFindStart) {
        length = take_short_steps(entered ? left : right, entered);
        if (phase_ == TracePhase::kFindSource) continue;
      }
      if (length == kNotHere) {
        length = find_far_start();
        moved = length != 0;
        if (!moved) break;
      }
      at_ -= length;
      phase_ = TracePhase::kFindSource;
      if (entered) write(length);
      if (at_ <= (entered ? left : right)) {
        if (at_ == sequence_begin(p_, at_ / kBlock)) phase_ = TracePhase::kDone;
        if (!entered && writes) result->entry = state();
        entered = true;
        if (phase_ == TracePhase::kDone || (left != 0 && at_ <= left)) break;
      }
    }
    ring_.drop();
    if (writes) {
      result->exit = state();
      result->records = static_cast<int>(next_ - records);
      result->blocked = begun && !moved ? 1 : 0;
    }
  }

 private:
  // Steps that stay in the block here, right of `stop`, with one branch each: a branch costs as much as some
  // ten instructions. Returns the length of the segment under the cursor then, kNotHere where it takes more
  // to find; or the segment before it is known, and its label takes more: its phase is kFindSource.
  __device__ __forceinline__ int take_short_steps(int stop, bool entered) {
    if (ring_.may_step(at_)) {
      const int first = larger(stop + 1, ring_.first_boundary());
      const unsigned writes = kept(entered && lane_of_warp() == 0 ? 1 : 0), counts = kept(entered ? 1 : 0);
      TraceRecord* to = next_;
      int at = at_, label_after = label_;
      Found label{label_, true}, length;
      for (;;) {
        length = ring_.find_start_quickly(at, static_cast<unsigned>(label.value));
        const int begin = at - length.value;
        const auto source = ring_.best_source(begin, static_cast<unsigned>(label.value));
        if (!(label.sure && length.sure && begin >= first)) break;
        store_if(writes != 0, to, record_of(length.value, label.value));
        to += counts;
        at = begin;
        label_after = label.value;
        label = ring_.quick_source(source);
      }
      at_ = at;
      next_ = to;
      if (!label.sure) {
        label_ = label_after;
        phase_ = TracePhase::kFindSource;
        return 0;
      }
      label_ = label.value;
      if (length.sure) return length.value;
    }
    return ring_.find_start(at_, static_cast<unsigned>(label_));
  }
  __device__ __forceinline__ void write(int length) {
    const bool is_long = length >= kLongLength;
    if (lane_of_warp() == 0) {
      next_[0] = record_of(is_long ? kLongLength : length, label_);
      if (is_long) next_[1] = static_cast<TraceRecord>(length);
    }
    next_ += is_long ? 2 : 1;
  }
  __device__ int relative(std::int64_t position) const { return static_cast<int>(position - p_.range_begin); }
  __device__ TraceState state() const {
    return {p_.range_begin + at_, p_.range_begin + segment_end_, phase_, label_};
  }

  // The length of the segment under the cursor, which is moved to the segment's end; 0 when that needs what
  // lies left of the window.
  __device__ __forceinline__ int find_far_start() {
    if (phase_ == TracePhase::kFindStart) {
      if (at_ <= 0) return 0;
      const int duration = semicrf::cuda::find_start(p_, at_, label_);
      if (duration != kIntoTail) return duration;
      phase_ = TracePhase::kInTail;
      segment_end_ = at_;
    }
    const int begin = follow_tail(p_, at_, label_);
    at_ = begin == kNotHere ? 0 : segment_end_;
    return begin == kNotHere ? 0 : segment_end_ - begin;
  }
  // The label before the segment that begins at the cursor. False: what lies left of the window is needed.
  __device__ __forceinline__ bool find_source() {
    if (at_ < 0) return false;
    const int label = ring_.find_source(at_, static_cast<unsigned>(label_));
    label_ = label != kNotHere ? label : semicrf::cuda::find_source(p_, at_, label_);
    phase_ = TracePhase::kFindStart;
    return at_ > 0;
  }

  const TraceParameters<Real>& p_;
  TraceRing<Real, kFew, kTails> ring_;
  TraceRecord* next_ = nullptr;
  TracePhase phase_ = TracePhase::kDone;
  int label_ = 0;
  int at_ = 0;  // boundary
  int segment_end_ = 0;
};

template <class Real, bool kFew, bool kTails>
__global__ void __launch_bounds__(kMostWarps * 32, 2)
    trace_kernel(const __grid_constant__ TraceParameters<Real> p, int first, int pieces) {
  const unsigned warp = threadIdx.x / 32;
  if (p.shape.staged) load_tables(p);
  const int index = static_cast<int>(blockIdx.x) * p.shape.warps + static_cast<int>(warp);
  if (index >= pieces) return;
  const TracePiece piece = p.pieces[first + index];
  Tracer<Real, kFew, kTails>(p, warp).run(piece, p.results + piece.result);
}

template <class Real>
__device__ BlockOrigin place_of(const TraceParameters<Real>& p, std::int64_t block) {
  const BlockOrigin run = p.runs[block * kBlock / p.run];
  return {run.whole + p.store.base[block], run.offset};
}
// Whether nothing left of a block is part of paths through it, but for the window's left state.
template <class Real>
__device__ bool begins_anew(const TraceParameters<Real>& p, std::int64_t block) {
  return block == 0 || (p.sequence_of != nullptr && p.sequence_of[block] != p.sequence_of[block - 1]);
}
template <class Real>
__global__ void __launch_bounds__(kThreads) place_kernel(const __grid_constant__ TraceParameters<Real> p) {
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (block * kBlock >= p.range_end - p.range_begin) return;
  const BlockOrigin own = place_of(p, block);
  p.blocks[block] = own;
  const bool anew = begins_anew(p, block);
  p.links[block] = {anew ? 0.0 : shift(place_of(p, block - 1), own), p.store.exact[block], anew ? 0 : kBlock};
}

// far_key: for a segment that ends in this block, a bound of all starts left of the block before, on the
// scale of this one, as upper_key; the largest of all where an exact block or the window's left edge is in
// reach, since nothing is known of these, and where the label has a forbidden position in the two newest
// blocks. A thread per label of a stretch of blocks: starts out of reach that the stretch has passed stay in
// the bound.
constexpr int kStretch = 32;
template <class Real>
__global__ void __launch_bounds__(kThreads) bound_kernel(const __grid_constant__ TraceParameters<Real> p) {
  const int labels = p.tables.labels;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int first = static_cast<int>(index / labels) * kStretch;
  const int c = static_cast<int>(index % labels);
  const int blocks = static_cast<int>((p.range_end - p.range_begin + kBlock - 1) / kBlock);
  if (first >= blocks) return;
  const int stop = first + kStretch < blocks ? first + kStretch : blocks;
  const int reach = (p.tables.duration + kBlock - 2) / kBlock;  // blocks in which a segment may start
  int last_exact = -1;
  double most = kNone;  // largest start left of block - 1, at the left edge of `block`
  double size = 0;      // largest magnitude of what was added up
  const auto note = [&](double x) {
    if (x > kNone) size = fmax(size, fabs(x));
  };
  double before = 0;
  for (int block = first - 1; block >= 0 && block >= first - reach; --block) {
    if (p.links[block + 1].before == 0) break;
    if (last_exact < 0 && p.links[block].exact != 0) last_exact = block;
    before += p.store.content[entry(p, block, c)] + p.links[block + 1].shift;
    note(before);
    if (block < first - 1 && p.links[block].exact == 0) {
      const double start = p.store.gamma_bound[entry(p, block, c)];
      note(start);
      most = fmax(most, start + before);
    }
  }
  for (int block = first; block < stop; ++block) {
    if (p.links[block].before == 0) {
      last_exact = -1;
      most = kNone;
      size = 0;
    } else if (block > first) {
      if (block > 1 && p.links[block - 1].before != 0 && p.links[block - 2].exact == 0) {
        const double start = p.store.gamma_bound[entry(p, block - 2, c)];
        note(start);
        most = fmax(most, start + p.store.content[entry(p, block - 2, c)] + p.links[block - 1].shift);
      }
      const double more = p.store.content[entry(p, block - 1, c)] + p.links[block].shift;
      note(more);
      most += more;
      note(most);
    }
    if (p.links[block].exact != 0) last_exact = block;
    const unsigned cuts =
        p.store.cuts[entry(p, block, c)] | (block > 0 ? p.store.cuts[entry(p, block - 1, c)] : 0u);
    const bool unknown = (last_exact >= 0 && block - last_exact <= reach + 1) ||
                         (p.left_state != nullptr && block <= reach) || cuts != 0;
    double bound = most + p.tables.largest_bias[c];
    if (bound > kNone) bound += 1e-6 + 1e-12 * (size + fabs(p.tables.largest_bias[c]));
    p.far_key[entry(p, block, c)] = unknown ? 2147483647 : upper_key(reach < 2 ? kNone : bound);
  }
}

// Records of all pieces one after the other.
__global__ void gather_kernel(const TraceRecord* from, const GatherTask* tasks, TraceRecord* to) {
  const GatherTask task = tasks[blockIdx.x];
  for (std::int64_t i = static_cast<int>(threadIdx.x); i < task.count; i += static_cast<int>(blockDim.x))
    to[task.to + i] = from[task.from + i];
}

}  // namespace

template <class Real>
void place_blocks(const TraceParameters<Real>& parameters, cudaStream_t stream) {
  const std::int64_t blocks = (parameters.range_end - parameters.range_begin + kBlock - 1) / kBlock;
  SEMICRF_CUDA_CHECK(launch(place_kernel<Real>, shape_for(blocks, kThreads), stream, parameters));
  const std::int64_t threads = (blocks + kStretch - 1) / kStretch * parameters.tables.labels;
  SEMICRF_CUDA_CHECK(launch(bound_kernel<Real>, shape_for(threads, kThreads), stream, parameters));
}
template <class Real>
void trace_pieces(const TraceParameters<Real>& parameters, int first, int pieces, cudaStream_t stream) {
  const bool few = parameters.tables.labels <= 32;
  const auto kernel = parameters.tables.tail != 0
                          ? (few ? trace_kernel<Real, true, true> : trace_kernel<Real, false, true>)
                          : (few ? trace_kernel<Real, true, false> : trace_kernel<Real, false, false>);
  const int warps = parameters.shape.warps;
  const LaunchShape shape{(pieces + warps - 1) / warps, warps * 32, parameters.shape.shared_bytes};
  SEMICRF_CUDA_CHECK(launch(kernel, shape, stream, parameters, first, pieces));
}
template void place_blocks<float>(const TraceParameters<float>&, cudaStream_t);
template void place_blocks<double>(const TraceParameters<double>&, cudaStream_t);
template void trace_pieces<float>(const TraceParameters<float>&, int, int, cudaStream_t);
template void trace_pieces<double>(const TraceParameters<double>&, int, int, cudaStream_t);

void gather_records(const TraceRecord* from, const GatherTask* tasks, int count, TraceRecord* to,
                    cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(launch(gather_kernel, {count, kThreads}, stream, from, tasks, to));
}

}  // namespace semicrf::cuda
