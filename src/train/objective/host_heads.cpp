// Scores on the host, and a gradient made of the posteriors of every position.
#include <algorithm>

#include "core/parallel.h"
#include "model/score_source.h"
#include "train/data/true_path.h"
#include "train/objective/head_gradient.h"
#include "train/objective/piece_batch.h"

namespace semicrf {
namespace {

constexpr std::int64_t kTask = 1 << 13;  // positions per task of a thread

// The scores of one piece, in the precision of the engine.
class PieceScores {
 public:
  PieceScores(const LinearHeads& heads, const Parameters& parameters, const TrainingPiece& piece,
              Precision precision, double margin, int threads)
      : has_start_(heads.has_start()), has_end_(heads.has_end()) {
    if (parameters.centering == Centering::kMean) baseline_ = heads.mean_emissions(piece.feature_mean);
    window_.end = window_.length = piece.length;
    window_.baseline = baseline_;
    window_.subtract_position_max = parameters.centering == Centering::kPositionMax;
    if (precision == Precision::kDouble) {
      fill(heads, piece, threads, buffers_.emissions64, buffers_.start64, buffers_.end64);
      take_margin(piece, margin, buffers_.emissions64);
      window_.emissions.f64 = buffers_.emissions64.data();
      if (has_start_) window_.start_scores.f64 = buffers_.start64.data();
      if (has_end_) window_.end_scores.f64 = buffers_.end64.data();
    } else {
      fill(heads, piece, threads, buffers_.emissions32, buffers_.start32, buffers_.end32);
      take_margin(piece, margin, buffers_.emissions32);
      window_.emissions.f32 = buffers_.emissions32.data();
      if (has_start_) window_.start_scores.f32 = buffers_.start32.data();
      if (has_end_) window_.end_scores.f32 = buffers_.end32.data();
    }
  }
  PieceScores(const PieceScores&) = delete;
  PieceScores& operator=(const PieceScores&) = delete;

  const ScoreWindow& window() const { return window_; }

 private:
  template <class Value>
  void fill(const LinearHeads& heads, const TrainingPiece& piece, int threads, std::vector<Value>& emissions,
            std::vector<Value>& starts, std::vector<Value>& ends) const {
    const auto labels = static_cast<std::size_t>(heads.num_labels());
    const std::size_t values = static_cast<std::size_t>(piece.length) * labels;
    emissions.resize(values);
    if (has_start_) starts.resize(values);
    if (has_end_) ends.resize(values);
    const FeatureWindow<float> features{piece.features.data(), 0, piece.length, piece.length};
    const auto tasks = static_cast<std::size_t>((piece.length + kTask - 1) / kTask);
    parallel_for(threads, tasks, [&](std::size_t task, int) {
      const std::int64_t begin = static_cast<std::int64_t>(task) * kTask;
      const std::int64_t end = std::min(piece.length, begin + kTask);
      const std::size_t at = static_cast<std::size_t>(begin) * labels;
      heads.emissions(features, begin, end, emissions.data() + at);
      if (has_start_) heads.start_scores(features, begin, end, starts.data() + at);
      if (has_end_) heads.end_scores(features, begin, end, ends.data() + at);
    });
  }

  template <class Value>
  static void take_margin(const TrainingPiece& piece, double margin, std::vector<Value>& emissions) {
    if (margin == 0) return;
    const std::size_t labels = emissions.size() / static_cast<std::size_t>(piece.length);
    for (const Segment& segment : piece.segments)
      for (std::int64_t t = segment.begin; t < segment.end; ++t)
        emissions[static_cast<std::size_t>(t) * labels + static_cast<std::size_t>(segment.label)] -=
            static_cast<Value>(margin);
  }

  bool has_start_, has_end_;
  std::vector<double> baseline_;
  ScoreBuffers buffers_;
  ScoreWindow window_;
};

class HostHeads final : public PieceBatch {
 public:
  explicit HostHeads(BatchSetup setup) : setup_(std::move(setup)), works_(setup_.pieces.size()) {}

  void prepare(std::size_t i, int threads) override {
    Work& work = works_[i];
    const TrainingPiece& piece = *setup_.pieces[i];
    work.scores = std::make_unique<PieceScores>(setup_.heads, setup_.parameters, piece, setup_.precision,
                                                setup_.options.margin, threads);
    if (!setup_.with_gradient) return;
    const std::size_t values =
        static_cast<std::size_t>(piece.length) * static_cast<std::size_t>(setup_.parameters.num_labels());
    work.cover.resize(values);
    if (setup_.options.boundary && setup_.heads.has_start()) work.starts.resize(values);
    if (setup_.options.boundary && setup_.heads.has_end()) work.ends.resize(values);
  }

  const ScoreWindow& window(std::size_t i) const override { return works_[i].scores->window(); }

  PosteriorArrays wanted(std::size_t i) override {
    Work& work = works_[i];
    PosteriorArrays arrays;
    arrays.labels = work.cover.data();
    arrays.starts = work.starts.empty() ? nullptr : work.starts.data();
    arrays.ends = work.ends.empty() ? nullptr : work.ends.data();
    return arrays;
  }

  void add_gradient(std::size_t shard, int threads, ParameterGradient& gradient) override {
    for (std::size_t i = setup_.shard_begin(shard); i < setup_.shard_ends[shard]; ++i)
      add_piece(*setup_.pieces[i], works_[i], threads, gradient);
  }

 private:
  struct Work {
    std::unique_ptr<PieceScores> scores;
    std::vector<double> cover, starts, ends;  // posteriors
  };

  void add_piece(const TrainingPiece& piece, Work& work, int threads, ParameterGradient& gradient) const {
    const auto labels = static_cast<std::size_t>(setup_.parameters.num_labels());
    for (std::size_t c = 0; c < labels; ++c) {
      gradient.start[c] += work.cover[c];  // whatever covers the first position starts there
      gradient.end[c] += work.cover[work.cover.size() - labels + c];
    }
    add_true_counts(setup_.parameters.chain, piece, -1, gradient);
    for (const Segment& segment : piece.segments) {
      const auto c = static_cast<std::size_t>(segment.label);
      const std::size_t first = static_cast<std::size_t>(segment.begin) * labels + c;
      const std::size_t last = static_cast<std::size_t>(segment.end - 1) * labels + c;
      for (std::size_t i = first; i <= last; i += labels) work.cover[i] -= 1;
      if (!work.starts.empty()) work.starts[first] -= 1;
      if (!work.ends.empty()) work.ends[last] -= 1;
    }
    ScoreDerivatives derivatives;
    if (setup_.options.emissions) derivatives.emissions = work.cover.data();
    if (!work.starts.empty()) derivatives.starts = work.starts.data();
    if (!work.ends.empty()) derivatives.ends = work.ends.data();
    add_head_gradient(setup_.parameters, piece, derivatives, threads, gradient);
  }

  BatchSetup setup_;
  std::vector<Work> works_;
};

}  // namespace

std::unique_ptr<PieceBatch> batch_with_host_heads(BatchSetup setup) {
  return std::make_unique<HostHeads>(std::move(setup));
}

}  // namespace semicrf
