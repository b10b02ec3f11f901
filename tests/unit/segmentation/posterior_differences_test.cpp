// Where conditions differ: against all pairs of segmentations, and by definitions.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "analyses/posteriors/posteriors.h"
#include "engine/engine.h"
#include "segmentation/boundary_shifts.h"
#include "segmentation/label_differences.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/windowed.h"
#include "support/seeds.h"
#include "support/truth/all_paths.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

// P(label) of the reference engine, (T, C).
std::vector<double> label_posteriors(const ModelCase& sample) {
  EngineOptions options;
  options.backend = EngineOptions::Backend::kReference;
  const auto engine = make_engine(options, sample.model);
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  PosteriorSelection selection;
  selection.labels = true;
  std::vector<double> labels;
  sweep_posteriors(*engine, source, plan_in_windows(*engine, sample.length, 0), selection,
                   [&](const PosteriorBlock& block) {
                     labels.insert(labels.end(), block.labels.begin(), block.labels.end());
                   });
  return labels;
}

std::vector<int> labels_of(const std::vector<Segment>& path) {
  std::vector<int> labels;
  for (const Segment& segment : path)
    labels.insert(labels.end(), static_cast<std::size_t>(segment.end - segment.begin), segment.label);
  return labels;
}

struct Path {
  std::vector<int> labels;
  double probability = 0;
};

std::vector<Path> paths_of(const ModelCase& sample) {
  std::vector<Path> paths;
  for (const PathProbability& one : all_paths(sample))
    paths.push_back({labels_of(one.path), one.probability});
  return paths;
}

}  // namespace

TEST_CASE("the probability that labels differ is that of all pairs of segmentations") {
  std::uint64_t seed = 4800;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails, CaseKind::kForbiddenTransitions,
                              CaseKind::kMinimumDurations, CaseKind::kBoundaryScores, CaseKind::kMasks})
    for (const CaseShape shape : {CaseShape{5, 3, 2}, {4, 2, 3}, {1, 1, 2}}) {
      const ModelCase first = make_case(kind, shape, ++seed), second = make_case(kind, shape, ++seed);
      const std::vector<Path> of_first = paths_of(first), of_second = paths_of(second);
      if (of_first.empty() || of_second.empty()) continue;
      INFO(first.description << " and " << second.description);
      const auto labels = static_cast<std::size_t>(shape.num_labels);
      std::vector<double> differs(static_cast<std::size_t>(shape.length));  // by position
      double expected = 0;                                                  // number of positions that differ
      for (const Path& a : of_first)
        for (const Path& b : of_second) {
          const double both = a.probability * b.probability;
          std::int64_t count = 0;
          for (std::size_t t = 0; t < differs.size(); ++t)
            if (a.labels[t] != b.labels[t]) {
              differs[t] += both;
              ++count;
            }
          expected += both * static_cast<double>(count);
        }
      const std::vector<double> p = label_posteriors(first), q = label_posteriors(second);
      double sum = 0;
      for (std::size_t t = 0; t < differs.size(); ++t) {
        std::vector<double> rows(p.begin() + static_cast<std::ptrdiff_t>(t * labels),
                                 p.begin() + static_cast<std::ptrdiff_t>((t + 1) * labels));
        rows.insert(rows.end(), q.begin() + static_cast<std::ptrdiff_t>(t * labels),
                    q.begin() + static_cast<std::ptrdiff_t>((t + 1) * labels));
        const double found = difference_probability(rows, labels);
        CHECK(std::abs(found - differs[t]) < 1e-10);
        sum += found;
      }
      CHECK(std::abs(sum - expected) < 1e-10);
    }
}

TEST_CASE("three conditions differ unless all are the same") {
  const CaseShape shape{3, 2, 2};
  std::vector<std::vector<Path>> paths;
  std::vector<double> rows;
  for (std::uint64_t seed = 4900; seed < 4903; ++seed) {
    const ModelCase sample = make_case(CaseKind::kPlain, shape, seed);
    paths.push_back(paths_of(sample));
    const std::vector<double> posteriors = label_posteriors(sample);
    rows.insert(rows.end(), posteriors.begin() + 2, posteriors.begin() + 4);  // of position 1
  }
  double differs = 0;
  for (const Path& a : paths[0])
    for (const Path& b : paths[1])
      for (const Path& c : paths[2])
        if (a.labels[1] != b.labels[1] || b.labels[1] != c.labels[1])
          differs += a.probability * b.probability * c.probability;
  CHECK(std::abs(difference_probability(rows, 2) - differs) < 1e-10);
}

TEST_CASE("the likeliest difference is the best of all labels that are not all the same") {
  std::mt19937 random(static_cast<unsigned>(test_seed(4801)));
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t labels = 2 + random() % 4, conditions = 2 + random() % 2;
    std::vector<double> rows(labels * conditions);
    for (double& p : rows) p = random() % 5 == 0 ? 0 : std::pow(uniform(random), 4);
    const auto product = [&](const std::vector<std::uint32_t>& chosen) {
      double all = 1;
      for (std::size_t s = 0; s < conditions; ++s) all *= rows[s * labels + chosen[s]];
      return all;
    };
    std::size_t tuples = 1;
    for (std::size_t s = 0; s < conditions; ++s) tuples *= labels;
    double best = 0;
    for (std::size_t tuple = 0; tuple < tuples; ++tuple) {
      std::vector<std::uint32_t> chosen;
      for (std::size_t s = 0, rest = tuple; s < conditions; ++s, rest /= labels)
        chosen.push_back(static_cast<std::uint32_t>(rest % labels));
      if (std::ranges::adjacent_find(chosen, std::not_equal_to<>()) != chosen.end())
        best = std::max(best, product(chosen));
    }
    const std::vector<std::uint32_t> found = likeliest_difference(rows, labels);
    REQUIRE(found.size() == conditions);
    CHECK(std::ranges::adjacent_find(found, std::not_equal_to<>()) != found.end());
    CHECK(std::abs(product(found) - best) <= 1e-12 * best);
  }
}

TEST_CASE("the threshold is the lowest at which the shares of false differences are small enough") {
  std::mt19937 random(static_cast<unsigned>(test_seed(4802)));
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 200; ++round) {
    DifferenceCurves curves;
    curves.relabellings = round % 3;
    std::vector<double> found, null;
    for (int i = 0; i < 300; ++i) {
      found.push_back(uniform(random) < 0.5 ? std::pow(uniform(random), 0.2) : uniform(random));
      curves.conditions.add(found.back(), 1);
    }
    for (int i = 0; i < 300 * curves.relabellings; ++i) {
      null.push_back(std::pow(uniform(random), 3));
      curves.mixed.add(null.back(), 1);
    }
    for (const double rate : {0.01, 0.05, 0.3}) {
      // Thresholds are the lowest probabilities of cells that have bases.
      std::optional<double> lowest;
      for (const double p : found) {
        const std::size_t cell = probability_cell(p);
        double same = 0, bases = 0, replicates = 0;
        for (const double one : found)
          if (probability_cell(one) >= cell) {
            same += 1 - one;
            ++bases;
          }
        for (const double one : null) replicates += probability_cell(one) >= cell ? 1 : 0;
        const double null_share =
            curves.relabellings == 0 ? 0 : replicates / static_cast<double>(curves.relabellings) / bases;
        const bool small = same / bases + std::min(1.0, null_share) <= rate;
        if (small) lowest = std::min(lowest.value_or(2), lowest_probability(cell));
      }
      const std::optional<std::size_t> cell = lowest_cell(curves, rate);
      REQUIRE(cell.has_value() == lowest.has_value());
      if (cell) CHECK(lowest_probability(*cell) == *lowest);
    }
  }
}

TEST_CASE("mixed groups have as much of both conditions as sizes allow, each once") {
  const auto binomial = [](std::size_t n, std::size_t k) {
    double value = 1;
    for (std::size_t i = 0; i < k; ++i)
      value = value * static_cast<double>(n - i) / static_cast<double>(i + 1);
    return value;
  };
  CHECK(mixed_groups(1, 1).empty());
  for (std::size_t first = 1; first < 7; ++first)
    for (std::size_t second = 1; second < 7; ++second) {
      if (first + second == 2) continue;
      INFO(first << " and " << second);
      const std::vector<std::vector<char>> groups = mixed_groups(first, second);
      std::set<std::vector<char>> seen;
      std::size_t exchanged = 0;
      for (const std::vector<char>& group : groups) {
        std::vector<char> mirrored;
        for (const char is_first : group) mirrored.push_back(is_first == 0);
        CHECK(std::ranges::count(group, 1) == static_cast<std::ptrdiff_t>(first));
        CHECK(!seen.contains(group));
        if (first == second) CHECK(!seen.contains(mirrored));
        seen.insert(group);
        exchanged = static_cast<std::size_t>(
            std::count(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(first), 0));
        // The share of the first condition in both groups is as equal as another number exchanged makes it.
        const auto unevenness = [&](std::size_t n) {
          return std::abs(static_cast<double>(first - n) / static_cast<double>(first) -
                          static_cast<double>(n) / static_cast<double>(second));
        };
        for (std::size_t n = 1; n <= std::min(first, second); ++n)
          CHECK(unevenness(exchanged) <= unevenness(n) + 1e-12);
      }
      const double all = binomial(first, exchanged) * binomial(second, exchanged) /
                         (first == second && 2 * exchanged == first ? 2 : 1);
      CHECK(static_cast<double>(groups.size()) == std::min(64.0, all));
    }
  CHECK_THROWS(mixed_groups(15, 6));
}

TEST_CASE("boundaries match where no other one lies between them") {
  std::mt19937 random(static_cast<unsigned>(test_seed(4803)));
  for (int round = 0; round < 500; ++round) {
    BoundaryTable tables[2];
    for (BoundaryTable& table : tables) {
      table.options["intervals"] = "0.9";
      std::int64_t position = 0;
      int label = static_cast<int>(random() % 3);
      for (int i = 0; i < 12; ++i) {
        position += 1 + static_cast<std::int64_t>(random() % 9);
        const int next = (label + 1 + static_cast<int>(random() % 2)) % 3;
        BoundaryRecord record;
        record.chromosome = "c";
        record.position = position;
        record.from = std::string(1, static_cast<char>('a' + label));
        record.to = std::string(1, static_cast<char>('a' + next));
        if (random() % 3 != 0) {
          record.lower = position - static_cast<std::int64_t>(random() % 3);
          record.upper = position + static_cast<std::int64_t>(random() % 3);
        }
        table.boundaries.push_back(record);
        label = next;
      }
    }
    const BoundaryShifts found = match_boundaries(tables[0], tables[1], "b.tsv");
    CHECK(std::abs(found.level.value_or(0) - 0.81) < 1e-12);
    std::size_t at = 0;
    for (const BoundaryRecord& a : tables[0].boundaries)
      for (const BoundaryRecord& b : tables[1].boundaries) {
        if (a.from != b.from || a.to != b.to) continue;
        const auto [low, high] = std::minmax(a.position, b.position);
        bool between = false;
        for (const BoundaryTable& table : tables)
          for (const BoundaryRecord& other : table.boundaries)
            between =
                between || (&other != &a && &other != &b && other.position >= low && other.position <= high);
        if (between) continue;  // one at the same position stands on either side
        const auto one = std::ranges::find_if(found.shifts, [&](const BoundaryShift& shift) {
          return shift.first == a.position && shift.second == b.position;
        });
        REQUIRE(one != found.shifts.end());
        ++at;
        CHECK(one->from == a.from);
        CHECK(one->to == a.to);
        CHECK(one->lower.has_value() == (a.lower && b.lower));
        if (one->lower) {
          CHECK(*one->lower == *b.lower - *a.upper);
          CHECK(*one->upper == *b.upper - *a.lower);
        }
      }
    CHECK(at <= found.shifts.size());
    CHECK(found.unmatched_first == 12 - std::ssize(found.shifts));
    for (const BoundaryShift& shift : found.shifts) {
      const auto is_in = [&](const BoundaryTable& table, std::int64_t position) {
        return std::ranges::any_of(table.boundaries, [&](const BoundaryRecord& one) {
          return one.position == position && one.from == shift.from && one.to == shift.to;
        });
      };
      CHECK(is_in(tables[0], shift.first));
      CHECK(is_in(tables[1], shift.second));
      const auto [low, high] = std::minmax(shift.first, shift.second);
      for (const BoundaryTable& table : tables)
        for (const BoundaryRecord& other : table.boundaries)
          CHECK(!(other.position > low && other.position < high));
    }
  }
}
