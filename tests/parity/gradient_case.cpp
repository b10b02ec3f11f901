#include "parity/gradient_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "support/models/resolution.h"

namespace semicrf::testing {
namespace {

ScoreWindow window_of(const Engine& engine, const ModelCase& sample, PositionRange range) {
  const std::int64_t warmup = engine.info().grid.warmup;
  return sample.window(std::max<std::int64_t>(0, range.begin - warmup),
                       std::min(sample.length, range.end + warmup));
}

// The error that is allowed, and what it is relative to.
// A tail over most of the sequence is a product of one float factor per position.
double counts_tolerance(Precision precision, CaseKind kind) {
  if (precision == Precision::kDouble) return 1e-9;
  return kind == CaseKind::kLongTail ? 3e-5 : 1e-5;
}

class GradientComparison {
 public:
  GradientComparison(const ExpectedGradient& expected, Engine& candidate, const ModelCase& sample)
      : expected_(expected),
        candidate_(candidate),
        sample_(sample),
        resolution_(resolution_of(sample, expected.best_path)) {}

  std::vector<std::string> run() {
    const auto whole = window_edges(candidate_, sample_.length, 0);
    const ExpectedCounts counts = counts_case(candidate_, sample_, whole);
    const ForwardCase forward = forward_case(candidate_, sample_, whole);
    check_counts("transition", counts.transition, expected_.counts.transition);
    check_counts("duration", counts.duration, expected_.counts.duration);
    check_counts("tail", counts.tail, expected_.counts.tail);
    check_forward(forward);
    for (const std::int64_t chunks : {1, 3}) {
      const auto edges = window_edges(candidate_, sample_.length, chunks);
      if (edges.size() > 2) check_same(counts, forward, edges);
    }
    return std::move(problems_);
  }

 private:
  template <class... Parts>
  void report(const Parts&... parts) {
    std::ostringstream line;
    line.precision(17);
    line << candidate_.description() << ", " << sample_.description << ": ";
    (line << ... << parts);
    problems_.push_back(line.str());
  }

  void check_counts(const char* name, const std::vector<double>& found, const std::vector<double>& expected) {
    if (found.size() != expected.size()) return report(name, " has ", found.size(), " entries");
    double largest = 1e-3;
    for (const double value : expected) largest = std::max(largest, value);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double allowed = (counts_tolerance(candidate_.precision(), sample_.kind) + resolution_) * largest;
      if (std::fabs(found[i] - expected[i]) <= allowed) continue;
      return report(name, " entry ", i, " is ", found[i], " instead of ", expected[i], ", largest ", largest);
    }
  }

  void check_forward(const ForwardCase& found) {
    const ForwardCase& expected = expected_.forward;
    const auto labels = static_cast<std::size_t>(sample_.model.num_labels);
    const auto check = [&](const char* name, const std::vector<double>& mine,
                           const std::vector<double>& levels, const std::vector<double>& theirs,
                           const std::vector<double>& their_levels) {
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        const std::size_t t = i / labels;
        const double message = theirs[i] + their_levels[t];
        const double difference = mine[i] - theirs[i] + (levels[t] - their_levels[t]);
        if (mine[i] == theirs[i] && mine[i] == kNegativeInfinity) continue;
        if (std::fabs(difference) <= allowed_at(message)) continue;
        const bool absent = theirs.data() == expected.ends.data() && mine[i] == kNegativeInfinity;
        const bool tail = theirs.data() == expected.tails.data();
        const bool near = std::fabs(difference) <= kFewDigits * std::max(1.0, std::fabs(message));
        if ((absent || tail || near) && negligible(message, t)) continue;
        return report(name, " of position ", t, ", label ", i % labels, " is off by ", difference, " at ",
                      message);
      }
    };
    check("start", found.starts, found.start_levels, expected.starts, expected.start_levels);
    check("end", found.ends, found.end_levels, expected.ends, expected.end_levels);
    check("tail", found.tails, found.end_levels, expected.tails, expected.end_levels);
    for (const double level : found.start_levels) {
      if (level != std::floor(level)) return report("level ", level, " is no whole number");
    }
  }
  double allowed_at(double message) const {
    const Tolerances tolerances = tolerances_of(candidate_.precision());
    const double scale = std::max({1.0, std::fabs(message), expected_.segments});
    return tolerances.posterior + resolution_ + tolerances.log_partition * scale;
  }
  // Tails are not certified one by one: they may have lost digits where no sum can notice. An end that is no
  // number of a float beside the largest of its position may be nothing at all. And a message thousands of
  // nats behind is carried from block to block as a logarithm of that size, so that the rounding of each adds
  // up.
  static constexpr double kFewDigits = 1e-10;
  bool negligible(double message, std::size_t t) const {
    const auto labels = static_cast<std::size_t>(sample_.model.num_labels);
    double largest = kNegativeInfinity;
    for (std::size_t c = 0; c < labels; ++c)
      largest = std::max(largest, expected_.forward.ends[t * labels + c] + expected_.forward.end_levels[t]);
    return message < largest - 45;
  }

  void check_same(const ExpectedCounts& counts, const ForwardCase& forward,
                  const std::vector<std::int64_t>& edges) {
    const std::size_t windows = edges.size() - 1;
    const ExpectedCounts again = counts_case(candidate_, sample_, edges);
    if (again.transition != counts.transition) report("other transitions in ", windows, " windows");
    if (again.duration != counts.duration) report("other durations in ", windows, " windows");
    if (again.tail != counts.tail) report("other tails in ", windows, " windows");
    const ForwardCase redone = forward_case(candidate_, sample_, edges);
    if (redone.starts != forward.starts) report("other starts in ", windows, " windows");
    if (redone.ends != forward.ends) report("other ends in ", windows, " windows");
    if (redone.tails != forward.tails) report("other tail messages in ", windows, " windows");
    if (redone.start_levels != forward.start_levels) report("other start levels in ", windows, " windows");
    if (redone.end_levels != forward.end_levels) report("other end levels in ", windows, " windows");
  }

  const ExpectedGradient& expected_;
  Engine& candidate_;
  const ModelCase& sample_;
  const double resolution_;
  std::vector<std::string> problems_;
};

}  // namespace

ExpectedCounts counts_case(Engine& engine, const ModelCase& sample, const std::vector<std::int64_t>& edges) {
  const std::size_t windows = edges.size() - 1;
  std::vector<BoundaryState> forward, backward(windows);  // at the right and left edge of each window
  const auto compute = [&](std::size_t w, const BoundaryState* right, ExpectedCounts* counts) {
    const PositionRange range{edges[w], edges[w + 1]};
    PosteriorArrays out;
    out.counts = counts;
    return engine.posteriors(window_of(engine, sample, range), range, w > 0 ? &forward[w - 1] : nullptr,
                             right, out);
  };
  // No window needs the states at the sequence's own ends.
  for (std::size_t w = 0; w + 1 < windows; ++w) forward.push_back(compute(w, nullptr, nullptr).right_forward);
  for (std::size_t w = windows; w-- > 1;) {
    backward[w] = compute(w, w + 1 < windows ? &backward[w + 1] : nullptr, nullptr).left_backward;
  }
  ExpectedCounts counts;
  for (std::size_t w = 0; w < windows; ++w) compute(w, w + 1 < windows ? &backward[w + 1] : nullptr, &counts);
  return counts;
}

ForwardCase forward_case(Engine& engine, const ModelCase& sample, const std::vector<std::int64_t>& edges) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  const auto length = static_cast<std::size_t>(sample.length);
  ForwardCase out;
  for (auto* array : {&out.starts, &out.ends, &out.tails}) array->assign(length * labels, -1.0);
  for (auto* levels : {&out.start_levels, &out.end_levels}) levels->assign(length, -0.5);
  BoundaryState left;
  for (std::size_t w = 0; w + 1 < edges.size(); ++w) {
    const PositionRange range{edges[w], edges[w + 1]};
    const auto begin = static_cast<std::size_t>(range.begin);
    const ForwardArrays arrays{out.starts.data() + begin * labels, out.ends.data() + begin * labels,
                               out.tails.data() + begin * labels, out.start_levels.data() + begin,
                               out.end_levels.data() + begin};
    ForwardWindow window =
        engine.forward(window_of(engine, sample, range), range, w > 0 ? &left : nullptr, arrays);
    for (std::size_t t = begin; t < static_cast<std::size_t>(range.end); ++t) {
      out.start_levels[t] += window.whole;
      out.end_levels[t] += window.whole;
    }
    for (const ChunkReport& chunk : window.chunks) {
      out.repaired += chunk.repaired ? 1 : 0;
      out.fallbacks += chunk.fallbacks;
    }
    left = std::move(window.right);
  }
  out.log_partition = log_sum(left);
  return out;
}

ExpectedGradient expected_gradient(Engine& reference, const ModelCase& sample) {
  const std::vector<std::int64_t> whole{0, sample.length};
  ExpectedGradient out;
  out.counts = counts_case(reference, sample, whole);
  out.forward = forward_case(reference, sample, whole);
  out.best_path = decode_case(reference, sample, whole).path;
  for (const double count : out.counts.duration) out.segments += count;
  return out;
}

std::vector<std::string> compare_gradient(const ExpectedGradient& expected, Engine& candidate,
                                          const ModelCase& sample) {
  return GradientComparison(expected, candidate, sample).run();
}

}  // namespace semicrf::testing
