// The reference engine's expected counts and forward messages, against the enumeration of all segmentations
// and against differences of log Z.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/differences.h"
#include "support/models/random_models.h"
#include "support/models/resolution.h"
#include "support/seeds.h"
#include "support/truth/enumerate.h"
#include "support/truth/rescore.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

constexpr double kTolerance = 1e-10;

double log_add(double a, double b) {
  const double high = std::max(a, b);
  return high == kNegativeInfinity ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

struct Gradients {
  std::vector<double> labels, starts, ends;
  ExpectedCounts counts;
};

Gradients gradients_of(const ModelCase& sample) {
  const auto engine = make_reference_engine(sample.model);
  const std::size_t rows =
      static_cast<std::size_t>(sample.length) * static_cast<std::size_t>(sample.model.num_labels);
  Gradients out;
  for (auto* array : {&out.labels, &out.starts, &out.ends}) array->resize(rows);
  PosteriorArrays arrays;
  arrays.labels = out.labels.data();
  arrays.starts = out.starts.data();
  arrays.ends = out.ends.data();
  arrays.counts = &out.counts;
  engine->posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, arrays);
  return out;
}

void check_counts(const ModelCase& sample) {
  INFO(sample.description);
  const Enumeration expected = enumerate_segmentations(sample);
  const ExpectedCounts found = gradients_of(sample).counts;
  const double allowed = kTolerance + resolution_of(sample, expected.best_path);
  CHECK(largest_difference(found.transition, expected.transition) <= allowed);
  CHECK(largest_difference(found.duration, expected.duration) <= allowed);
  if (sample.model.has_tail()) CHECK(largest_difference(found.tail, expected.tail) <= allowed);
  if (!sample.model.has_tail()) CHECK(found.tail.empty());
}

// The same scores in double, centred already, so that any one of them can be moved alone.
ModelCase centred(const ModelCase& sample) {
  ModelCase out = sample;
  out.baseline.clear();
  out.subtract_position_max = false;
  out.emissions = ScoreTable();
  for (std::int64_t t = 0; t < sample.length; ++t) {
    for (int c = 0; c < sample.model.num_labels; ++c)
      out.emissions.f64.push_back(centred_emission(sample, t, c));
  }
  const auto in_double = [&](ScoreTable& table) {
    std::vector<double> values(out.emissions.f64.size());
    if (!table.empty()) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = table.at(i);
    }
    table = ScoreTable();
    table.f64 = values;
  };
  in_double(out.start_scores);
  in_double(out.end_scores);
  return out;
}

// Central differences of log Z next to what the engine says; scores of -inf stay.
class Differences {
 public:
  explicit Differences(const ModelCase& sample) : sample_(sample) {}

  void compare(std::vector<double>& scores, const std::vector<double>& gradient) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] == kNegativeInfinity) {
        CHECK(std::fabs(gradient[i]) <= 1e-12);
        continue;
      }
      const double at = scores[i];
      scores[i] = at + kStep;
      const double above = log_partition(sample_.model, sample_.whole());
      scores[i] = at - kStep;
      const double below = log_partition(sample_.model, sample_.whole());
      scores[i] = at;
      const double difference = (above - below) / (2 * kStep);
      dot_ += difference * gradient[i];
      found_ += gradient[i] * gradient[i];
      expected_ += difference * difference;
      worst_ = std::max(worst_, std::fabs(difference - gradient[i]));
      largest_ = std::max(largest_, std::fabs(difference));
    }
  }
  void check() const {
    CHECK(dot_ >= 0.999999 * std::sqrt(found_ * expected_));
    CHECK(worst_ <= 1e-7 * std::max(1.0, largest_));
  }

 private:
  static constexpr double kStep = 1e-4;
  const ModelCase& sample_;
  double dot_ = 0, found_ = 0, expected_ = 0, worst_ = 0, largest_ = 0;
};

void check_differences(ModelCase sample) {
  INFO(sample.description);
  // The last digit of a large log Z swamps a difference.
  if (!(std::fabs(log_partition(sample.model, sample.whole())) < 1e4)) return;
  Gradients gradients = gradients_of(sample);
  Differences differences(sample);
  differences.compare(sample.model.transition, gradients.counts.transition);
  differences.compare(sample.model.duration_bias, gradients.counts.duration);
  if (sample.model.has_tail()) differences.compare(sample.model.log_tail, gradients.counts.tail);
  differences.compare(sample.emissions.f64, gradients.labels);
  differences.compare(sample.start_scores.f64, gradients.starts);
  differences.compare(sample.end_scores.f64, gradients.ends);
  differences.check();
}

// log Z of the first `end` positions when a segment of `label` ends there.
double prefix_log_partition(const ModelCase& sample, std::int64_t end, int label) {
  ModelCase prefix = sample;
  const bool whole = end == sample.length;
  prefix.length = end;
  const std::vector<double> edge = sample.model.end_scores;
  prefix.model.end_scores.assign(static_cast<std::size_t>(sample.model.num_labels), kNegativeInfinity);
  const auto c = static_cast<std::size_t>(label);
  prefix.model.end_scores[c] = whole && !edge.empty() ? edge[c] : 0.0;
  return enumerate_segmentations(prefix).log_partition;
}

// True when both are -inf or they differ by little.
bool close(double found, double expected) {
  if (found == expected) return true;
  return std::fabs(found - expected) <= kTolerance * std::max(1.0, std::fabs(expected));
}

void check_forward(const ModelCase& sample) {
  INFO(sample.description);
  const int labels = sample.model.num_labels;
  const auto rows = static_cast<std::size_t>(sample.length * labels);
  std::vector<double> starts(rows), ends(rows), tails(rows);
  const auto engine = make_reference_engine(sample.model);
  const ForwardWindow window = engine->forward(sample.whole(), {0, sample.length}, nullptr,
                                               {starts.data(), ends.data(), tails.data()});
  CHECK(window.chunks.size() == 1);
  CHECK(window.whole == std::floor(window.whole));
  CHECK(close(log_sum(window.right), log_partition(sample.model, sample.whole())));
  const auto at = [&](std::int64_t t, int c) { return static_cast<std::size_t>(t * labels + c); };
  for (std::int64_t t = 0; t < sample.length; ++t) {
    for (int c = 0; c < labels; ++c) {
      double before = t == 0 ? initial_score(sample.model, c, InitialSources::kAll) : kNegativeInfinity;
      for (int from = 0; t > 0 && from < labels; ++from) {
        before = log_add(before, window.whole + ends[at(t - 1, from)] + sample.model.transition_at(from, c));
      }
      CHECK(close(window.whole + starts[at(t, c)], before + start_score(sample, t, c)));
      CHECK(close(window.whole + ends[at(t, c)], prefix_log_partition(sample, t + 1, c)));
      double content = 0;
      double tail = kNegativeInfinity;
      for (std::int64_t s = t; s >= 0; --s) {
        content += centred_emission(sample, s, c);
        if (t + 1 - s <= sample.model.max_duration) continue;
        tail = log_add(tail,
                       window.whole + starts[at(s, c)] + content + sample.model.duration_score(t + 1 - s, c));
      }
      CHECK(close(window.whole + tails[at(t, c)], tail));
    }
  }
}

}  // namespace

TEST_CASE("expected counts equal the enumeration of all segmentations") {
  for (const CaseKind kind : all_case_kinds()) {
    for (std::int64_t length = 1; length <= 6; ++length) {
      for (int durations = 1; durations <= 7; durations += durations < 3 ? 1 : 2) {
        for (int labels = 1; labels <= 3; ++labels) {
          const auto seed = static_cast<std::uint64_t>(1000 * length + std::int64_t{10} * durations + labels);
          check_counts(make_case(kind, {length, durations, labels}, seed));
        }
      }
    }
  }
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const CaseShape shape{1 + static_cast<std::int64_t>(seed % 5), 1 + static_cast<int>(seed / 5 % 4),
                          1 + static_cast<int>(seed / 20 % 3)};
    check_counts(make_case(CaseKind::kEverything, shape, test_seed(seed)));
  }
}

TEST_CASE("expected counts and posteriors are the derivatives of log Z") {
  for (const CaseKind kind : all_case_kinds()) {
    std::uint64_t seed = 1;
    for (const CaseShape& shape :
         {CaseShape{20, 5, 3}, CaseShape{6, 9, 2}, CaseShape{17, 1, 3}, CaseShape{25, 12, 1}}) {
      check_differences(centred(make_case(kind, shape, seed++)));
    }
  }
}

TEST_CASE("forward messages equal the enumeration of all beginnings") {
  for (const CaseKind kind : all_case_kinds()) {
    if (kind == CaseKind::kMasks) continue;  // contents of 1e9 are not summed exactly here
    check_forward(make_case(kind, {5, 3, 2}, 21));
    check_forward(make_case(kind, {6, 2, 2}, 22));
    check_forward(make_case(kind, {3, 5, 3}, 23));
  }
}

TEST_CASE("counts are added to what is there, and nothing is counted where nothing is possible") {
  const ModelCase sample = make_case(CaseKind::kTails, {30, 4, 3}, 5);
  ExpectedCounts twice = gradients_of(sample).counts;
  const ExpectedCounts once = twice;
  const auto engine = make_reference_engine(sample.model);
  PosteriorArrays arrays;
  arrays.counts = &twice;
  engine->posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, arrays);
  for (std::size_t i = 0; i < once.duration.size(); ++i) {
    CHECK(twice.duration[i] == Approx(2 * once.duration[i]).margin(1e-12));
  }
  const ExpectedCounts none = gradients_of(make_case(CaseKind::kInfeasible, {12, 4, 3}, 5)).counts;
  CHECK(none.duration == std::vector<double>(12, 0.0));
  CHECK(none.transition == std::vector<double>(9, 0.0));
}
