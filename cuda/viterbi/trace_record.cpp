#include "cuda/viterbi/trace_record.h"

namespace semicrf::cuda {

void RecordReader::read(std::span<const TraceRecord> records, std::vector<Segment>& reversed) {
  reversed.reserve(reversed.size() + records.size());
  for (const TraceRecord record : records) {
    std::int64_t length = record;
    int label = long_label_;
    if (label < 0) {
      length = record >> kRecordLabelBits;
      label = static_cast<int>(record & ((TraceRecord{1} << kRecordLabelBits) - 1));
      if (length == kLongLength) {
        long_label_ = label;
        continue;
      }
    }
    long_label_ = -1;
    reversed.push_back({end_ - length, end_, label});
    end_ -= length;
  }
}

}  // namespace semicrf::cuda
