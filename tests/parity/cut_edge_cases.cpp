#include "parity/cut_edge_cases.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/batch.h"
#include "model/scores/edge_roles.h"
#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/models/resolution.h"

namespace semicrf::testing {
namespace {

constexpr CutEdges kCuts[] = {{true, false}, {false, true}, {true, true}};

// Of one sequence.
struct Sums {
  double log_partition = 0;
  std::vector<double> labels, starts, ends;
  ExpectedCounts counts;
};

PosteriorArrays room_for(Sums& sums, std::size_t entries) {
  PosteriorArrays out;
  for (auto [rows, to] :
       {std::pair{&sums.labels, &out.labels}, {&sums.starts, &out.starts}, {&sums.ends, &out.ends}}) {
    rows->assign(entries, -1);
    *to = rows->data();
  }
  return out;
}

void hide(const ModelCase& sample, CutEdges cut, std::vector<double>& starts, std::vector<double>& ends) {
  const std::ptrdiff_t labels = sample.model.num_labels;
  if (cut.left && !starts.empty()) std::fill_n(starts.begin(), labels, 0.0);
  if (cut.right && !ends.empty()) std::fill_n(ends.end() - labels, labels, 0.0);
}

// By roles; `resolution`: of what the scores themselves leave of posteriors.
Sums expected_sums(const ModelCase& sample, CutEdges cut, double& resolution) {
  const EdgeRoles roles(sample.model, cut);
  const auto engine = make_reference_engine(roles.chain());
  ScoreBuffers buffers;
  std::vector<double> baseline;
  const ScoreWindow window = with_edge_roles(sample.whole(), roles, buffers, baseline);
  Sums sums;
  const std::size_t entries = static_cast<std::size_t>(sample.length * roles.chain().num_labels);
  const PosteriorArrays out = room_for(sums, entries);
  ExpectedCounts counts;
  sums.log_partition =
      engine->batches().posteriors_of({&window, 1}, {&out, 1}, &counts).front().log_partition;
  if (sums.log_partition == kNegativeInfinity) return sums;
  sums.counts = roles.fold(counts);
  roles.add_whole_piece(sample.length,
                        std::span(sums.labels).first(static_cast<std::size_t>(roles.chain().num_labels)),
                        sums.counts);
  for (std::vector<double>* rows : {&sums.labels, &sums.starts, &sums.ends}) roles.fold_rows(*rows);
  hide(sample, cut, sums.starts, sums.ends);
  std::vector<Segment> best = engine->batches().viterbi_of({&window, 1}).front().reversed;
  std::reverse(best.begin(), best.end());
  for (Segment& segment : best) segment.label = roles.label_of(segment.label);
  resolution = resolution_of(sample, best);
  return sums;
}

void check_rows(const std::vector<double>& found, const std::vector<double>& expected, double tolerance,
                const char* what) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::fabs(found[i] - expected[i]) <= tolerance) continue;
    INFO(what << " " << i << ": " << found[i] << " instead of " << expected[i]);
    FAIL("they are more than " << tolerance << " apart");
  }
}

void check_counts(const ExpectedCounts& found, const ExpectedCounts& expected, double tolerance) {
  const auto check = [&](const std::vector<double>& mine, const std::vector<double>& theirs,
                         const char* what) {
    double largest = 1e-3;
    for (const double value : theirs) largest = std::max(largest, value);
    check_rows(mine, theirs, tolerance * largest, what);
  };
  check(found.transition, expected.transition, "transition");
  check(found.duration, expected.duration, "duration");
  check(found.tail, expected.tail, "tail");
}

}  // namespace

void check_cut_edges(const std::vector<MakeOne>& engines, const ModelCase& sample) {
  for (const CutEdges cut : kCuts) {
    double resolution = 0;
    const Sums expected = expected_sums(sample, cut, resolution);
    const ScoreWindow window = sample.whole();
    for (const MakeOne& make : engines) {
      ChainModel model = sample.model;
      model.cut = cut;
      const auto engine = make(model);
      INFO(sample.description << ", cut " << (cut.left ? "left " : "") << (cut.right ? "right" : "") << ", "
                              << engine->description());
      Sums found;
      const PosteriorArrays out = room_for(found, expected.labels.empty() ? 1 : expected.labels.size());
      const double log_partition = engine->batches().log_partitions({&window, 1}).front().log_partition;
      if (expected.log_partition == kNegativeInfinity) {
        REQUIRE(log_partition == kNegativeInfinity);
        continue;
      }
      found.log_partition =
          engine->batches().posteriors_of({&window, 1}, {&out, 1}, &found.counts).front().log_partition;
      const Tolerances tolerances = tolerances_of(engine->precision());
      // Roundings of every segment.
      const double segments = std::accumulate(expected.starts.begin(), expected.starts.end(), 1.0);
      const double size = 3 * std::max({1.0, std::fabs(expected.log_partition), segments});
      REQUIRE(std::fabs(log_partition - expected.log_partition) <=
              (tolerances.log_partition + resolution) * size);
      REQUIRE(std::fabs(found.log_partition - expected.log_partition) <=
              (tolerances.log_partition + resolution) * size);
      const double tolerance = tolerances.posterior + resolution;
      check_rows(found.labels, expected.labels, tolerance, "label");
      check_rows(found.starts, expected.starts, tolerance, "start");
      check_rows(found.ends, expected.ends, tolerance, "end");
      check_counts(found.counts, expected.counts,
                   (engine->precision() == Precision::kFloat ? 2e-4 : 2e-9) + resolution);
    }
  }
}

void check_cut_batches(const std::vector<MakeOne>& engines, std::uint64_t seed) {
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kTails, CaseKind::kBoundaryScores, CaseKind::kMasks}) {
    for (const CutEdges cut : kCuts) {
      ++seed;
      std::vector<ModelCase> samples;
      for (const std::int64_t length : {40, 1, 33, 97, 272})
        samples.push_back(make_case(kind, {length, 21, 3}, seed));
      for (const MakeOne& make : engines) {
        INFO(samples.front().description);
        ChainModel model = samples.front().model;
        model.cut = cut;
        const auto engine = make(model);
        std::vector<ScoreWindow> windows;
        std::vector<Sums> together(samples.size());
        std::vector<PosteriorArrays> out;
        ExpectedCounts counts, one_by_one;
        for (std::size_t i = 0; i < samples.size(); ++i) {
          windows.push_back(samples[i].whole());
          out.push_back(
              room_for(together[i], static_cast<std::size_t>(samples[i].length * model.num_labels)));
        }
        const auto results = engine->batches().posteriors_of(windows, out, &counts);
        const auto partitions = engine->batches().log_partitions(windows);
        for (std::size_t i = 0; i < samples.size(); ++i) {
          Sums alone;
          const PosteriorArrays rows = room_for(alone, together[i].labels.size());
          const auto result = engine->batches().posteriors_of({&windows[i], 1}, {&rows, 1}, &one_by_one);
          CHECK(result.front().log_partition == results[i].log_partition);
          CHECK(result.front().log_partition == partitions[i].log_partition);
          CHECK(alone.labels == together[i].labels);
          CHECK(alone.starts == together[i].starts);
          CHECK(alone.ends == together[i].ends);
        }
        check_counts(counts, one_by_one, 1e-12);
      }
    }
  }
}

}  // namespace semicrf::testing
