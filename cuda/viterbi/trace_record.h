// The segments of a path as the traceback writes them, right to left: 4 bytes each, since they travel from
// the device to the host, length << kRecordLabelBits | label. Where the length has no room it is kLongLength,
// and the next record is the length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/segment.h"
#include "cuda/tables/limits.h"

namespace semicrf::cuda {

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
