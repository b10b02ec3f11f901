// Forward messages of a window.
#include <algorithm>
#include <cmath>

#include "core/sizes.h"
#include "cuda/engine/cuda_engine_impl.h"

namespace semicrf::cuda {

template <class Real>
ForwardWindow CudaEngine<Real>::forward(const ScoreWindow& scores, PositionRange range,
                                        const BoundaryState* left, const ForwardArrays& out) {
  upload(scores);
  const bool keep = out.starts != nullptr || out.ends != nullptr || out.tails != nullptr ||
                    out.start_levels != nullptr || out.end_levels != nullptr;
  if (keep) {
    forward_store_.reserve(range, model_.num_labels, model_.has_tail(), true);
    forward_store_.clear(stream_);
  }
  const PassPlan plan = plan_for(scores, range, Direction::kForward, false);
  const std::vector<RunOutcome>& outcomes =
      log_forward().run(plan, *window_, left, keep ? &forward_store_ : nullptr);
  ForwardWindow result;
  result.chunks = reports_of(range, outcomes);
  result.right = final_state(log_forward(), outcomes.back(), range.end);
  result.whole = left != nullptr ? left->whole : 0.0;
  if (keep) write_forward(scores, range, outcomes, plan.layout.sequences[0].run, out, result.whole);
  return result;
}

// Messages as logarithms, from their numbers and scales. On the host: this is for drawing segmentations,
// which reads them there.
template <class Real>
void CudaEngine<Real>::write_forward(const ScoreWindow& scores, PositionRange range,
                                     const std::vector<RunOutcome>& outcomes, std::int64_t run,
                                     const ForwardArrays& out, double whole) {
  constexpr std::int64_t kSlab = 4096;  // blocks brought to the host at a time
  auto kept = forward_store_.download_pool(stream_);
  const std::size_t labels = wide(model_.num_labels);
  const auto log_of = [](Real number) {
    return number > Real(0) ? std::log(static_cast<double>(number)) : kNegativeInfinity;
  };
  for (std::int64_t block = 0; block * kBlock < range.size(); ++block) {
    if (block % kSlab == 0) {
      const std::size_t left = forward_store_.blocks() - wide(block);
      forward_store_.download(wide(block), std::min(left, wide(kSlab)), kept, stream_);
    }
    const RunOutcome& outcome = outcomes[wide(block * kBlock / run)];
    const std::size_t b = wide(block % kSlab);
    const double run_whole = outcome.whole - whole;
    double shifts = kept.mass[b];  // of all positions before this one
    const std::int64_t count = std::min<std::int64_t>(kBlock, range.size() - block * kBlock);
    std::vector<double> content(labels, 0.0);
    for (std::int64_t slot = 0; slot < count; ++slot) {
      const std::size_t in_slab = b * kBlock + wide(slot);
      const std::size_t row = wide(block * kBlock + slot);
      const std::size_t in_window = wide(range.begin - scores.begin) + row;
      const bool exact = kept.exact[b] != 0;
      const std::size_t pool = exact ? (wide(kept.exact[b] - 1) * kBlock + wide(slot)) * labels : 0;
      const double before = run_whole + kept.base[b] + shifts;
      shifts += kept.shift[in_slab];
      const double after = run_whole + kept.base[b] + shifts;
      const double start_level = out.start_levels != nullptr ? 0.0 : before;
      const double end_level = out.end_levels != nullptr ? 0.0 : after;
      if (out.start_levels != nullptr) out.start_levels[row] = before;
      if (out.end_levels != nullptr) out.end_levels[row] = after;
      double most = kNegativeInfinity;
      for (std::size_t c = 0; c < labels; ++c)
        most = std::max(most, scores.emissions.at(in_window * labels + c));
      for (std::size_t c = 0; c < labels; ++c) {
        const std::size_t at = row * labels + c;
        const std::size_t from = in_slab * labels + c;
        const std::size_t scale = b * labels + c;
        if (out.starts != nullptr) {
          double value =
              exact ? kept.pool_start[pool + c] : log_of(kept.start[from]) + kept.start_scale[scale];
          if (!scores.start_scores.empty()) value += scores.start_scores.at(in_window * labels + c);
          if (range.begin + block * kBlock + slot == 0 && !model_.start_scores.empty())
            value += model_.start_scores[c];
          out.starts[at] = (value + outcome.offset) + start_level;
        }
        if (out.ends != nullptr) {
          const double value =
              exact ? kept.pool_alpha[pool + c] : log_of(kept.alpha[from]) + kept.alpha_scale[scale];
          out.ends[at] = (value + outcome.offset) + end_level;
        }
        if (out.tails == nullptr) continue;
        // A fast block's tail share lacks the content of the block up to the position.
        double score = scores.emissions.at(in_window * labels + c) - kept.shift[in_slab];
        if (scores.subtract_position_max && most != kNegativeInfinity) score -= most;
        if (!scores.baseline.empty()) score -= scores.baseline[c];
        content[c] += score;
        double value = kNegativeInfinity;
        if (model_.has_tail()) {
          value = exact ? kept.pool_tail[pool + c]
                        : log_of(kept.tail[from]) + kept.tail_scale[scale] + content[c];
        }
        out.tails[at] = (value + outcome.offset) + end_level;
      }
    }
  }
}

template ForwardWindow CudaEngine<float>::forward(const ScoreWindow&, PositionRange, const BoundaryState*,
                                                  const ForwardArrays&);
template ForwardWindow CudaEngine<double>::forward(const ScoreWindow&, PositionRange, const BoundaryState*,
                                                   const ForwardArrays&);

}  // namespace semicrf::cuda
