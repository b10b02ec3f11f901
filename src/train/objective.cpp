#include "train/objective.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

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
    const Shards shards = make_shards(pieces);
    // Each engine gets an equal part of the threads.
    EngineOptions part = options_;
    part.threads = std::max(1, options_.threads / workers_for(shards.size(), options_.threads));
    std::unique_ptr<Engine> first = make_engine(part, parameters_.chain);
    const std::vector<Shards> groups = group(shards, first->batch_positions());
    const int side_by_side = workers_for(groups.size(), options_.threads);
    part.threads = std::max(1, options_.threads / side_by_side);
    std::vector<std::unique_ptr<Engine>> engines(static_cast<std::size_t>(side_by_side));
    engines.front() = std::move(first);
    std::vector<Sums> sums(shards.size());
    std::vector<std::span<Sums>> of_group;
    std::span<Sums> left = sums;
    for (const Shards& members : groups) {
      of_group.push_back(left.first(members.size()));
      left = left.subspan(members.size());
    }
    parallel_for(side_by_side, groups.size(), [&](std::size_t i, int worker) {
      std::unique_ptr<Engine>& engine = engines[static_cast<std::size_t>(worker)];
      if (engine == nullptr) engine = make_engine(part, parameters_.chain);
      if (gradient != nullptr)
        for (Sums& shard : of_group[i]) shard.gradient.emplace(parameters_);
      evaluate(*engine, groups[i], part.threads, of_group[i]);
    });
    double sum = 0;
    for (const Sums& shard : sums) {
      sum += shard.value;
      if (gradient != nullptr) gradient->add(*shard.gradient);
    }
    return sum;
  }

 private:
  using Shards = std::vector<std::vector<std::size_t>>;  // indices of pieces
  struct Sums {
    double value = 0;
    std::optional<ParameterGradient> gradient;
  };

  // What is computed one after the other, with sums of its own: every long piece, the longest first, so that
  // threads end together; then runs of consecutive short ones. By the lengths alone.
  Shards make_shards(std::span<const std::size_t> pieces) const {
    Shards shards;
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

  // Shards that one engine gets after each other; as many positions as it wants together.
  std::vector<Shards> group(const Shards& shards, std::int64_t positions) const {
    std::vector<Shards> groups;
    std::int64_t filled = positions;
    for (const std::vector<std::size_t>& shard : shards) {
      if (filled >= positions) {
        groups.emplace_back();
        filled = 0;
      }
      groups.back().push_back(shard);
      for (const std::size_t i : shard) filled += data_.pieces[i].length;
    }
    return groups;
  }

  void evaluate(Engine& engine, const Shards& shards, int threads, std::span<Sums> sums) const {
    if (engine.batch_positions() > 0) return evaluate_together(engine, shards, threads, sums);
    for (std::size_t shard = 0; shard < shards.size(); ++shard)
      for (const std::size_t i : shards[shard])
        evaluate_together(engine, {{i}}, threads, sums.subspan(shard, 1));
  }

  // The pieces of all shards in one call of the engine.
  void evaluate_together(Engine& engine, const Shards& shards, int threads, std::span<Sums> sums) const {
    std::vector<PieceWork> works;
    std::vector<std::size_t> ends;
    for (const std::vector<std::size_t>& shard : shards) {
      for (const std::size_t i : shard) works.emplace_back().piece = &data_.pieces[i];
      ends.push_back(works.size());
    }
    const bool with_gradient = sums.front().gradient.has_value();
    const int inside = std::max(1, threads / static_cast<int>(std::min<std::size_t>(works.size(), 1024)));
    parallel_for(threads, works.size(), [&](std::size_t i, int) {
      PieceWork& work = works[i];
      work.scores = std::make_unique<PieceScores>(heads_, parameters_, *work.piece, engine.precision(),
                                                  objective_.margin, inside);
      work.truth = true_score(parameters_.chain, work.scores->window(), *work.piece);
      if (with_gradient) make_room(work);
    });
    ExpectedCounts counts;
    const std::vector<SequenceResult> results = ask(engine, works, with_gradient ? &counts : nullptr);
    for (std::size_t i = 0; i < works.size(); ++i)
      if (!std::isfinite(works[i].truth) || !std::isfinite(results[i].log_partition)) refuse(*works[i].piece);
    if (with_gradient) add_counts(counts, *sums.front().gradient);
    parallel_for(threads, shards.size(), [&](std::size_t shard, int) {
      const int share = std::max(1, threads / static_cast<int>(shards.size()));
      for (std::size_t i = shard == 0 ? 0 : ends[shard - 1]; i < ends[shard]; ++i) {
        sums[shard].value += results[i].log_partition - works[i].truth;
        if (with_gradient) add_gradient(works[i], share, *sums[shard].gradient);
      }
    });
  }

  // One piece on its way through the engine.
  struct PieceWork {
    const TrainingPiece* piece = nullptr;
    std::unique_ptr<PieceScores> scores;
    double truth = 0;
    std::vector<double> cover, starts, ends;  // posteriors
  };

  void make_room(PieceWork& work) const {
    const std::size_t values =
        static_cast<std::size_t>(work.piece->length) * static_cast<std::size_t>(parameters_.num_labels());
    work.cover.resize(values);
    if (objective_.boundary && heads_.has_start()) work.starts.resize(values);
    if (objective_.boundary && heads_.has_end()) work.ends.resize(values);
  }

  static std::vector<SequenceResult> ask(Engine& engine, std::vector<PieceWork>& works,
                                         ExpectedCounts* counts) {
    std::vector<ScoreWindow> windows;
    std::vector<PosteriorArrays> out;
    for (PieceWork& work : works) {
      windows.push_back(work.scores->window());
      PosteriorArrays& arrays = out.emplace_back();
      arrays.labels = work.cover.data();
      arrays.starts = work.starts.empty() ? nullptr : work.starts.data();
      arrays.ends = work.ends.empty() ? nullptr : work.ends.data();
    }
    return counts == nullptr ? engine.log_partitions(windows) : engine.posteriors_of(windows, out, counts);
  }

  static void add_counts(const ExpectedCounts& counts, ParameterGradient& gradient) {
    const auto add = [](const std::vector<double>& from, std::vector<double>& to) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    add(counts.transition, gradient.transition);
    add(counts.duration, gradient.duration);
    add(counts.tail, gradient.tail);
  }

  // All but the expected counts.
  void add_gradient(PieceWork& work, int threads, ParameterGradient& gradient) const {
    const TrainingPiece& piece = *work.piece;
    const auto labels = static_cast<std::size_t>(parameters_.num_labels());
    for (std::size_t c = 0; c < labels; ++c) {
      gradient.start[c] += work.cover[c];  // whatever covers the first position starts there
      gradient.end[c] += work.cover[work.cover.size() - labels + c];
    }
    add_true_counts(parameters_.chain, piece, -1, gradient);
    for (const Segment& segment : piece.segments) {
      const auto c = static_cast<std::size_t>(segment.label);
      const std::size_t first = static_cast<std::size_t>(segment.begin) * labels + c;
      const std::size_t last = static_cast<std::size_t>(segment.end - 1) * labels + c;
      for (std::size_t i = first; i <= last; i += labels) work.cover[i] -= 1;
      if (!work.starts.empty()) work.starts[first] -= 1;
      if (!work.ends.empty()) work.ends[last] -= 1;
    }
    ScoreDerivatives derivatives;
    if (objective_.emissions) derivatives.emissions = work.cover.data();
    if (!work.starts.empty()) derivatives.starts = work.starts.data();
    if (!work.ends.empty()) derivatives.ends = work.ends.data();
    add_head_gradient(parameters_, piece, derivatives, threads, gradient);
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
  const auto most = static_cast<std::size_t>(std::max(1, options.threads));
  // The longest pieces side by side, or what goes to an engine together; and the sums of every shard.
  std::vector<std::size_t> needs;
  std::int64_t longest = kShard, positions = 0;
  for (const TrainingPiece& piece : data.pieces) {
    const std::size_t rows = static_cast<std::size_t>(piece.length) * labels * arrays;
    needs.push_back(engine->posterior_bytes(piece.length, true) + rows * (score + sizeof(double)));
    longest = std::max(longest, piece.length);
    positions += piece.length;
  }
  if (const std::int64_t batch = engine->batch_positions(); batch > 0) {
    const std::int64_t shard =
        std::max(longest, positions / static_cast<std::int64_t>(kMostShards) + kLongPiece);
    const auto together = static_cast<std::size_t>(std::min(positions, batch + shard)) * labels * arrays;
    const std::size_t bytes = engine->posterior_bytes(batch, true) + together * (score + sizeof(double));
    needs.assign(static_cast<std::size_t>(positions / batch + 1), bytes);
  }
  std::sort(needs.begin(), needs.end(), std::greater<>());
  needs.resize(std::min(needs.size(), most));
  const auto long_pieces = static_cast<std::size_t>(
      std::count_if(data.pieces.begin(), data.pieces.end(),
                    [](const TrainingPiece& piece) { return piece.length > kLongPiece; }));
  const std::size_t shards = kMostShards + long_pieces;
  return std::accumulate(needs.begin(), needs.end(), std::size_t{0}) +
         2 * shards * parameters.chain.duration_bias.size() * sizeof(double);
}

}  // namespace semicrf
