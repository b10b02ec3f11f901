#include "train/objective.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "core/error.h"
#include "model/linear_heads.h"
#include "model/score_source.h"
#include "pipeline/parallel_for.h"
#include "train/head_gradient.h"
#include "train/true_path.h"

namespace semicrf {
namespace {

constexpr std::int64_t kLongPiece = 1 << 15;  // positions; longer ones have sums of their own
constexpr std::int64_t kShard = 1 << 13;      // positions of short pieces per shard, at least
constexpr std::size_t kMostShards = 64;       // each keeps sums of its own
constexpr std::int64_t kTask = 1 << 13;       // positions per task of a thread

int workers_for(std::size_t shards, int threads) {
  return std::clamp(static_cast<int>(std::min<std::size_t>(shards, 1024)), 1, std::max(1, threads));
}

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

class Evaluator {
 public:
  Evaluator(const TrainingData& data, const Parameters& parameters, const EngineOptions& options,
            const ObjectiveOptions& objective)
      : data_(data), parameters_(parameters), heads_(parameters), options_(options), objective_(objective) {}

  double run(std::span<const std::size_t> pieces, ParameterGradient* gradient) {
    const std::vector<std::vector<std::size_t>> shards = make_shards(pieces);
    // Each engine gets an equal part of the threads.
    const int side_by_side = workers_for(shards.size(), options_.threads);
    EngineOptions part = options_;
    part.threads = std::max(1, options_.threads / side_by_side);
    std::vector<double> sums(shards.size(), 0.0);
    std::vector<ParameterGradient> gradients(gradient == nullptr ? 0 : shards.size());
    std::vector<std::unique_ptr<Engine>> engines(static_cast<std::size_t>(side_by_side));
    parallel_for(side_by_side, shards.size(), [&](std::size_t shard, int worker) {
      std::unique_ptr<Engine>& engine = engines[static_cast<std::size_t>(worker)];
      if (engine == nullptr) engine = make_engine(part, parameters_.chain);
      ParameterGradient* own = nullptr;
      if (gradient != nullptr) own = &(gradients[shard] = ParameterGradient(parameters_));
      for (const std::size_t i : shards[shard])
        sums[shard] += evaluate(*engine, data_.pieces[i], part.threads, own);
    });
    double sum = 0;
    for (std::size_t shard = 0; shard < shards.size(); ++shard) {
      sum += sums[shard];
      if (gradient != nullptr) gradient->add(gradients[shard]);
    }
    return sum;
  }

 private:
  // What is computed one after the other, with sums of its own: every long piece, the longest first, so that
  // threads end together; then runs of consecutive short ones. By the lengths alone.
  std::vector<std::vector<std::size_t>> make_shards(std::span<const std::size_t> pieces) const {
    std::vector<std::vector<std::size_t>> shards;
    std::int64_t positions = 0;  // of short pieces
    for (const std::size_t i : pieces) {
      if (data_.pieces[i].length > kLongPiece) {
        shards.push_back({i});
      } else {
        positions += data_.pieces[i].length;
      }
    }
    std::stable_sort(shards.begin(), shards.end(), [&](const auto& a, const auto& b) {
      return data_.pieces[a.front()].length > data_.pieces[b.front()].length;
    });
    const std::int64_t goal = std::max(kShard, positions / static_cast<std::int64_t>(kMostShards) + 1);
    std::int64_t filled = goal;
    for (const std::size_t i : pieces) {
      if (data_.pieces[i].length > kLongPiece) continue;
      if (filled >= goal) {
        shards.emplace_back();
        filled = 0;
      }
      shards.back().push_back(i);
      filled += data_.pieces[i].length;
    }
    return shards;
  }

  double evaluate(Engine& engine, const TrainingPiece& piece, int threads,
                  ParameterGradient* gradient) const {
    const PieceScores scores(heads_, parameters_, piece, engine.precision(), objective_.margin, threads);
    const double truth = true_score(parameters_.chain, scores.window(), piece);
    if (!std::isfinite(truth)) refuse(piece);
    const PositionRange whole{0, piece.length};
    double log_partition = 0;
    if (gradient == nullptr) {
      log_partition = log_sum(engine.forward(scores.window(), whole, nullptr, {}).right);
    } else {
      log_partition = add_gradient(engine, piece, scores.window(), threads, *gradient);
    }
    if (!std::isfinite(log_partition)) refuse(piece);
    return log_partition - truth;
  }

  // Returns log Z.
  double add_gradient(Engine& engine, const TrainingPiece& piece, const ScoreWindow& scores, int threads,
                      ParameterGradient& gradient) const {
    const auto labels = static_cast<std::size_t>(parameters_.num_labels());
    const std::size_t values = static_cast<std::size_t>(piece.length) * labels;
    std::vector<double> cover(values), starts, ends;
    if (objective_.boundary && heads_.has_start()) starts.resize(values);
    if (objective_.boundary && heads_.has_end()) ends.resize(values);
    ExpectedCounts counts;
    counts.transition.resize(labels * labels);
    counts.duration.resize(gradient.duration.size());
    counts.tail.resize(gradient.tail.size());
    PosteriorArrays out;
    out.labels = cover.data();
    out.starts = starts.empty() ? nullptr : starts.data();
    out.ends = ends.empty() ? nullptr : ends.data();
    out.counts = &counts;
    const PosteriorWindow window = engine.posteriors(scores, {0, piece.length}, nullptr, nullptr, out);

    const auto add = [](const std::vector<double>& from, std::vector<double>& to) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    add(counts.transition, gradient.transition);
    add(counts.duration, gradient.duration);
    add(counts.tail, gradient.tail);
    for (std::size_t c = 0; c < labels; ++c) {
      gradient.start[c] += cover[c];  // whatever covers the first position starts there
      gradient.end[c] += cover[values - labels + c];
    }
    add_true_counts(parameters_.chain, piece, -1, gradient);
    for (const Segment& segment : piece.segments) {
      const auto c = static_cast<std::size_t>(segment.label);
      const std::size_t first = static_cast<std::size_t>(segment.begin) * labels + c;
      const std::size_t last = static_cast<std::size_t>(segment.end - 1) * labels + c;
      for (std::size_t i = first; i <= last; i += labels) cover[i] -= 1;
      if (!starts.empty()) starts[first] -= 1;
      if (!ends.empty()) ends[last] -= 1;
    }
    ScoreDerivatives derivatives;
    if (objective_.emissions) derivatives.emissions = cover.data();
    if (!starts.empty()) derivatives.starts = starts.data();
    if (!ends.empty()) derivatives.ends = ends.data();
    add_head_gradient(parameters_, piece, derivatives, threads, gradient);
    return log_sum(window.right_forward);
  }

  [[noreturn]] void refuse(const TrainingPiece& piece) const {
    const PathProblem problem = find_problem(parameters_, piece);
    if (!problem.what.empty())
      throw InputError({"", problem.where, problem.what, "change the parameters of --init or the labels"});
    throw InputError(
        {"", piece.place(0, piece.length),
         "the loss is not finite there: the scores are too large for the " +
             std::string(options_.precision == Precision::kFloat ? "float" : "double") +
             " engine, or no segmentation is possible",
         "check the tracks for extreme values, choose --transform asinh, raise --l2 or lower the "
         "learning rate"});
  }

  const TrainingData& data_;
  const Parameters& parameters_;
  LinearHeads heads_;
  EngineOptions options_;
  ObjectiveOptions objective_;
};

}  // namespace

double negative_log_likelihood(const TrainingData& data, std::span<const std::size_t> pieces,
                               const Parameters& parameters, const EngineOptions& engine,
                               const ObjectiveOptions& options, ParameterGradient* gradient) {
  return Evaluator(data, parameters, engine, options).run(pieces, gradient);
}

std::size_t objective_bytes(const TrainingData& data, const Parameters& parameters,
                            const EngineOptions& options) {
  const std::unique_ptr<Engine> engine = make_engine(options, parameters.chain);
  const auto labels = static_cast<std::size_t>(parameters.num_labels());
  const std::size_t arrays = parameters.boundary ? 3 : 1;
  const std::size_t score = options.precision == Precision::kFloat ? sizeof(float) : sizeof(double);
  // The longest pieces side by side, and the sums of every shard.
  std::vector<std::size_t> needs;
  for (const TrainingPiece& piece : data.pieces) {
    const std::size_t rows = static_cast<std::size_t>(piece.length) * labels * arrays;
    needs.push_back(engine->posterior_bytes(piece.length, true) + rows * (score + sizeof(double)));
  }
  std::sort(needs.begin(), needs.end(), std::greater<>());
  needs.resize(std::min(needs.size(), static_cast<std::size_t>(std::max(1, options.threads))));
  const auto long_pieces = static_cast<std::size_t>(
      std::count_if(data.pieces.begin(), data.pieces.end(),
                    [](const TrainingPiece& piece) { return piece.length > kLongPiece; }));
  const std::size_t shards = kMostShards + long_pieces;
  return std::accumulate(needs.begin(), needs.end(), std::size_t{0}) +
         2 * shards * parameters.chain.duration_bias.size() * sizeof(double);
}

}  // namespace semicrf
