#include "train/objective/objective.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "core/counts.h"
#include "core/error.h"
#include "core/threads/parallel.h"
#include "engine/batch.h"
#include "engine/options.h"
#include "model/scores/densities.h"
#include "model/scores/linear_heads.h"
#include "sites/site_engine.h"
#include "train/data/true_path.h"
#include "train/objective/allowed_scores.h"
#include "train/objective/density_gradient.h"
#include "train/objective/piece_batch.h"
#include "train/objective/piece_sums.h"
#include "train/ranks/ranks.h"

namespace semicrf {
namespace {

constexpr std::int64_t kLongPiece = 1 << 15;  // positions; longer ones have sums of their own
constexpr std::int64_t kShard = 1 << 13;      // positions of short pieces per shard, at least
constexpr std::int64_t kMostShards = 64;      // each keeps sums of its own

// For boundaries between lines of one label, tried one after the other: the smaller, the more digits are left
// of the scores of the boundary.
constexpr std::array kPenalties = {0x1p19, 0x1p26, 0x1p33};
constexpr double kPenaltyMargin = 45;  // e^-45 is nothing beside 1

// As many as threads, but an engine on every device.
int workers_for(std::size_t shards, const EngineOptions& options) {
  const int most = std::max({1, options.threads, count_of(options.devices)});
  return std::clamp(static_cast<int>(std::min<std::size_t>(shards, 1024)), 1, most);
}

class PieceEvaluator {
 public:
  PieceEvaluator(const TrainingData& data, const Parameters& parameters, const EngineOptions& options,
                 const ObjectiveOptions& objective)
      : data_(data),
        parameters_(parameters),
        heads_(parameters),
        options_(options),
        objective_(objective),
        ranks_(objective.ranks != nullptr ? *objective.ranks : alone_),
        log_partitions_(data.pieces.size(), kNegativeInfinity) {
    if (!are_sums_of_densities(data, parameters)) return;
    densities_.emplace(parameters);
    if (objective.emissions && objective.posteriors == nullptr) density_gradient_.emplace(parameters);
  }

  double run(std::span<const std::size_t> pieces, ParameterGradient* gradient) {
    const double all = run(PieceBatch::Sum::kAll, pieces, gradient);
    const std::vector<std::size_t> partly = with_evidence(pieces, true);
    if (partly.empty()) return all;
    share_log_partitions(partly);
    if (gradient == nullptr) return all - run(PieceBatch::Sum::kAllowed, partly, nullptr);
    ParameterGradient allowed(parameters_);
    const double of_allowed = run(PieceBatch::Sum::kAllowed, partly, &allowed);
    gradient->subtract(allowed);
    return all - of_allowed;
  }

  double run_evidence(ParameterGradient* gradient) {
    const std::vector<std::size_t> pieces = data_.all_pieces();
    return run(PieceBatch::Sum::kAll, with_evidence(pieces, false), gradient) +
           run(PieceBatch::Sum::kAllowed, with_evidence(pieces, true), gradient);
  }

  // The best segmentation of each piece.
  std::vector<std::vector<Segment>> paths(std::span<const std::size_t> pieces) {
    std::vector<std::vector<Segment>> found(data_.pieces.size());
    has_role_chain_ = true;
    for_each_cut(pieces, [&](std::span<const std::size_t> alike) { paths_alike(alike, found); });
    return found;
  }

 private:
  std::vector<std::size_t> with_evidence(std::span<const std::size_t> pieces, bool has) const {
    std::vector<std::size_t> found;
    for (const std::size_t i : pieces)
      if (data_.pieces[i].evidence.empty() != has) found.push_back(i);
    return found;
  }

  double run(PieceBatch::Sum which, std::span<const std::size_t> pieces, ParameterGradient* gradient) {
    which_ = which;
    has_role_chain_ = !knows_cut_edges(options_);
    double sum = 0;
    for_each_cut(pieces, [&](std::span<const std::size_t> alike) { sum += run_alike(alike, gradient); });
    return sum;
  }

  // Calls visit(pieces whose edges are cut alike), with their roles set.
  template <class Visit>
  void for_each_cut(std::span<const std::size_t> pieces, Visit visit) {
    for (const CutEdges cut : {CutEdges{false, false}, {true, false}, {false, true}, {true, true}}) {
      std::vector<std::size_t> alike;
      for (const std::size_t i : pieces)
        if (data_.pieces[i].cut == cut) alike.push_back(i);
      if (alike.empty()) continue;
      roles_ = cut.any() ? std::make_unique<EdgeRoles>(parameters_.chain, cut) : nullptr;
      visit(alike);
    }
  }
  // The chain of the engines for the pieces at hand.
  ChainModel chain() const {
    if (roles_ && has_role_chain_) return roles_->chain();
    ChainModel model = parameters_.chain;
    if (roles_) model.cut = roles_->cut();
    return model;
  }

  double run_alike(std::span<const std::size_t> pieces, ParameterGradient* gradient) {
    const Shards shards = make_shards(pieces);
    std::vector<Sums> sums(shards.size());
    std::vector<int> owners;
    std::vector<std::string> parts = ranks_.gather([&] {
      owners =
          for_each_group(shards, [&](Engine& engine, const Shards& members, std::size_t first, int threads) {
            const std::span<Sums> of_group = std::span(sums).subspan(first, members.size());
            if (gradient != nullptr)
              for (Sums& shard : of_group) shard.gradient.emplace(parameters_);
            evaluate(engine, members, threads, of_group);
          });
      return ranks_.is_first() ? std::string() : bytes_of_rank(ranks_.rank(), owners, sums);
    });
    if (!ranks_.is_first()) return 0;
    for (int rank = 1; rank < ranks_.size(); ++rank) take_bytes(rank, owners, parts[rank], sums);
    double sum = 0;
    for (const Sums& shard : sums) {
      sum += shard.value;
      if (gradient != nullptr) gradient->add(*shard.gradient);
    }
    return sum;
  }

  void paths_alike(std::span<const std::size_t> pieces, std::vector<std::vector<Segment>>& found) {
    const Shards shards = make_shards(pieces);
    std::vector<int> owners;
    std::vector<std::string> parts = ranks_.gather([&] {
      owners = for_each_group(shards, [&](Engine& engine, const Shards& members, std::size_t, int threads) {
        std::vector<std::size_t> together;
        for (const std::vector<std::size_t>& shard : members)
          together.insert(together.end(), shard.begin(), shard.end());
        const std::size_t step = engine.batches().batch_positions() > 0 ? together.size() : 1;
        for (std::size_t i = 0; i < together.size(); i += step)
          decode_together(engine, std::span(together).subspan(i, step), threads, found);
      });
      std::string bytes;
      for (std::size_t shard = 0; shard < shards.size() && !ranks_.is_first(); ++shard)
        if (owners[shard] == ranks_.rank())
          for (const std::size_t i : shards[shard]) put(bytes, found[i]);
      return bytes;
    });
    for (int rank = 1; rank < count_of(parts); ++rank) {
      ByteReader reader(parts[rank]);
      for (std::size_t shard = 0; shard < shards.size(); ++shard)
        if (owners[shard] == rank)
          for (const std::size_t i : shards[shard]) found[i] = reader.take_list<Segment>();
    }
  }

  // What first_unclear() compares with: a rank may have other pieces now than before.
  void share_log_partitions(std::span<const std::size_t> pieces) {
    if (ranks_.size() == 1) return;
    std::vector<std::string> parts = ranks_.gather([&] {
      std::vector<double> known;
      known.reserve(pieces.size());
      for (const std::size_t i : pieces) known.push_back(log_partitions_[i]);
      std::string bytes;
      put(bytes, known);
      return bytes;
    });
    std::string all;
    for (const std::string& part : parts) all += part;
    ranks_.broadcast(all);
    ByteReader reader(all);
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const auto known = reader.take_list<double>();
      for (std::size_t i = 0; i < pieces.size(); ++i)
        log_partitions_[pieces[i]] = std::max(log_partitions_[pieces[i]], known[i]);
    }
  }

  using Shards = std::vector<std::vector<std::size_t>>;  // indices of pieces
  using Sums = ShardSums;

  // Calls visit(engine, shards of the group, the index of the first one, threads) for each group of shards
  // that is this rank's, several of them side by side. Returns the rank of every shard. An engine may add up
  // what belongs to a group: groups are the same for any number of ranks.
  template <class Visit>
  std::vector<int> for_each_group(const Shards& shards, Visit visit) {
    // Each engine gets an equal part of the threads.
    EngineOptions part = options_;
    part.threads = std::max(1, options_.threads / workers_for(shards.size(), options_));
    std::unique_ptr<Engine> first = make_engine(part, chain());
    const std::vector<Shards> groups = group(shards, first->batches().batch_positions());
    std::vector<std::size_t> begins{0};
    std::vector<std::int64_t> positions;
    for (const Shards& members : groups) {
      begins.push_back(begins.back() + members.size());
      positions.push_back(0);
      for (const std::vector<std::size_t>& shard : members)
        for (const std::size_t i : shard) positions.back() += data_.pieces[i].length;
    }
    const std::vector<int> ranks = share_out(positions, ranks_.size());
    std::vector<std::size_t> mine;
    std::vector<int> owners;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (ranks[i] == ranks_.rank()) mine.push_back(i);
      owners.insert(owners.end(), groups[i].size(), ranks[i]);
    }
    const int side_by_side = workers_for(mine.size(), options_);
    part.threads = std::max(1, options_.threads / side_by_side);
    std::vector<std::unique_ptr<Engine>> engines(side_by_side);
    engines.front() = std::move(first);
    parallel_for(side_by_side, mine.size(), [&](std::size_t i, int worker) {
      std::unique_ptr<Engine>& engine = engines[worker];
      if (engine == nullptr) engine = make_engine(of_worker(part, worker), chain());
      visit(*engine, groups[mine[i]], begins[mine[i]], part.threads);
    });
    return owners;
  }

  // Devices are taken in turn.
  static EngineOptions of_worker(EngineOptions options, int worker) {
    if (!options.devices.empty()) options.devices = {options.devices[worker % options.devices.size()]};
    return options;
  }

  // What is computed one after the other, with sums of its own: every long piece, the longest first, so that
  // threads end together; then runs of consecutive short ones. By the lengths alone.
  Shards make_shards(std::span<const std::size_t> pieces) const {
    Shards shards;
    std::int64_t positions = 0;  // positions of short pieces
    for (const std::size_t i : pieces) {
      if (data_.pieces[i].length > kLongPiece) {
        shards.push_back({i});
      } else {
        positions += data_.pieces[i].length;
      }
    }
    std::ranges::stable_sort(shards, std::greater<>(),
                             [&](const auto& shard) { return data_.pieces[shard.front()].length; });
    const std::int64_t goal = std::max(kShard, positions / kMostShards + 1);
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

  void evaluate(Engine& engine, const Shards& shards, int threads, std::span<Sums> sums) {
    if (engine.batches().batch_positions() > 0) return evaluate_together(engine, shards, threads, sums);
    for (std::size_t shard = 0; shard < shards.size(); ++shard)
      for (const std::size_t i : shards[shard]) {
        const TrainingPiece& piece = data_.pieces[i];
        const std::unique_ptr<Engine> own =
            piece.location.sites
                ? make_site_engine(engine.model(), sites_of(piece.location, piece.length), threads)
                : nullptr;
        evaluate_together(own ? *own : engine, {{i}}, threads, sums.subspan(shard, 1));
      }
  }

  PieceBatch::Setup setup_for(const Engine& engine, bool with_gradient) const {
    const bool by_roles = roles_ && has_role_chain_;
    const bool project = objective_.project && engine.projects() && which_ == PieceBatch::Sum::kAll &&
                         data_.boundary_arrays() == 0 && !by_roles && !densities_;
    PieceBatch::Setup setup{
        .parameters = parameters_, .heads = heads_, .options = objective_, .pieces = {}, .shard_ends = {}};
    setup.precision = engine.precision();
    setup.project = project;
    setup.densities = densities_ ? &*densities_ : nullptr;
    setup.density_gradient = density_gradient_ ? &*density_gradient_ : nullptr;
    setup.with_gradient = with_gradient;
    setup.roles = roles_.get();
    setup.has_role_chain = by_roles;
    setup.sum = which_;
    return setup;
  }

  // In one call of the engine.
  void decode_together(Engine& engine, std::span<const std::size_t> pieces, int threads,
                       std::vector<std::vector<Segment>>& found) const {
    PieceBatch::Setup setup = setup_for(engine, false);
    for (const std::size_t i : pieces) setup.pieces.push_back(&data_.pieces[i]);
    setup.shard_ends.push_back(setup.pieces.size());
    PieceBatch batch(std::move(setup));
    const int inside = std::max(1, threads / static_cast<int>(std::min<std::size_t>(pieces.size(), 1024)));
    parallel_for(threads, pieces.size(), [&](std::size_t i, int) { batch.prepare(i, inside); });
    std::vector<SequencePath> paths = batch.paths(engine);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::reverse(paths[i].reversed.begin(), paths[i].reversed.end());
      found[pieces[i]] = std::move(paths[i].reversed);
    }
  }

  // The pieces of all shards in one call of the engine.
  void evaluate_together(Engine& engine, const Shards& shards, int threads, std::span<Sums> sums) {
    std::vector<std::size_t> pieces;
    bool penalties = false;
    for (const std::vector<std::size_t>& shard : shards) {
      pieces.insert(pieces.end(), shard.begin(), shard.end());
      for (const std::size_t i : shard) penalties = penalties || needs_penalty(data_.pieces[i].evidence);
    }
    for (const double penalty : kPenalties) {
      PieceBatch::Setup setup = setup_for(engine, sums.front().gradient.has_value());
      setup.penalty = penalty;
      for (const std::size_t i : pieces) setup.pieces.push_back(&data_.pieces[i]);
      for (std::size_t end = 0; const std::vector<std::size_t>& shard : shards)
        setup.shard_ends.push_back(end += shard.size());
      if (objective_.posteriors != nullptr && setup.with_gradient)
        for (const std::size_t i : pieces) setup.posteriors.push_back(&(*objective_.posteriors)[i]);
      PieceBatch batch(std::move(setup));
      std::vector<double> truths(pieces.size());
      const int inside = std::max(1, threads / static_cast<int>(std::min<std::size_t>(pieces.size(), 1024)));
      parallel_for(threads, pieces.size(), [&](std::size_t i, int) { truths[i] = batch.prepare(i, inside); });
      ExpectedCounts counts;
      const std::vector<SequenceResult> results = batch.ask(engine, counts);
      if (which_ == PieceBatch::Sum::kAllowed && penalties) {
        const std::optional<std::size_t> unclear = first_unclear(penalty, pieces, results);
        if (unclear && penalty < kPenalties.back()) continue;
        if (unclear) refuse(data_.pieces[*unclear]);
      }
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (!std::isfinite(truths[i]) || !std::isfinite(results[i].log_partition))
          refuse(data_.pieces[pieces[i]]);
        if (which_ == PieceBatch::Sum::kAll) log_partitions_[pieces[i]] = results[i].log_partition;
      }
      add_up(batch, results, truths, counts, threads, sums);
      return;
    }
  }

  // Segmentations that lack a boundary have e^-penalty of the probability of all at most. That is nothing
  // beside those that are allowed, if these have so much more. The first piece where they have not.
  std::optional<std::size_t> first_unclear(double penalty, std::span<const std::size_t> pieces,
                                           std::span<const SequenceResult> results) const {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (needs_penalty(data_.pieces[pieces[i]].evidence) &&
          !(log_partitions_[pieces[i]] - results[i].log_partition < penalty - kPenaltyMargin))
        return pieces[i];
    return std::nullopt;
  }

  // Adds what a batch was answered to the sums of its shards.
  void add_up(PieceBatch& batch, std::span<const SequenceResult> results, std::span<const double> truths,
              const ExpectedCounts& counts, int threads, std::span<Sums> sums) const {
    const bool with_gradient = batch.setup().with_gradient;
    if (with_gradient)
      add_counts(roles_ && has_role_chain_ ? roles_->fold(counts) : counts, *sums.front().gradient);
    const int share = std::max(1, threads / count_of(sums));
    parallel_for(threads, sums.size(), [&](std::size_t shard, int) {
      for (std::size_t i = batch.setup().shard_begin(shard); i < batch.setup().shard_ends[shard]; ++i)
        sums[shard].value += results[i].log_partition - truths[i];
      if (with_gradient) batch.add_gradient(shard, share, *sums[shard].gradient);
    });
  }

  [[noreturn]] void refuse(const TrainingPiece& piece) const {
    const PathProblem problem = find_problem(parameters_, piece);
    if (!problem.what.empty())
      throw InputError({"", problem.where, problem.what, "change the parameters of --init or the labels"});
    if (which_ == PieceBatch::Sum::kAllowed)
      throw InputError({"", piece.place(0, piece.length),
                        "no possible segmentation agrees with all labels here",
                        "look for two lines near each other with a gap too short for the durations and "
                        "transitions of the model; --unlabeled cut leaves gaps out"});
    throw InputError(
        {"", piece.place(0, piece.length),
         "the loss is not finite here: the scores are too large for the " +
             std::string(options_.precision == Precision::kFloat ? "float" : "double") +
             " engine, or no segmentation is possible",
         "check the tracks for extreme values, choose --transform asinh, raise --l2 or lower the "
         "learning rate"});
  }

  const TrainingData& data_;
  const Parameters& parameters_;
  LinearHeads heads_;
  std::optional<DensityScores> densities_;           // where these make the scores
  std::optional<DensityGradient> density_gradient_;  // where it is wanted
  std::unique_ptr<EdgeRoles> roles_;                 // roles of the pieces at hand; null: they were not cut
  bool has_role_chain_ = false;  // whether engines have their chain; else they know cut edges
  EngineOptions options_;
  ObjectiveOptions objective_;
  Ranks alone_;
  Ranks& ranks_;
  PieceBatch::Sum which_ = PieceBatch::Sum::kAll;  // sum that is computed now
  std::vector<double> log_partitions_;             // by piece, all segmentations; written from any thread
};

std::size_t head_weights(const Parameters& parameters) {
  std::size_t weights = parameters.emission->weights.size();
  if (parameters.boundary)
    weights += parameters.boundary->start_weights.size() + parameters.boundary->end_weights.size();
  return weights;
}

}  // namespace

bool are_sums_of_densities(const TrainingData& data, const Parameters& parameters) {
  return data.num_tracks < parameters.num_tracks() && has_only_densities(parameters);
}

double negative_log_likelihood(const TrainingData& data, std::span<const std::size_t> pieces,
                               const Parameters& parameters, const EngineOptions& engine,
                               const ObjectiveOptions& options, ParameterGradient* gradient) {
  return PieceEvaluator(data, parameters, engine, options).run(pieces, gradient);
}

double log_evidence(const TrainingData& data, const Parameters& parameters, const EngineOptions& engine,
                    ParameterGradient* gradient, PosteriorRows* posteriors) {
  ObjectiveOptions options;
  options.posteriors = posteriors;
  if (posteriors != nullptr) posteriors->resize(data.pieces.size());
  return PieceEvaluator(data, parameters, engine, options).run_evidence(gradient);
}

std::vector<std::vector<Segment>> best_segmentations(const TrainingData& data, const Parameters& parameters,
                                                     const EngineOptions& engine, Ranks* ranks) {
  ObjectiveOptions options;
  options.ranks = ranks;
  return PieceEvaluator(data, parameters, engine, options).paths(data.all_pieces());
}

std::size_t objective_bytes(const TrainingData& data, const Parameters& parameters,
                            const EngineOptions& options, NeedOf need) {
  const int side_by_side = workers_for(data.pieces.size(), options);
  EngineOptions part = options;
  part.threads = std::max(1, options.threads / side_by_side);
  CutEdges cut;
  for (const TrainingPiece& piece : data.pieces)
    cut = {cut.left || piece.cut.left, cut.right || piece.cut.right};
  // The best segmentations after the fit are those of the chain of roles.
  const std::unique_ptr<Engine> decoder =
      make_engine(part, cut.any() ? EdgeRoles(parameters.chain, cut).chain() : parameters.chain);
  ChainModel model = knows_cut_edges(part) ? parameters.chain : decoder->model();
  if (knows_cut_edges(part)) model.cut = cut;
  const std::unique_ptr<Engine> engine = make_engine(part, std::move(model));
  const bool project = engine->projects() && data.boundary_arrays() == 0 && !has_only_densities(parameters);
  const bool partly =
      std::ranges::any_of(data.pieces, [](const TrainingPiece& piece) { return !piece.evidence.empty(); });
  const auto of_engine = [&](std::int64_t length) {
    return need == NeedOf::kUsual ? engine->usual_posterior_bytes(length, true)
                                  : engine->posterior_bytes(length, true);
  };
  const auto of_decoding = [&](std::int64_t length) {
    return need == NeedOf::kUsual ? decoder->usual_viterbi_bytes(length)
                                  : decoder->viterbi_bytes(length, true);
  };
  const std::size_t labels = engine->model().num_labels;
  const std::size_t decoded_labels = decoder->model().num_labels;
  // Boundary scores that are given take no room of their own, but copies of them do.
  const std::size_t arrays = parameters.boundary || data.boundary_arrays() > 0 ? 3 : 1;
  const std::size_t score = options.precision == Precision::kFloat ? sizeof(float) : sizeof(double);
  // Bytes of a piece, per position: scores and posteriors, or the true label.
  const std::size_t decoded_scores = project && !cut.any() ? 0 : decoded_labels * arrays * score;
  std::size_t position = project && !partly ? sizeof(int) : labels * arrays * (score + sizeof(double));
  if (partly) position += 3 * labels * sizeof(double);  // allowed_scores.h
  const std::size_t most = side_by_side;
  // The longest pieces side by side, or what goes to an engine together; and the sums of every shard.
  std::vector<std::size_t> needs;
  std::int64_t longest = kShard, positions = 0;
  for (const TrainingPiece& piece : data.pieces) {
    const std::size_t length = piece.length;
    needs.push_back(std::max(of_engine(piece.length) + length * position,
                             of_decoding(piece.length) + length * decoded_scores));
    longest = std::max(longest, piece.length);
    positions += piece.length;
  }
  if (const std::int64_t batch = engine->batches().batch_positions(); batch > 0) {
    const std::int64_t shard = std::max(longest, positions / kMostShards + kLongPiece);
    const std::size_t together = std::min(positions, batch + shard);
    const std::size_t bytes = of_engine(batch) + together * position;
    needs.assign(positions / batch + 1, bytes);
  }
  std::sort(needs.begin(), needs.end(), std::greater<>());
  needs.resize(std::min(needs.size(), most));
  const std::size_t long_pieces =
      std::count_if(data.pieces.begin(), data.pieces.end(),
                    [](const TrainingPiece& piece) { return piece.length > kLongPiece; });
  std::size_t shards = kMostShards + long_pieces;
  if (need == NeedOf::kUsual) shards = std::min(shards, static_cast<std::size_t>(positions / kShard) + 1);
  std::size_t entries = parameters.chain.duration_bias.size();
  if (project) entries += head_weights(parameters);
  // Heaps of several threads keep some of what was given back to them: 3 to 5 MiB were measured.
  const std::size_t heaps = need == NeedOf::kUsual && options.threads > 1 ? std::size_t{5} << 20 : 0;
  return std::accumulate(needs.begin(), needs.end(), heaps) + 2 * shards * entries * sizeof(double);
}

}  // namespace semicrf
