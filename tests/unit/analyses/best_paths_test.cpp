// The N best segmentations: all of them in the order of an enumeration, ties included; the scores of a list
// Viterbi where there are too many; and windows and threads change nothing.
#include "analyses/best_paths/best_paths.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/options.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/windowed.h"
#include "support/slow_build.h"
#include "support/truth/all_paths.h"
#include "support/truth/rescore.h"
#include "support/truth/segments_of.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

using Path = std::vector<Segment>;

struct Found {
  std::vector<Path> paths;
  BestPaths best;
};

Found find(Engine& engine, const ModelCase& sample, int most, std::int64_t chunks = 0,
           const EngineOptions& options = {}) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  WindowPlan plan = plan_in_windows(engine, sample.length, chunks);
  plan.budget = std::size_t{1} << 28;
  const ViterbiResult viterbi = decode_viterbi(engine, source, plan);
  Found found;
  if (!viterbi.feasible) return found;
  found.best = find_best_paths(engine, source, plan, {}, viterbi, {most, options, 1});
  for (std::size_t rank = 0; rank < found.best.ranks.size(); ++rank)
    found.paths.push_back(segments_of(found.best.segments(rank, viterbi.segments)));
  REQUIRE(found.paths.front() == segments_of(viterbi.segments));
  REQUIRE(found.best.ranks.front().score == viterbi.score);
  return found;
}

// An engine that has no messages of best paths, as that of a GPU.
class WithoutBestMessages final : public Engine {
 public:
  explicit WithoutBestMessages(Engine& engine)
      : Engine({"other", engine.description(), engine.model(), engine.precision(), engine.info().grid},
               nullptr, engine.batches()),
        engine_(engine) {}
  std::size_t viterbi_bytes(std::int64_t positions, bool keep) const override {
    return engine_.viterbi_bytes(positions, keep);
  }
  std::size_t posterior_bytes(std::int64_t positions, bool counts) const override {
    return engine_.posterior_bytes(positions, counts);
  }
  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep) override {
    return engine_.viterbi(scores, range, left, keep);
  }
  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override {
    return engine_.posteriors(scores, range, left, right, out);
  }
  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override {
    return engine_.forward(scores, range, left, out);
  }

 private:
  Engine& engine_;
};

// The order among equally good ones: final label, then per segment from the right duration and label before.
std::vector<std::int64_t> tie_key(const Path& path) {
  std::vector<std::int64_t> key;
  for (auto segment = path.rbegin(); segment != path.rend(); ++segment)
    key.insert(key.end(), {segment->label, segment->end - segment->begin});
  return key;
}

struct Scored {
  Path path;
  double score = 0;
  double probability = 0;
};

std::vector<Scored> enumerated(const ModelCase& sample) {
  std::vector<Scored> all;
  for (const PathProbability& one : all_paths(sample))
    all.push_back({one.path, rescore(sample, one.path), one.probability});
  std::ranges::sort(all, [](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score > b.score : tie_key(a.path) < tie_key(b.path);
  });
  return all;
}

double tolerance_of(const Engine& engine) {
  if (engine.name() == "reference") return 1e-10;
  return engine.precision() == Precision::kDouble ? 1e-9 : 1e-5;
}

double largest_score(const ModelCase& sample) {
  double largest = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(sample.length * sample.model.num_labels); ++i)
    if (std::isfinite(sample.emissions.at(i))) largest = std::max(largest, std::fabs(sample.emissions.at(i)));
  for (const auto* table : {&sample.model.transition, &sample.model.duration_bias})
    for (const double entry : *table)
      if (std::isfinite(entry)) largest = std::max(largest, std::fabs(entry));
  return largest;
}

using Index = std::map<std::vector<std::int64_t>, const Scored*>;  // by tie_key

Index index_of(const std::vector<Scored>& all) {
  Index index;
  for (const Scored& one : all) index[tie_key(one.path)] = &one;
  return index;
}

void check_against(const std::vector<Scored>& expected, const Index& index, const Engine& engine,
                   const ModelCase& sample, const Found& found, int most) {
  REQUIRE(found.paths.size() == std::min(expected.size(), static_cast<std::size_t>(most)));
  std::set<const Scored*> seen;
  const double tolerance = tolerance_of(engine);
  const double scale = largest_score(sample);
  for (std::size_t rank = 0; rank < found.paths.size(); ++rank) {
    INFO("rank " << rank);
    const auto at = index.find(tie_key(found.paths[rank]));
    REQUIRE(at != index.end());
    REQUIRE(seen.insert(at->second).second);
    const BestPaths::Rank& one = found.best.ranks[rank];
    REQUIRE(std::fabs(one.score - at->second->score) <= 1e-10 * scale);
    // By score; those whose scores differ by less than rounding may change places.
    REQUIRE(std::fabs(one.score - expected[rank].score) <= tolerance * scale);
    if (sample.exact_sums) REQUIRE(found.paths[rank] == expected[rank].path);
    if (at->second->probability > 1e-200)
      REQUIRE(std::fabs(one.log_probability - std::log(at->second->probability)) <=
              10 * tolerance * std::max(scale, -std::log(at->second->probability)));
  }
}

// The best `most` scores, each boundary and label with a list of its own: O(T T C most).
std::vector<double> list_viterbi(const ModelCase& sample, std::size_t most) {
  const ChainModel& model = sample.model;
  const auto labels = static_cast<std::size_t>(model.num_labels);
  const auto keep = [&](std::vector<double>& list) {
    if (list.size() > most) {
      const auto end = list.begin() + static_cast<std::ptrdiff_t>(most);
      std::nth_element(list.begin(), end, list.end(), std::greater<>());
      list.erase(end, list.end());
    }
    std::sort(list.begin(), list.end(), std::greater<>());
  };
  std::vector<std::vector<double>> ends((static_cast<std::size_t>(sample.length) + 1) * labels);
  std::vector<std::vector<double>> starts(ends.size());
  const auto at = [&](std::int64_t t, int c) {
    return static_cast<std::size_t>(t) * labels + static_cast<std::size_t>(c);
  };
  for (std::int64_t t = 0; t <= sample.length; ++t)
    for (int pass = 0; pass < 2; ++pass)
      for (int c = 0; c < model.num_labels; ++c) {
        std::vector<double>& list = pass == 0 ? ends[at(t, c)] : starts[at(t, c)];
        double content = 0;
        for (std::int64_t s = t - 1; pass == 0 && s >= 0; --s) {
          content += centred_emission(sample, s, c);
          const double segment = content + model.duration_score(t - s, c) + end_score(sample, t - 1, c);
          if (segment == kNegativeInfinity) continue;
          for (const double before : starts[at(s, c)]) list.push_back(before + segment);
        }
        if (pass == 1 && t < sample.length) {
          const double start = start_score(sample, t, c);
          if (t == 0) list.push_back(start + initial_score(model, c, InitialSources::kBest));
          for (int from = 0; t > 0 && from < model.num_labels; ++from)
            for (const double before : ends[at(t, from)])
              list.push_back(before + model.transition_at(from, c) + start);
        }
        std::erase(list, kNegativeInfinity);
        keep(list);
      }
  std::vector<double> all;
  for (int c = 0; c < model.num_labels; ++c)
    all.insert(all.end(), ends[at(sample.length, c)].begin(), ends[at(sample.length, c)].end());
  keep(all);
  return all;
}

}  // namespace

TEST_CASE("the best segmentations of tiny sequences are those of the enumeration, in its order") {
  std::uint64_t seed = 0;
  for (const CaseKind kind : all_case_kinds()) {
    for (const CaseShape shape :
         {CaseShape{4, 2, 2}, {5, 1, 2}, {5, 3, 2}, {1, 2, 3}, {3, 7, 3}, {5, 2, 3}, {7, 2, 2}, {7, 4, 1}}) {
      const ModelCase sample = make_case(kind, shape, ++seed);
      INFO(sample.description);
      const std::vector<Scored> expected = enumerated(sample);
      const Index index = index_of(expected);
      for (const EngineOptions& options : engines_to_test()) {
        const auto engine = make_engine(options, sample.model);
        INFO(engine->description());
        for (const int most : {1, 2, 7, 100, 1000}) {
          INFO("most " << most);
          const Found found = find(*engine, sample, most);
          if (expected.empty()) {
            REQUIRE(found.paths.empty());
            continue;
          }
          check_against(expected, index, *engine, sample, found, most);
        }
      }
    }
  }
}

TEST_CASE("the scores of the best segmentations are those of a list Viterbi") {
  std::uint64_t seed = 400;
  for (const CaseKind kind : all_case_kinds()) {
    for (const CaseShape shape : {CaseShape{150, 9, 3}, {90, 40, 2}, {120, 1, 4}}) {
      const ModelCase sample = make_case(kind, shape, ++seed);
      INFO(sample.description);
      constexpr int kMost = static_cast<int>(of_long_test(60));
      const std::vector<double> expected = list_viterbi(sample, kMost);
      for (const EngineOptions& options : engines_to_test()) {
        const auto engine = make_engine(options, sample.model);
        INFO(engine->description());
        const Found found = find(*engine, sample, kMost);
        REQUIRE(found.paths.size() == expected.size());
        std::set<std::vector<std::int64_t>> seen;
        for (std::size_t rank = 0; rank < expected.size(); ++rank) {
          INFO("rank " << rank);
          REQUIRE(tiles(found.paths[rank], sample.length, sample.model.num_labels));
          REQUIRE(seen.insert(tie_key(found.paths[rank])).second);
          const double score = found.best.ranks[rank].score;
          const double scale = std::max(largest_score(sample), std::fabs(score));
          REQUIRE(std::fabs(score - rescore(sample, found.paths[rank])) <= 1e-10 * scale);
          REQUIRE(std::fabs(score - expected[rank]) <= tolerance_of(*engine) * scale);
        }
      }
    }
  }
}

TEST_CASE("windows and threads change no digit of the best segmentations") {
  std::uint64_t seed = 900;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kBoundaryScores, CaseKind::kMasks, CaseKind::kSteps, CaseKind::kTies,
                              CaseKind::kPeriodicLate, CaseKind::kSinglePath}) {
    const ModelCase sample = make_case(kind, {of_long_test(40'000), 7, 3}, ++seed);
    INFO(sample.description);
    for (const EngineOptions& options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      constexpr int kMost = 20;
      const Found whole = find(*engine, sample, kMost);
      for (std::size_t rank = 0; rank < whole.paths.size(); ++rank) {
        const double score = whole.best.ranks[rank].score;
        REQUIRE(score == Approx(rescore(sample, whole.paths[rank])).epsilon(1e-12).margin(1e-9));
        if (rank > 1) REQUIRE(score <= whole.best.ranks[rank - 1].score);
      }
      EngineOptions other = options;
      other.threads = 3;
      const auto again = make_engine(other, sample.model);
      for (const std::int64_t chunks : {1, 3}) {
        const Found windows = find(*again, sample, kMost, chunks);
        REQUIRE((windows.paths == whole.paths));
        for (std::size_t rank = 0; rank < whole.paths.size(); ++rank) {
          CHECK(windows.best.ranks[rank].score == whole.best.ranks[rank].score);
          CHECK(windows.best.ranks[rank].log_probability == whole.best.ranks[rank].log_probability);
        }
      }
      // Fewer are the first of more.
      const Found few = find(*engine, sample, 5);
      for (std::size_t rank = 0; rank < few.paths.size(); ++rank) CHECK(few.paths[rank] == whole.paths[rank]);
    }
  }
}

TEST_CASE("an engine without messages of best paths has the cpu engine's") {
  const ModelCase sample = make_case(CaseKind::kTails, {3000, 12, 3}, 77);
  for (EngineOptions options : engines_to_test()) {
    if (options.backend != EngineOptions::Backend::kCpu) continue;
    const auto engine = make_engine(options, sample.model);
    WithoutBestMessages other(*engine);
    constexpr int kMost = 12;
    const Found expected = find(*engine, sample, kMost);
    options.backend = EngineOptions::Backend::kCuda;
    const Found found = find(other, sample, kMost, 0, options);
    REQUIRE(found.paths == expected.paths);
    for (std::size_t rank = 0; rank < found.paths.size(); ++rank)
      CHECK(found.best.ranks[rank].score == expected.best.ranks[rank].score);
  }
}
