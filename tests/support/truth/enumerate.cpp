#include "support/truth/enumerate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/truth/exact_sum.h"
#include "support/truth/rescore.h"

namespace semicrf::testing {
namespace {

struct ScoredPath {
  std::vector<Segment> segments;
  ExactSum score;  // without the initial term
};

// Appends every segmentation that starts with `prefix` and has a finite score.
void extend(const ModelCase& sample, const ScoredPath& prefix, std::vector<ScoredPath>& all) {
  const std::int64_t begin = prefix.segments.empty() ? 0 : prefix.segments.back().end;
  if (begin == sample.length) {
    all.push_back(prefix);
    return;
  }
  for (int label = 0; label < sample.model.num_labels; ++label) {
    ScoredPath opened = prefix;
    if (begin > 0) opened.score.add(sample.model.transition_at(prefix.segments.back().label, label));
    opened.score.add(start_score(sample, begin, label));
    for (std::int64_t end = begin + 1; end <= sample.length; ++end) {
      opened.score.add(centred_emission(sample, end - 1, label));
      ScoredPath closed = opened;
      closed.segments.push_back({begin, end, label});
      closed.score.add(sample.model.duration_score(end - begin, label));
      closed.score.add(end_score(sample, end - 1, label));
      if (!closed.score.impossible()) extend(sample, closed, all);
    }
  }
}

// Smallest final label; then, from the right, the smallest duration, then the smallest label before.
bool precedes(const std::vector<Segment>& a, const std::vector<Segment>& b) {
  for (std::size_t back = 1; back <= std::min(a.size(), b.size()); ++back) {
    const Segment& left = a[a.size() - back];
    const Segment& right = b[b.size() - back];
    if (left.label != right.label) return left.label < right.label;
    if (left.begin != right.begin) return left.begin > right.begin;
  }
  return false;
}

std::vector<ScoredPath> with_initial_term(const ModelCase& sample, std::vector<ScoredPath> paths,
                                          InitialSources sources) {
  for (ScoredPath& path : paths)
    path.score.add(initial_score(sample.model, path.segments.front().label, sources));
  std::erase_if(paths, [](const ScoredPath& path) { return path.score.impossible(); });
  return paths;
}

void find_best(const std::vector<ScoredPath>& paths, Enumeration& result) {
  const ScoredPath* best = &paths.front();
  for (const ScoredPath& path : paths) {
    const long double gain = path.score.minus(best->score);
    if (gain > 0 || (gain == 0 && precedes(path.segments, best->segments))) best = &path;
  }
  result.best_path = best->segments;
  result.best_score = static_cast<double>(best->score.value());
  for (const ScoredPath& path : paths) {
    if (&path == best) continue;
    result.runner_up_gap = std::min(result.runner_up_gap, static_cast<double>(best->score.minus(path.score)));
  }
}

// How often a segmentation's score contains each transition, each duration and each step of a tail. The
// first segment's transition is from any label, with the share of its term that the label has.
void add_counts(const ModelCase& sample, const std::vector<ScoredPath>& paths,
                const std::vector<long double>& weights, long double total, Enumeration& result) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto probability = static_cast<double>(weights[i] / total);
    int before = -1;
    for (const Segment& segment : paths[i].segments) {
      const auto to = static_cast<std::size_t>(segment.label);
      for (int from = 0; from < sample.model.num_labels; ++from) {
        double share = from == before ? 1.0 : 0.0;
        if (before < 0 && sample.model.initial == InitialTerm::kUniform) {
          const double term = initial_score(sample.model, segment.label, InitialSources::kAll);
          share = std::exp(sample.model.transition_at(from, segment.label) - term);
        }
        result.transition[static_cast<std::size_t>(from) * labels + to] += probability * share;
      }
      const std::int64_t length = segment.end - segment.begin;
      const std::int64_t within = std::min<std::int64_t>(length, sample.model.max_duration);
      result.duration[static_cast<std::size_t>(within - 1) * labels + to] += probability;
      result.tail[to] += probability * static_cast<double>(length - within);
      before = segment.label;
    }
  }
}

void add_posteriors(const ModelCase& sample, const std::vector<ScoredPath>& paths, Enumeration& result) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  const auto top = std::max_element(paths.begin(), paths.end(), [](const ScoredPath& a, const ScoredPath& b) {
    return a.score.minus(b.score) < 0;
  });
  std::vector<long double> weights;
  long double total = 0;
  for (const ScoredPath& path : paths) {
    weights.push_back(std::exp(path.score.minus(top->score)));
    total += weights.back();
  }
  result.log_partition = static_cast<double>(top->score.value() + std::log(total));
  std::vector<long double> boundary(result.boundary.size());
  std::vector<long double> cover(result.labels.size());
  std::vector<long double> starts(cover.size());
  std::vector<long double> ends(cover.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const long double probability = weights[i] / total;
    for (const Segment& segment : paths[i].segments) {
      const auto label = static_cast<std::size_t>(segment.label);
      const auto begin = static_cast<std::size_t>(segment.begin);
      const auto end = static_cast<std::size_t>(segment.end);
      boundary[begin] += probability;
      starts[begin * labels + label] += probability;
      ends[(end - 1) * labels + label] += probability;
      for (std::size_t t = begin; t < end; ++t) cover[t * labels + label] += probability;
    }
  }
  add_counts(sample, paths, weights, total, result);
  const auto to_double = [](long double value) { return static_cast<double>(value); };
  std::transform(boundary.begin(), boundary.end(), result.boundary.begin(), to_double);
  std::transform(cover.begin(), cover.end(), result.labels.begin(), to_double);
  std::transform(starts.begin(), starts.end(), result.starts.begin(), to_double);
  std::transform(ends.begin(), ends.end(), result.ends.begin(), to_double);
}

}  // namespace

Enumeration enumerate_segmentations(const ModelCase& sample) {
  const auto length = static_cast<std::size_t>(sample.length);
  const std::size_t entries = length * static_cast<std::size_t>(sample.model.num_labels);
  Enumeration result;
  result.log_partition = kNegativeInfinity;
  result.best_score = kNegativeInfinity;
  result.runner_up_gap = std::numeric_limits<double>::infinity();
  result.boundary.resize(length);
  for (auto* array : {&result.labels, &result.starts, &result.ends}) array->resize(entries);
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  result.transition.resize(labels * labels);
  result.duration.resize(static_cast<std::size_t>(sample.model.max_duration) * labels);
  result.tail.resize(labels);

  std::vector<ScoredPath> paths;
  extend(sample, {}, paths);
  const std::vector<ScoredPath> by_best = with_initial_term(sample, paths, InitialSources::kBest);
  result.feasible = static_cast<std::int64_t>(by_best.size());
  if (by_best.empty()) return result;
  find_best(by_best, result);
  add_posteriors(sample, with_initial_term(sample, std::move(paths), InitialSources::kAll), result);
  return result;
}

}  // namespace semicrf::testing
