#include "analyses/posteriors/cross_score.h"

#include <algorithm>

namespace semicrf {
namespace {

constexpr std::int64_t kLeastSlab = 256, kMostSlab = 1 << 16;  // positions

}  // namespace

CrossScore::CrossScore(const ChainModel& counted, const ChainModel& scored, ScoreSource& source,
                       Precision precision, int threads, std::size_t slab_bytes)
    : counted_(counted), scored_(scored), reader_(source), precision_(precision), threads_(threads) {
  const std::size_t row = std::max<std::size_t>(1, source.bytes_per_position());
  slab_ = std::clamp(static_cast<std::int64_t>(slab_bytes / row), kLeastSlab, kMostSlab);
  score_.emplace(counted_, scored_, precision_, threads_);
}

std::size_t CrossScore::bytes(const ScoreSource& source, std::size_t slab_bytes) {
  return std::max(slab_bytes, static_cast<std::size_t>(kLeastSlab) * source.bytes_per_position());
}

void CrossScore::add(const PosteriorBlock& block, const ScoreWindow& scores) {
  const auto labels = static_cast<std::size_t>(scored_.num_labels);
  for (std::int64_t begin = block.range.begin; begin < block.range.end; begin += slab_) {
    const std::int64_t end = std::min(block.range.end, begin + slab_);
    const std::size_t first = static_cast<std::size_t>(begin - block.range.begin) * labels;
    const std::size_t count = static_cast<std::size_t>(end - begin) * labels;
    PosteriorBlock part;
    part.range = {begin, end};
    part.labels = block.labels.subspan(first, count);
    part.starts = block.starts.subspan(first, count);
    part.ends = block.ends.subspan(first, count);
    score_->add(part, scores, reader_.read(begin, end, buffers_));
  }
}

}  // namespace semicrf
