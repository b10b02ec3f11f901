// Pieces that were cut out of something longer: everything that is computed of them against the enumeration
// of all segmentations, scored straight from the definition (docs/algorithm.md, "Cut edges").
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analyses/best_paths/best_paths.h"
#include "analyses/claims/claim_sweep.h"
#include "analyses/claims/message_sweep.h"
#include "analyses/draws/segment_sampler.h"
#include "analyses/draws/segment_shares.h"
#include "analyses/intervals/boundary_intervals.h"
#include "engine/options.h"
#include "model/scores/edge_roles.h"
#include "support/catch.h"
#include "support/cut_piece.h"
#include "support/models/random_models.h"
#include "support/models/resolution.h"
#include "support/models/windowed.h"
#include "support/slow_build.h"
#include "support/truth/claim_truth.h"
#include "support/truth/interval_truth.h"
#include "support/truth/rescore.h"
#include "support/truth/segments_of.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

constexpr double kLevel = 0.8;  // of intervals
constexpr int kRanks = 6;
constexpr std::int64_t kEnumerable = 16;  // positions

constexpr CutEdges kCuts[] = {{true, false}, {false, true}, {true, true}};

// ln of the sum over the durations j >= seen of ways(j) e^{B[j]}, term by term.
template <class Ways>
double summed(const ChainModel& model, int label, std::int64_t seen, Ways ways) {
  const bool tail = model.has_tail() && model.log_tail[static_cast<std::size_t>(label)] > kNegativeInfinity;
  double top = kNegativeInfinity;
  for (std::int64_t j = seen; j <= std::max<std::int64_t>(seen, model.max_duration); ++j)
    top = std::max(top, model.duration_score(j, label));
  if (top == kNegativeInfinity) return top;
  double sum = 0;
  for (std::int64_t j = seen; j <= model.max_duration || tail; ++j) {
    const double term = ways(j) * std::exp(model.duration_score(j, label) - top);
    sum += term;
    if (j > model.max_duration && term < 1e-19 * sum) break;
  }
  return top + std::log(sum);
}

double score_of(const ModelCase& sample, CutEdges cut, const std::vector<Segment>& path,
                InitialSources sources = InitialSources::kAll) {
  const ChainModel& model = sample.model;
  const std::int64_t length = sample.length;
  double score = 0;
  const auto at = [](int c) { return static_cast<std::size_t>(c); };
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Segment& segment = path[i];
    const bool left = cut.left && i == 0, right = cut.right && i + 1 == path.size();
    const std::int64_t seen = segment.end - segment.begin;
    for (std::int64_t t = segment.begin; t < segment.end; ++t)
      score += centred_emission(sample, t, segment.label);
    if (i > 0) score += model.transition_at(path[i - 1].label, segment.label);
    if (i == 0 && !left) score += initial_score(model, segment.label, sources);
    const double pi_start = i == 0 && !model.start_scores.empty() ? model.start_scores[at(segment.label)] : 0;
    const bool last = i + 1 == path.size();
    const double pi_end = last && !model.end_scores.empty() ? model.end_scores[at(segment.label)] : 0;
    score += left ? pi_start : start_score(sample, segment.begin, segment.label);
    score += right ? pi_end : end_score(sample, segment.end - 1, segment.label);
    if (left && right) {
      score += summed(model, segment.label, length,
                      [&](std::int64_t j) { return static_cast<double>(j - length + 1); });
    } else if (left || right) {
      score += summed(model, segment.label, seen, [](std::int64_t) { return 1.0; });
    } else {
      score += model.duration_score(seen, segment.label);
    }
  }
  return score;
}

struct ScoredPath {
  std::vector<Segment> path;
  double score = 0;       // log semiring
  double best_score = 0;  // max semiring
  double probability = 0;
};

void extend(const ModelCase& sample, CutEdges cut, std::vector<Segment>& path, std::vector<ScoredPath>& all) {
  const std::int64_t begin = path.empty() ? 0 : path.back().end;
  if (begin == sample.length) {
    const double score = score_of(sample, cut, path);
    if (score > kNegativeInfinity)
      all.push_back({path, score, score_of(sample, cut, path, InitialSources::kBest), 0});
    return;
  }
  for (int label = 0; label < sample.model.num_labels; ++label)
    for (std::int64_t end = begin + 1; end <= sample.length; ++end) {
      path.push_back({begin, end, label});
      extend(sample, cut, path, all);
      path.pop_back();
    }
}

struct All {
  std::vector<ScoredPath> paths;
  double log_partition = kNegativeInfinity;
  double best = kNegativeInfinity;
};

All all_segmentations(const ModelCase& sample, CutEdges cut) {
  All all;
  std::vector<Segment> path;
  extend(sample, cut, path, all.paths);
  double top = kNegativeInfinity;
  for (const ScoredPath& one : all.paths) {
    top = std::max(top, one.score);
    all.best = std::max(all.best, one.best_score);
  }
  double sum = 0;
  for (ScoredPath& one : all.paths) sum += one.probability = std::exp(one.score - top);
  for (ScoredPath& one : all.paths) one.probability /= sum;
  all.log_partition = top + std::log(sum);
  return all;
}

// Everything at once.
CutPieceResult analyse(const EngineOptions& options, const ModelCase& sample, CutEdges cut,
                       std::int64_t chunks = 0) {
  const EdgeRoles roles(sample.model, cut);
  const auto engine = make_engine(options, roles.chain());
  EdgeSource source(std::make_unique<MemoryScoreSource>(sample.whole(), sample.model.num_labels), roles);
  AnalysisList analyses;
  analyses.add<ViterbiDecoding>();
  if (sample.length <= kEnumerable) analyses.add<KBest>(kRanks, 0);
  analyses.add<ExactSegments>();
  PosteriorRequest request;
  request.labels = request.starts = request.ends = request.sums = request.counts = true;
  request.along_path = request.path_edges = request.path_next = true;
  analyses.add<Posteriors>(request);
  analyses.add<CredibleIntervals>(kLevel);
  analyses.add<Samples>(3, 0);
  WindowPlan plan = plan_in_windows(*engine, sample.length, chunks);
  plan.budget = kPlanBudget;
  return analyse_cut_piece(*engine, source, {&roles}, analyses, plan, sample.length);
}

double tolerance_of(const EngineOptions& options) {
  if (options.backend == EngineOptions::Backend::kReference) return 1e-10;
  return options.precision == Precision::kFloat ? 1e-5 : 1e-9;
}

void check_posteriors(const ModelCase& sample, const All& all, const CutPieceResult& found, double tolerance,
                      double resolution) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  const auto length = static_cast<std::size_t>(sample.length);
  std::vector<double> boundary(length), label(length * labels), starts(length * labels),
      ends(length * labels);
  double entropy = 0, segments = 0;
  for (const ScoredPath& one : all.paths) {
    const double p = one.probability;
    entropy -= p > 0 ? p * std::log(p) : 0;
    for (const Segment& segment : one.path) {
      const auto c = static_cast<std::size_t>(segment.label);
      const auto begin = static_cast<std::size_t>(segment.begin), end = static_cast<std::size_t>(segment.end);
      segments += p;
      boundary[begin] += p;
      starts[begin * labels + c] += p;
      ends[(end - 1) * labels + c] += p;
      for (std::size_t t = begin; t < end; ++t) label[t * labels + c] += p;
    }
  }
  const auto close = [&](const std::vector<double>& mine, const std::vector<double>& expected) {
    REQUIRE(mine.size() == expected.size());
    for (std::size_t i = 0; i < mine.size(); ++i) REQUIRE(std::fabs(mine[i] - expected[i]) < tolerance);
  };
  close(found.boundary, boundary);
  close(found.labels, label);
  close(found.starts, starts);
  close(found.ends, ends);
  const PosteriorResult& result = found.result.get<PosteriorResult>();
  const auto bins = static_cast<double>(length);
  REQUIRE(std::fabs(result.boundary_mass - segments) < tolerance * bins);
  double label_entropy = 0;
  for (const double p : label) label_entropy -= p > 0 ? p * std::log(p) : 0;
  REQUIRE(std::fabs(result.label_entropy - label_entropy) < 20 * tolerance * bins);
  // E[score] is made of scores as large as log Z.
  const double size = std::max(1.0, std::fabs(all.log_partition) / 100);
  if (resolution == 0) REQUIRE(std::fabs(result.sums->entropy - entropy) < 20 * tolerance * bins * size);
  for (std::size_t c = 0; c < labels; ++c) {
    REQUIRE(std::fabs(result.sums->last_bin[c] - label[(length - 1) * labels + c]) < tolerance);
    double own_entropy = 0;
    for (std::size_t t = 0; t < length; ++t)
      if (const double p = label[t * labels + c]; p > 0) own_entropy -= p * std::log(p);
    REQUIRE(std::fabs(result.sums->label_entropies[c] - own_entropy) < 20 * tolerance * bins);
  }
}

// The k best are distinct segmentations with the k largest scores, and say their probabilities.
void check_ranks(const ModelCase& sample, CutEdges cut, const All& all, const CutPieceResult& found,
                 double tolerance) {
  const auto& best = found.result.get<BestPaths>();
  std::vector<double> scores;
  for (const ScoredPath& one : all.paths) scores.push_back(one.best_score);
  std::ranges::sort(scores, std::greater<>());
  REQUIRE(best.ranks.size() == std::min<std::size_t>(kRanks, scores.size()));
  std::vector<std::vector<Segment>> paths;
  for (std::size_t rank = 0; rank < best.ranks.size(); ++rank) {
    paths.push_back(segments_of(best.segments(rank, found.result.get<ViterbiResult>().segments)));
    const double scale = tolerance * std::max(1.0, std::fabs(all.best));
    REQUIRE(std::fabs(best.ranks[rank].score - scores[rank]) < scale);
    REQUIRE(std::fabs(best.ranks[rank].score - score_of(sample, cut, paths.back(), InitialSources::kBest)) <
            scale);
    const double log_probability = score_of(sample, cut, paths.back()) - all.log_partition;
    REQUIRE(std::fabs(best.ranks[rank].log_probability - log_probability) < 2 * scale);
  }
  std::ranges::sort(paths, {}, [](const std::vector<Segment>& path) {
    std::vector<std::tuple<std::int64_t, std::int64_t, int>> key;
    for (const Segment& one : path) key.emplace_back(one.begin, one.end, one.label);
    return key;
  });
  REQUIRE(std::ranges::adjacent_find(paths) == paths.end());
}

// P(exactly this segment) is the end posterior of its label times its share.
void check_shares(const ModelCase& sample, const All& all, const CutPieceResult& found, double tolerance) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  SpooledNumbers::Reader shares(found.result.get<SegmentShares>().logs);
  for (const Segment& segment : segments_of(found.result.get<ViterbiResult>().segments)) {
    double share = 0, exact = 0;
    REQUIRE(shares.next(share));
    for (const ScoredPath& one : all.paths)
      if (std::ranges::find(one.path, segment) != one.path.end()) exact += one.probability;
    const double end = found.ends[static_cast<std::size_t>(segment.end - 1) * labels +
                                  static_cast<std::size_t>(segment.label)];
    REQUIRE(std::fabs(end * std::exp(share) - exact) < 2 * tolerance);
  }
}

// The derivative of log Z by one parameter of `changed`, to the fourth order in the step.
double derivative(ModelCase& changed, CutEdges cut, double& parameter) {
  const double before = parameter;
  const double step = 1e-3 * std::min(1.0, std::max(1e-3, std::fabs(before)));
  const auto slope = [&](double h) {
    parameter = before + h;
    const double up = all_segmentations(changed, cut).log_partition;
    parameter = before - h;
    const double down = all_segmentations(changed, cut).log_partition;
    parameter = before;
    return (up - down) / (2 * h);
  };
  return (4 * slope(step / 2) - slope(step)) / 3;
}

// The derivatives by all parameters that are finite; 0 by the others.
ExpectedCounts derivatives(const ModelCase& sample, CutEdges cut) {
  ModelCase changed = sample;
  const auto by = [&](std::vector<double>& parameters) {
    std::vector<double> slopes(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i] != kNegativeInfinity) slopes[i] = derivative(changed, cut, parameters[i]);
    return slopes;
  };
  ExpectedCounts slopes;
  slopes.transition = by(changed.model.transition);
  slopes.duration = by(changed.model.duration_bias);
  slopes.tail = by(changed.model.log_tail);
  return slopes;
}

void check_counts(const ChainModel& model, const ExpectedCounts& slopes, const ExpectedCounts& counts,
                  double tolerance) {
  const auto check = [&](const std::vector<double>& parameters, const std::vector<double>& expected,
                         const std::vector<double>& found) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i] == kNegativeInfinity) continue;
      REQUIRE(std::fabs(expected[i] - found[i]) < tolerance);
    }
  };
  check(model.transition, slopes.transition, counts.transition);
  check(model.duration_bias, slopes.duration, counts.duration);
  if (model.has_tail()) check(model.log_tail, slopes.tail, counts.tail);
}

struct ClaimTruth {
  double probability = 0;
  bool possible = false, certain = true;
};

std::vector<ClaimTruth> claim_truths(const std::vector<Claim>& claims, const All& all) {
  std::vector<ClaimTruth> found(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i)
    for (const ScoredPath& one : all.paths) {
      const bool agrees = holds(claims[i], one.path);
      if (agrees) found[i].probability += one.probability;
      found[i].possible |= agrees;
      found[i].certain &= agrees;
    }
  return found;
}

void check_claims(const EngineOptions& options, const ModelCase& sample, CutEdges cut,
                  const std::vector<Claim>& claims, const std::vector<ClaimTruth>& expected,
                  double tolerance) {
  const EdgeRoles roles(sample.model, cut);
  const auto forward = make_engine(options, roles.chain());
  EdgeSource source(std::make_unique<MemoryScoreSource>(sample.whole(), sample.model.num_labels), roles);
  const WindowPlan plan = plan_in_windows(*forward, sample.length, 0);
  ReversedPiece mirror(options, *forward, source, {&roles});
  const ClaimSweep found = sweep_claims(*forward, source, {&roles}, plan, mirror, plan, claims, 2);
  REQUIRE(found.feasible);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    INFO("claim " << static_cast<int>(claims[i].kind) << ", label " << claims[i].label << ", ["
                  << claims[i].begin << ", " << claims[i].end << ")");
    const ClaimResult& result = found.results[i];
    REQUIRE(std::fabs(std::exp(result.log_true) - expected[i].probability) < tolerance);
    REQUIRE(std::fabs(std::exp(result.log_false) - (1 - expected[i].probability)) < tolerance);
    REQUIRE(std::isinf(result.log_true) == !expected[i].possible);
    REQUIRE(std::isinf(result.log_false) == expected[i].certain);
  }
}

void check_against_enumeration(const ModelCase& sample, bool with_counts) {
  for (const CutEdges cut : kCuts) {
    INFO(sample.description << ", cut " << (cut.left ? "left " : "") << (cut.right ? "right" : ""));
    const All all = all_segmentations(sample, cut);
    std::vector<Segment> best;
    for (const ScoredPath& one : all.paths)
      if (one.best_score == all.best) best = one.path;
    const double resolution = all.paths.empty() ? 0 : resolution_of(sample, best);
    const bool counts_too = with_counts && resolution < 1e-9 && !all.paths.empty();
    const ExpectedCounts slopes = counts_too ? derivatives(sample, cut) : ExpectedCounts();
    const std::vector<Claim> claims = all_claims(sample.length, sample.model.num_labels);
    const std::vector<ClaimTruth> claimed = claim_truths(claims, all);
    for (const EngineOptions& options : engines_to_test()) {
      const CutPieceResult found = analyse(options, sample, cut);
      INFO("engine " << static_cast<int>(options.backend) << static_cast<int>(options.precision));
      REQUIRE(found.result.get<ViterbiResult>().feasible == !all.paths.empty());
      if (all.paths.empty()) continue;
      const double tolerance = tolerance_of(options) + resolution;
      const auto near = [&](double value, double expected) {
        return std::fabs(value - expected) < tolerance * std::max(1.0, std::fabs(expected));
      };
      REQUIRE(near(found.result.get<PosteriorResult>().log_partition, all.log_partition));
      REQUIRE(near(found.result.get<ViterbiResult>().score.value(), all.best));
      const std::vector<Segment> path = segments_of(found.result.get<ViterbiResult>().segments);
      REQUIRE(near(score_of(sample, cut, path, InitialSources::kBest), all.best));
      check_posteriors(sample, all, found, tolerance, resolution);
      check_shares(sample, all, found, tolerance);
      check_ranks(sample, cut, all, found, tolerance);
      std::vector<PathProbability> paths;
      for (const ScoredPath& one : all.paths) paths.push_back({one.path, one.probability});
      check_intervals(sample, paths, path, kLevel, found.result.get<BoundaryIntervals>(), tolerance);
      check_claims(options, sample, cut, claims, claimed, tolerance);
      for (const Draw& draw : found.result.get<DrawResult>().draws) {
        const double expected = score_of(sample, cut, segments_of(draw.segments)) - all.log_partition;
        REQUIRE(std::fabs(draw.log_likelihood - expected) <
                10 * tolerance * std::max(1.0, std::fabs(all.best)));
      }
      if (counts_too)
        check_counts(sample.model, slopes, found.result.get<PosteriorResult>().sums->counts,
                     1e-6 + 10 * tolerance);
    }
  }
}

}  // namespace

TEST_CASE("cut pieces equal the enumeration of all segmentations") {
  std::uint64_t seed = 7000;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape : {CaseShape{5, 3, 2}, {4, 1, 2}, {1, 2, 3}, {3, 7, 3}})
      if (testing::is_tried(++seed)) check_against_enumeration(make_case(kind, shape, seed), false);
}

TEST_CASE("expected counts of cut pieces are the derivatives of log Z") {
  std::uint64_t seed = 7500;
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kBoundaryScores,
        CaseKind::kForbiddenDurations, CaseKind::kMinimumDurations})
    for (const CaseShape shape : {CaseShape{4, 3, 2}, {3, 1, 2}, {5, 2, 2}, {1, 3, 2}, {3, 6, 2}, {4, 4, 1}})
      if (testing::is_tried(++seed)) check_against_enumeration(make_case(kind, shape, seed), true);
}

TEST_CASE("windows do not change what is computed of cut pieces") {
  std::uint64_t seed = 7800;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kBoundaryScores, CaseKind::kMasks, CaseKind::kPeriodicLate}) {
    const ModelCase sample = make_case(kind, {of_long_test(20'000), 7, 3}, ++seed);
    INFO(sample.description);
    std::uint64_t number = seed;
    for (const CutEdges cut : kCuts) {
      for (const EngineOptions& options : engines_to_test()) {
        if (!testing::is_tried(++number)) continue;
        const CutPieceResult whole = analyse(options, sample, cut);
        if (!whole.result.feasible) continue;
        const CutPieceResult parts = analyse(options, sample, cut, 1);
        CHECK(parts.labels == whole.labels);
        CHECK(parts.path_label == whole.path_label);
        CHECK(parts.result.get<ViterbiResult>().score == whole.result.get<ViterbiResult>().score);
        CHECK(parts.result.get<PosteriorResult>().label_entropy ==
              whole.result.get<PosteriorResult>().label_entropy);
        CHECK(parts.result.get<PosteriorResult>().sums->entropy ==
              whole.result.get<PosteriorResult>().sums->entropy);
        CHECK(parts.result.get<PosteriorResult>().sums->counts.duration ==
              whole.result.get<PosteriorResult>().sums->counts.duration);
      }
    }
  }
}
