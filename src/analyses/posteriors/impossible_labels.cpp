#include "analyses/posteriors/impossible_labels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/chain_model.h"
#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "engine/masks.h"
#include "model/scores/linear_heads.h"

namespace semicrf {
namespace {

constexpr std::int64_t kTask = 1 << 12;  // positions per task of a thread

class ImpossibleLabels {
 public:
  ImpossibleLabels(const ChainModel& model, const ScoreWindow& scores)
      : model_(model),
        centred_(model, scores),
        masks_(masks_forbid(model) && scores.start_scores.empty() && scores.end_scores.empty()),
        last_(scores.length - 1) {}

  // Clears the impossible labels in the (C) posteriors of position t.
  void clear(std::int64_t t, double* row) const {
    double largest = kNegativeInfinity;
    for (int c = 0; masks_ && c < model_.num_labels; ++c)
      largest = std::max(largest, centred_.emission(t, c));
    double sum = 0;
    bool cleared = false;
    for (int c = 0; c < model_.num_labels; ++c) {
      if (is_impossible(t, c, largest)) {
        row[c] = 0;
        cleared = true;
      }
      sum += row[c];
    }
    for (int c = 0; cleared && sum > 0 && c < model_.num_labels; ++c) row[c] /= sum;
  }

 private:
  bool is_impossible(std::int64_t t, int c, double largest) const {
    const double score = centred_.emission(t, c);
    if (score == kNegativeInfinity || (masks_ && score < largest - kMaskDepth)) return true;
    if (t == 0 && (centred_.start(t, c) == kNegativeInfinity ||
                   (!model_.cut.left && initial_term(model_, c) == kNegativeInfinity)))
      return true;
    return t == last_ && centred_.end(t, c) == kNegativeInfinity;
  }

  const ChainModel& model_;
  CentredScores centred_;
  bool masks_;
  std::int64_t last_;
};

// Whether any of the scores may be a mask or -inf. Quick: nearly all of them are small. The inner loop has a
// fixed length, so that it becomes one of vectors.
template <class Real>
bool any_large(const Real* scores, std::size_t count) {
  constexpr Real kLarge = kMaskDepth / 2;
  constexpr std::size_t kTogether = 64;
  const auto is_large = [](Real score) { return static_cast<int>(!(std::fabs(score) < kLarge)); };
  std::size_t i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    int found = 0;
    for (std::size_t k = 0; k < kTogether; ++k) found |= is_large(scores[i + k]);
    if (found != 0) return true;
  }
  for (; i < count; ++i)
    if (is_large(scores[i]) != 0) return true;
  return false;
}

}  // namespace

void clear_impossible_labels(const ChainModel& model, const ScoreWindow& scores, PositionRange range,
                             int threads, std::span<double> labels) {
  if (labels.empty()) return;
  const auto width = wide(model.num_labels);
  if (width == 1) {
    std::ranges::fill(labels, 1.0);
    return;
  }
  const ImpossibleLabels impossible(model, scores);
  const auto row = [&](std::int64_t t) { return labels.data() + wide(t - range.begin) * width; };
  for (const std::int64_t edge : {std::int64_t{0}, scores.length - 1})
    if (edge >= range.begin && edge < range.end) impossible.clear(edge, row(edge));
  if (scores.emissions.empty()) return;
  parallel_ranges(threads, range.begin, range.end, kTask, [&](std::int64_t from, std::int64_t to) {
    const std::size_t first = wide(from - scores.begin) * width, count = wide(to - from) * width;
    const bool large = scores.emissions.f32 != nullptr ? any_large(scores.emissions.f32 + first, count)
                                                       : any_large(scores.emissions.f64 + first, count);
    for (std::int64_t t = from; large && t < to; ++t) impossible.clear(t, row(t));
  });
}

double label_posterior_residue(Precision precision) {
  return precision == Precision::kFloat ? 0x1p-18 : 0x1p-40;
}

void clear_residues(Precision precision, int num_labels, int threads, std::span<double> labels) {
  const double residue = label_posterior_residue(precision);
  const auto width = wide(num_labels);
  const auto clear_row = [residue](std::span<double> row) {
    double sum = 0;
    int kept = 0;
    bool cleared = false;
    for (const double p : row) {
      const bool keeps = p >= residue;
      sum += keeps ? p : 0;
      kept += static_cast<int>(keeps);
      cleared |= !keeps && p != 0;
    }
    if (kept == 0 || !(cleared || kept == 1)) return;
    for (double& p : row) p = p < residue ? 0 : p / sum;
  };
  const auto rows = static_cast<std::int64_t>(labels.size() / width);
  parallel_ranges(threads, 0, rows, kTask, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t t = from; t < to; ++t) clear_row(labels.subspan(wide(t) * width, width));
  });
}

}  // namespace semicrf
