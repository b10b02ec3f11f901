#include "cuda/viterbi/trace_shape.h"

#include <algorithm>

namespace semicrf::cuda {

TraceCut trace_cut(std::int64_t positions, int max_duration) {
  constexpr std::int64_t kAtOnce = 1 << 11;  // on a large card
  constexpr std::int64_t kShortest = 64;
  TraceCut cut;
  cut.halo = 2 * static_cast<std::int64_t>(max_duration) + 128;
  // Two pieces for every warp, so that paths come down while others are followed; fewer where most of the
  // work would be halos. Where the card is not full, shorter pieces are sooner done.
  for (std::int64_t turns = 2; turns >= 1; turns /= 2) {
    cut.piece = (positions + turns * kAtOnce - 1) / (turns * kAtOnce);
    if (cut.piece >= 4 * cut.halo) break;
  }
  cut.piece = std::max({kShortest, cut.halo / 4, cut.piece});
  return cut;
}

std::size_t trace_batches(std::size_t pieces) {
  constexpr std::size_t kLeast = 256;  // fewer than a card follows at a time
  return std::clamp<std::size_t>(pieces / kLeast, 1, kMostTraceBatches);
}

TraceShape trace_shape(int labels, int max_duration, bool tail, std::size_t real_bytes,
                       std::size_t shared_limit) {
  constexpr std::size_t kAlign = 16, kLink = 16;
  const auto c = static_cast<std::size_t>(labels);
  const auto newest = static_cast<std::size_t>(std::min(max_duration, 32));
  const std::size_t tables = ((newest + c) * c * sizeof(double) + kAlign - 1) / kAlign * kAlign;
  const std::size_t rows = kBlock * c * real_bytes * (tail ? 3 : 2);
  const std::size_t link = slot_link(static_cast<unsigned>(labels));
  const std::size_t slot = (rows + link + kLink + kAlign - 1) / kAlign * kAlign;
  TraceShape shape;
  for (int warps = shape.warps; warps >= 1; warps /= 2) {
    const std::size_t bytes = tables + static_cast<std::size_t>(warps * kTraceSlots) * slot;
    if (bytes > shared_limit) continue;
    shape.staged = true;
    shape.warps = warps;
    shape.newest = static_cast<int>(newest);
    shape.table_bytes = static_cast<int>(tables);
    shape.slot_bytes = static_cast<int>(slot);
    shape.shared_bytes = bytes;
    break;
  }
  return shape;
}

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
