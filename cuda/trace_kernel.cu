// The Viterbi traceback, in pieces at a time: a warp per piece follows the best path right to left through
// the stored messages (docs/algorithm.md, "Viterbi without back-pointers"). The rightmost piece starts from
// the cursor. The others start some way right of their piece from the label that is best there; paths run
// together soon. The host checks that each piece passed through the state in which the piece to its right
// left it, and sends out a warp again where not.
#include "cuda/cuda_check.h"
#include "cuda/numbers.cuh"
#include "cuda/trace_launch.h"

namespace semicrf::cuda {
namespace {

template <class Real>
class Tracer {
 public:
  __device__ Tracer(const TraceParameters<Real>& p)
      : p_(p), t_(p.tables), lane_(static_cast<int>(threadIdx.x % 32)) {}

  __device__ void run(const TracePiece& piece, TraceResult* result) {
    at_ = piece.start;
    if (piece.guess) {
      take_origin(at_.boundary - 1);
      at_.label = best_label(at_.boundary, -1);
    }
    TraceResult out;
    out.records = 0;
    out.blocked = 0;
    bool entered = at_.boundary <= piece.right && !piece.guess;
    if (entered) out.entry = at_;
    bool moved = true;
    TraceRecord* records = p_.records + piece.out;
    // Where the window begins the path stops by itself, when it needs what lies left of it.
    const bool leftmost = piece.left == p_.range_begin;
    while (moved && at_.phase != TracePhase::kDone && !(entered && !leftmost && at_.boundary <= piece.left)) {
      closed_ = false;
      moved = step();
      if (!closed_) continue;
      if (entered) {
        if (lane_ == 0)
          records[out.records] = {static_cast<int>(at_.boundary - p_.range_begin), closed_label_};
        ++out.records;
      } else if (at_.boundary <= piece.right) {
        entered = true;
        out.entry = at_;
      }
    }
    out.blocked = !moved ? 1 : 0;
    if (!entered) {
      out.entry = at_;
      out.entry.phase = TracePhase::kFindStart;
      out.entry.boundary = -1;  // never met
    }
    out.exit = at_;
    if (lane_ == 0) *result = out;
  }

 private:
  struct Best {
    double score;
    std::int64_t duration;
  };

  // --- reading ---

  __device__ std::int64_t row_of(std::int64_t token) const { return token - p_.store.first_token; }
  __device__ std::int64_t run_of(std::int64_t token) const { return (token - p_.range_begin) / p_.run; }
  __device__ void take_origin(std::int64_t token) {
    origin_whole_ = token < p_.range_begin ? p_.left_whole : p_.run_whole[run_of(token)];
    origin_offset_ = token < p_.range_begin ? p_.left_offset : p_.run_offset[run_of(token)];
  }
  // Puts values of a token's run on the scale of the origin, which lies near.
  __device__ double shift_of(std::int64_t token) const {
    const std::int64_t run = run_of(token);
    const std::int64_t block = row_of(token) / kBlock;
    return (p_.run_whole[run] + p_.store.base[block] - origin_whole_) + (p_.run_offset[run] - origin_offset_);
  }
  __device__ double left_shift() const {
    return (p_.left_whole - origin_whole_) + (p_.left_offset - origin_offset_);
  }
  __device__ int pool_of(std::int64_t token) const { return p_.store.exact[row_of(token) / kBlock]; }
  __device__ std::int64_t pool_at(int pool, std::int64_t token, int c) const {
    return (static_cast<std::int64_t>(pool - 1) * kBlock + row_of(token) % kBlock) * t_.labels + c;
  }
  __device__ double value_of(const Real* numbers, const double* pool, const double* scale, std::int64_t token,
                             int c) const {
    const int exact = pool_of(token);
    if (exact != 0) return pool[pool_at(exact, token, c)] + shift_of(token);
    return static_cast<double>(numbers[row_of(token) * t_.labels + c]) +
           (scale[row_of(token) / kBlock * t_.labels + c] + shift_of(token));
  }
  __device__ double alpha(std::int64_t boundary, int c) const {
    return value_of(p_.store.alpha, p_.store.pool_alpha, p_.store.alpha_scale, boundary - 1, c);
  }
  // The tail's share of alpha without the end score, content summed up to the boundary.
  __device__ double tail(std::int64_t boundary, int c) const {
    if (boundary == p_.range_begin) {
      return p_.left_state == nullptr
                 ? kNone
                 : p_.left_state[static_cast<std::int64_t>(t_.duration + 1) * t_.labels + c] + left_shift();
    }
    const double share = value_of(p_.store.tail, p_.store.pool_tail, p_.store.alpha_scale, boundary - 1, c);
    if (pool_of(boundary - 1) != 0) return share;
    return share + content(block_begin(boundary - 1), boundary, c);
  }
  __device__ std::int64_t block_begin(std::int64_t token) const { return token / kBlock * kBlock; }

  // Centred emission of one position, without its shift.
  __device__ double score(std::int64_t token, int c) const {
    const std::int64_t row = token - p_.sequence.begin;
    const std::int64_t at = row * t_.labels;
    const DeviceScores& f = p_.sequence.emissions;
    double value = f.f32 != nullptr ? static_cast<double>(f.f32[at + c]) : f.f64[at + c];
    if (p_.sequence.subtract_position_max) {
      double most = kNone;
      for (int other = 0; other < t_.labels; ++other) {
        most = fmax(most, f.f32 != nullptr ? static_cast<double>(f.f32[at + other]) : f.f64[at + other]);
      }
      if (most != kNone) value -= most;
    }
    if (p_.sequence.baseline != nullptr) value -= p_.sequence.baseline[c];
    return value - p_.store.shift[row_of(token)];
  }
  // Of positions of one block.
  __device__ double content(std::int64_t begin, std::int64_t end, int c) const {
    double sum = 0;
    for (std::int64_t token = begin; token < end; ++token) sum += score(token, c);
    return sum;
  }
  __device__ double block_content(std::int64_t token, int c) const {
    return p_.store.content[row_of(token) / kBlock * t_.labels + c];
  }
  __device__ double content_sum(std::int64_t begin, std::int64_t end, int c) const {
    double sum = 0;
    while (begin < end) {
      const std::int64_t first = block_begin(begin);
      const std::int64_t stop = first + kBlock < end ? first + kBlock : end;
      sum += begin == first && stop == first + kBlock ? block_content(begin, c) : content(begin, stop, c);
      begin = stop;
    }
    return sum;
  }
  // Everything before a segment that starts at `boundary`, with its start score and, left of the window, its
  // content up to the window's edge.
  __device__ double started(std::int64_t boundary, int c) const {
    if (boundary < p_.range_begin) {
      return p_.left_state[(p_.range_begin - boundary - 1) * t_.labels + c] + left_shift();
    }
    const double value = value_of(p_.store.start, p_.store.pool_start, p_.store.start_scale, boundary, c);
    if (pool_of(boundary) != 0) return value;
    return value + content(block_begin(boundary), boundary, c);
  }

  // --- one step of the path ---

  __device__ bool step() {
    switch (at_.phase) {
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
  __device__ void close_segment(std::int64_t begin) {
    closed_ = true;
    closed_label_ = at_.label;
    at_.boundary = begin;
    at_.phase = begin == 0 ? TracePhase::kDone : TracePhase::kFindSource;
  }

  // Best over the warp; equal scores: the shorter duration.
  __device__ Best best_of(Best mine) const {
    for (int step = 16; step > 0; step /= 2) {
      const double score = __shfl_xor_sync(0xffffffffu, mine.score, step);
      const long long duration = __shfl_xor_sync(0xffffffffu, static_cast<long long>(mine.duration), step);
      if (score > mine.score || (score == mine.score && duration < mine.duration)) {
        mine.score = score;
        mine.duration = duration;
      }
    }
    return mine;
  }

  __device__ bool find_start() {
    const std::int64_t end = at_.boundary;
    if (end <= p_.range_begin) return false;
    const int c = at_.label;
    take_origin(end - 1);
    const std::int64_t oldest = end - t_.duration;
    const std::int64_t leftmost = oldest > p_.range_begin ? oldest : p_.range_begin;
    Best best{kNone, 1};
    std::int64_t first = block_begin(end - 1);
    // Content from the first boundary of the last block to `end` is common to all starts but those in an
    // exact block.
    double after = pool_of(end - 1) != 0 || t_.tail ? content(first, end, c) : 0.0;
    for (bool last_block = true;; last_block = false) {
      const int exact = pool_of(first);
      const double before = last_block ? after : after + block_content(first, c);
      double bound = -kNone;
      if (exact == 0 && !last_block) {
        bound = shift_of(first) + p_.store.start_bound[row_of(first) / kBlock * t_.labels + c] + before +
                p_.largest_bias[c];
      }
      if (bound > best.score) {
        Best mine{kNone, t_.duration + 1};
        const std::int64_t s = first + lane_;
        if (lane_ < kBlock && s < end && s >= oldest) {
          const double bias = t_.bias[(end - s - 1) * t_.width + c];
          double start = 0;
          if (exact == 0) {
            start = static_cast<double>(p_.store.start[row_of(s) * t_.labels + c]) + bias;
            start += shift_of(s) + p_.store.start_scale[row_of(s) / kBlock * t_.labels + c] + before;
          } else {
            // Every start with its own content, so that huge scores that do not concern a segment do not
            // touch it.
            const std::int64_t stop = last_block ? end : first + kBlock;
            start = p_.store.pool_start[pool_at(exact, s, c)] + (last_block ? 0.0 : after) +
                    content(s, stop, c) + bias;
            start += shift_of(s);
          }
          mine = {start, end - s};
        }
        const Best here = best_of(mine);
        if (here.score > best.score) best = here;
      }
      after = before;
      if (first <= leftmost) break;
      first -= kBlock;
    }
    if (oldest < p_.range_begin && p_.left_state != nullptr) {
      const std::int64_t longest = t_.duration < end ? t_.duration : end;
      for (std::int64_t k = end - p_.range_begin + 1; k <= longest; k += 32) {
        Best mine{kNone, t_.duration + 1};
        if (k + lane_ <= longest) {
          const std::int64_t duration = k + lane_;
          mine = {started(end - duration, c) + after + t_.bias[(duration - 1) * t_.width + c], duration};
        }
        const Best here = best_of(mine);
        if (here.score > best.score) best = here;
      }
    }
    if (t_.tail && tail(end, c) > best.score) {
      at_.phase = TracePhase::kInTail;
      at_.segment_end = end;
      return true;
    }
    close_segment(end - best.duration);
    return true;
  }

  __device__ bool follow_tail() {
    const int c = at_.label;
    const double last_bias = t_.last_bias[c];
    while (at_.boundary > p_.range_begin) {
      take_origin(at_.boundary - 2 >= p_.range_begin ? at_.boundary - 2
                                                     : p_.range_begin - (p_.left_state != nullptr));
      const std::int64_t before = at_.boundary - lane_ - 1;
      const std::int64_t begin = before - t_.duration;
      bool enters = false;
      if (before >= p_.range_begin && begin >= 0 && (begin >= p_.range_begin || p_.left_state != nullptr)) {
        const double sum = content_sum(begin > p_.range_begin ? begin : p_.range_begin, before, c);
        enters = started(begin, c) + sum + last_bias >= tail(before, c);
      }
      const unsigned votes = __ballot_sync(0xffffffffu, enters);
      if (votes != 0) {
        at_.boundary -= __ffs(static_cast<int>(votes)) - 1;
        close_segment(at_.boundary - 1 - t_.duration);
        return true;
      }
      const std::int64_t next = at_.boundary - 32;
      at_.boundary = next > p_.range_begin ? next : p_.range_begin;
    }
    return false;
  }

  // The first label with the largest alpha at the boundary plus transition into `to` (-1: none).
  __device__ int best_label(std::int64_t boundary, int to) const {
    double most = kNone;
    int label = t_.labels;
    for (int c = lane_; c < t_.labels; c += 32) {
      double value = boundary == p_.range_begin
                         ? p_.left_state[static_cast<std::int64_t>(t_.duration) * t_.labels + c]
                         : alpha(boundary, c);
      if (to >= 0) value += t_.transition_log[static_cast<std::int64_t>(c) * t_.width + to];
      if (value > most || (label == t_.labels && value == most)) {
        most = value;
        label = c;
      }
    }
    for (int step = 16; step > 0; step /= 2) {
      const double other = __shfl_xor_sync(0xffffffffu, most, step);
      const int theirs = __shfl_xor_sync(0xffffffffu, label, step);
      if (other > most || (other == most && theirs < label)) {
        most = other;
        label = theirs;
      }
    }
    return label < t_.labels ? label : 0;
  }
  __device__ bool find_source() {
    const std::int64_t boundary = at_.boundary;
    if (boundary < p_.range_begin) return false;
    if (boundary > p_.range_begin) take_origin(boundary - 1);
    at_.label = best_label(boundary, at_.label);
    at_.phase = TracePhase::kFindStart;
    return boundary > p_.range_begin;
  }

  const TraceParameters<Real>& p_;
  const TablesView<Real>& t_;
  const int lane_;
  TraceState at_;
  bool closed_ = false;
  int closed_label_ = 0;
  double origin_whole_ = 0, origin_offset_ = 0;
};

template <class Real>
__global__ void __launch_bounds__(32) trace_kernel(const __grid_constant__ TraceParameters<Real> p) {
  Tracer<Real> tracer(p);
  tracer.run(p.pieces[blockIdx.x], p.results + blockIdx.x);
}

// Records of all pieces one after the other.
__global__ void gather_kernel(const TraceRecord* from, const std::int64_t* first, const std::int64_t* offsets,
                              const int* counts, TraceRecord* to) {
  for (int i = static_cast<int>(threadIdx.x); i < counts[blockIdx.x]; i += static_cast<int>(blockDim.x)) {
    to[offsets[blockIdx.x] + i] = from[first[blockIdx.x] + i];
  }
}

}  // namespace

template <class Real>
void trace_pieces(const TraceParameters<Real>& parameters, int pieces, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(pieces));
  config.blockDim = dim3(32);
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, trace_kernel<Real>, parameters));
}
template void trace_pieces<float>(const TraceParameters<float>&, int, cudaStream_t);
template void trace_pieces<double>(const TraceParameters<double>&, int, cudaStream_t);

void gather_records(const TraceRecord* from, const std::int64_t* first, const std::int64_t* offsets,
                    const int* counts, int pieces, TraceRecord* to, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(pieces));
  config.blockDim = dim3(128);
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, gather_kernel, from, first, offsets, counts, to));
}

}  // namespace semicrf::cuda
