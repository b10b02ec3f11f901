// The path by posteriors: against all sequences of labels, and over windows.
#include "analyses/posteriors/posterior_path.h"

#include <cmath>
#include <optional>
#include <vector>

#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/resolution.h"
#include "support/models/windowed.h"
#include "support/slow_build.h"
#include "support/truth/enumerate.h"
#include "support/truth/rescore.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

struct Found {
  std::vector<int> labels;  // of every position
  double bins = 0, boundaries = 0;
};

// Nothing where no segmentation is possible.
std::optional<Found> find(Engine& engine, const ModelCase& sample, double gamma, std::int64_t chunks) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  PosteriorSelection selection;
  selection.labels = selection.starts = true;
  PosteriorPathFinder finder(sample.model, gamma);
  const PosteriorResult result =
      sweep_posteriors(engine, source, plan_in_windows(engine, sample.length, chunks), selection,
                       [&](const PosteriorBlock& block) { finder.add(block); });
  if (!result.feasible) return std::nullopt;
  const PosteriorPath path = finder.finish();
  Found found{{}, path.expected_correct_bins, path.expected_correct_boundaries};
  SegmentList::Reader reader(path.segments);
  for (Segment segment; reader.next(segment);)
    found.labels.insert(found.labels.end(), static_cast<std::size_t>(segment.end - segment.begin),
                        segment.label);
  return found;
}

// The best value of all sequences of labels, and the value of one of them.
class AllSequences {
 public:
  AllSequences(const ModelCase& sample, const Enumeration& known, double gamma)
      : model_(sample.model), length_(sample.length), known_(known), gamma_(gamma) {
    extend({}, 0);
  }
  double best() const { return best_; }
  double value_of(const std::vector<int>& labels) const {
    double value = 0;
    for (std::size_t t = 0; t < labels.size(); ++t)
      value += part(static_cast<std::int64_t>(t), t > 0 ? labels[t - 1] : -1, labels[t]);
    return value;
  }

 private:
  // Of position t; -inf where it may not follow `before`, -1: the beginning.
  double part(std::int64_t t, int before, int label) const {
    const std::size_t entry = static_cast<std::size_t>(t * model_.num_labels + label);
    double value = known_.labels[entry];
    if (before < 0) {
      const bool starts = model_.start_scores.empty() ||
                          model_.start_scores[static_cast<std::size_t>(label)] > kNegativeInfinity;
      if (!starts || initial_score(model_, label, InitialSources::kAll) == kNegativeInfinity)
        return kNegativeInfinity;
    } else if (before != label) {
      if (model_.transition_at(before, label) == kNegativeInfinity) return kNegativeInfinity;
      value += gamma_ * known_.starts[entry];
    }
    const bool ends = t + 1 < length_ || model_.end_scores.empty() ||
                      model_.end_scores[static_cast<std::size_t>(label)] > kNegativeInfinity;
    return ends ? value : kNegativeInfinity;
  }
  void extend(const std::vector<int>& labels, double value) {
    const auto t = static_cast<std::int64_t>(labels.size());
    if (t == length_) {
      best_ = std::max(best_, value);
      return;
    }
    for (int label = 0; label < model_.num_labels; ++label) {
      const double more = part(t, labels.empty() ? -1 : labels.back(), label);
      if (more == kNegativeInfinity) continue;
      std::vector<int> longer = labels;
      longer.push_back(label);
      extend(longer, value + more);
    }
  }

  const ChainModel& model_;
  std::int64_t length_;
  const Enumeration& known_;
  double gamma_;
  double best_ = kNegativeInfinity;
};

void check_against_all_sequences(const ModelCase& sample, double gamma) {
  INFO(sample.description << " gamma " << gamma);
  const Enumeration known = enumerate_segmentations(sample);
  const AllSequences all(sample, known, gamma);
  for (const EngineOptions& options : engines_to_test()) {
    const auto engine = make_engine(options, sample.model);
    INFO(engine->description());
    const std::optional<Found> found = find(*engine, sample, gamma, 0);
    REQUIRE(found.has_value() == (known.feasible > 0));
    if (!found) continue;
    REQUIRE(static_cast<std::int64_t>(found->labels.size()) == sample.length);
    const double tolerance =
        (engine->precision() == Precision::kFloat ? 1e-5 : 1e-9) + resolution_of(sample, known.best_path);
    const double sums = tolerance * static_cast<double>(sample.length) * (1 + gamma);
    CHECK(all.value_of(found->labels) >= all.best() - 2 * sums);
    CHECK(std::fabs(found->bins + gamma * found->boundaries - all.best()) <= 2 * sums);
  }
}

}  // namespace

TEST_CASE("the path by posteriors is the best of all allowed sequences of labels") {
  std::uint64_t seed = 500;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape : {CaseShape{6, 3, 2}, {5, 2, 3}, {1, 2, 3}, {5, 1, 2}})
      for (const double gamma : {0.0, 0.5, 4.0})
        check_against_all_sequences(make_case(kind, shape, ++seed), gamma);
}

TEST_CASE("the path by posteriors does not depend on windows or threads") {
  std::uint64_t seed = 30;
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kPeriodicLate}) {
    const ModelCase sample = make_case(kind, {of_long_test(40'000), 7, 3}, ++seed);
    INFO(sample.description);
    for (EngineOptions options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      const std::optional<Found> whole = find(*engine, sample, 0.5, 0);
      options.threads = 3;
      const std::optional<Found> windows = find(*make_engine(options, sample.model), sample, 0.5, 1);
      REQUIRE(whole.has_value() == windows.has_value());
      if (!whole) continue;
      CHECK(whole->labels == windows->labels);
      CHECK(whole->bins == windows->bins);
      CHECK(whole->boundaries == windows->boundaries);
    }
  }
}

// More labels than a byte tells apart; the posteriors are made up.
TEST_CASE("paths of many labels are followed") {
  ChainModel model;
  model.num_labels = 300;
  model.max_duration = 1;
  model.transition.assign(std::size_t{300} * 300, 0.0);
  constexpr std::int64_t kLength = 9000;
  std::vector<double> labels(300 * kLength), starts(labels.size());
  std::vector<int> expected;
  for (std::int64_t t = 0; t < kLength; ++t) {
    expected.push_back(static_cast<int>(t / 7 * 37 % 300));
    labels[static_cast<std::size_t>(t * 300 + expected.back())] = 1;
  }
  PosteriorBlock block;
  block.range = {0, kLength};
  block.labels = labels;
  block.starts = starts;
  PosteriorPathFinder finder(model, 0);
  finder.add(block);
  const PosteriorPath path = finder.finish();
  CHECK(path.expected_correct_bins == kLength);
  std::vector<int> found;
  SegmentList::Reader reader(path.segments);
  for (Segment segment; reader.next(segment);)
    found.insert(found.end(), static_cast<std::size_t>(segment.end - segment.begin), segment.label);
  CHECK(found == expected);
}
