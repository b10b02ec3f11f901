// The best segmentation without back-pointers (docs/algorithm.md, section 7): the traceback takes the argmax
// again, along the best path alone. Ties are decided by the rule of engine/engine.h.
//
// The grid is one block of 32 threads, of which one works, as a step needs the one before it; no shared
// memory. O(K + C) per segment, O(K) per position of a tail.
#include "cuda/plain/plain_launch.h"
#include "cuda/plain/plain_segments.cuh"

namespace semicrf::cuda {
namespace {

// The start of the segment of cursor.label that ends at cursor.boundary: the smallest of equally good
// durations, any duration within K before the tail. 0: it is longer than K; -1: there is no segment.
__device__ int best_duration(const PlainSequence& x, const PlainForward& m, const TraceCursor& cursor) {
  const std::int64_t end = cursor.boundary;
  double best = kNegativeInfinity;
  int duration = -1;
  for_each_open_segment(x, m, end, cursor.label, x.max_duration, m.level[end], [&](int k, double open) {
    const double score = open + duration_score(x, k, cursor.label);
    if (score > best) duration = k;
    best = fmax(best, score);
  });
  return x.log_tail != nullptr && m.tail[end * x.labels + cursor.label] > best ? 0 : duration;
}

// The duration where the path has followed the tail to cursor.boundary: K+1 where the segment entered it
// there.
__device__ int duration_in_tail(const PlainSequence& x, const PlainForward& m, const TraceCursor& cursor) {
  const std::int64_t t = cursor.boundary;
  double opened = kNegativeInfinity;
  for_each_open_segment(x, m, t, cursor.label, x.max_duration + 1, m.level[t], [&](int k, double open) {
    if (k > x.max_duration) opened = open;
  });
  const TailEntries entries = tail_entries(x, m, t, cursor.label, opened, m.level[t]);
  if (entries.continuing > entries.entering) return 0;
  return entries.entering > kNegativeInfinity ? x.max_duration + 1 : -1;
}

// The smallest of equally good labels before a segment of cursor.label that starts at cursor.boundary; -1:
// none.
__device__ int best_source(const PlainSequence& x, const PlainForward& m, const TraceCursor& cursor) {
  double best = kNegativeInfinity;
  int source = -1;
  for (int from = 0; from < x.labels; ++from) {
    const double score =
        m.alpha[cursor.boundary * x.labels + from] + x.transition[from * x.labels + cursor.label];
    if (score > best) source = from;
    best = fmax(best, score);
  }
  return source;
}

// Follows the path segment by segment, with one thread.
__global__ void trace_kernel(PlainSequence x, PlainForward m, PlainPath* path, Segment* segments) {
  using Phase = TraceCursor::Phase;
  if (threadIdx.x > 0) return;
  TraceCursor at = path->cursor;
  int count = 0;
  while (at.phase != Phase::kDone && count >= 0 && count < PlainPath::kRoom) {
    if (at.phase == Phase::kFindSource) {
      const int source = best_source(x, m, at);
      if (source < 0) count = -1;
      at = {Phase::kFindStart, at.boundary, 0, source};
      continue;
    }
    const bool in_tail = at.phase == Phase::kInTail;
    const int duration = in_tail ? duration_in_tail(x, m, at) : best_duration(x, m, at);
    if (duration < 0) {
      count = -1;
    } else if (duration == 0) {  // the tail goes on to the left
      at = {Phase::kInTail, in_tail ? at.boundary - 1 : at.boundary, in_tail ? at.segment_end : at.boundary,
            at.label};
    } else {
      const std::int64_t begin = at.boundary - duration;
      const std::int64_t end = in_tail ? at.segment_end : at.boundary;
      segments[count++] = {begin, end, at.label};
      at = {begin == 0 ? Phase::kDone : Phase::kFindSource, begin, end, at.label};
    }
  }
  path->cursor = at;
  path->count = count;
}

}  // namespace

void run_traceback(const PlainSequence& sequence, const PlainForward& messages, PlainPath* path,
                   Segment* segments, cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(launch(trace_kernel, LaunchShape{1, 32}, stream, sequence, messages, path, segments));
}

}  // namespace semicrf::cuda
