// How the traceback through a window is cut up. Pure functions, tested without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/segment.h"
#include "cuda/tables/limits.h"

namespace semicrf::cuda {

// Positions per piece of a traceback, and how far right of it a path that is not known yet begins: functions
// of the model and the window.
struct TraceCut {
  std::int64_t piece = 0, halo = 0;
};
TraceCut trace_cut(std::int64_t positions, int max_duration);

// Pieces go out in so many batches: while the path through one is copied to the host, the next ones are
// followed.
inline constexpr std::size_t kMostTraceBatches = 4;
std::size_t trace_batches(std::size_t pieces);

// Threads and shared memory of the traceback. Not staged: what a warp reads of the newest blocks comes from
// memory step by step.
struct TraceShape {
  bool staged = false;
  int warps = 8;   // per block of threads, a piece each
  int newest = 0;  // durations 1 .. newest are looked at in shared memory
  // Bytes of the scores that all warps share, and of a block of positions
  int table_bytes = 0, slot_bytes = 0;
  std::size_t shared_bytes = 0;
};
// Bytes per block of a BlockOrigin and a BlockLink.
inline constexpr std::size_t kTracePlaceBytes = 32;
inline constexpr int kTraceSlots = 3;  // blocks of positions per warp
// Bytes of what a slot holds per label, before the link.
SEMICRF_BOTH constexpr unsigned slot_link(unsigned labels) { return (labels * 36 + 7) / 8 * 8; }
TraceShape trace_shape(int labels, int max_duration, bool tail, std::size_t real_bytes,
                       std::size_t shared_limit);

// The segments of a path as the traceback writes them, right to left: 4 bytes each, since they travel from
// the device to the host, length << kRecordLabelBits | label. Where the length has no room it is kLongLength,
// and the next record is the length.
using TraceRecord = std::uint32_t;
inline constexpr int kRecordLabelBits = 16;
inline constexpr int kLongLength = (1 << (32 - kRecordLabelBits)) - 1;
SEMICRF_BOTH constexpr TraceRecord record_of(int length, int label) {
  return static_cast<TraceRecord>(length) << kRecordLabelBits | static_cast<TraceRecord>(label);
}
// The records of segments that end in a stretch of so many positions, at most: a long one takes two, and as
// many positions, but for the last, which may begin left of them.
constexpr std::int64_t most_records(std::int64_t positions) { return positions + 2; }

// Makes segments of records that come part by part.
class RecordReader {
 public:
  RecordReader() = default;
  explicit RecordReader(std::int64_t end) : end_(end) {}  // end of the first segment
  void read(std::span<const TraceRecord> records, std::vector<Segment>& reversed);

 private:
  std::int64_t end_ = 0;
  int long_label_ = -1;  // label of a segment whose length is still to come, or -1
};

}  // namespace semicrf::cuda
