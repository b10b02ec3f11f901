#include "support/truth/rescore.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "support/truth/exact_sum.h"

namespace semicrf::testing {
namespace {

std::size_t index_of(const ModelCase& sample, std::int64_t position, int label) {
  return static_cast<std::size_t>(position) * static_cast<std::size_t>(sample.model.num_labels) +
         static_cast<std::size_t>(label);
}

double edge_score(const ModelCase& sample, const ScoreTable& table, const std::vector<double>& extra,
                  bool at_edge, std::int64_t position, int label) {
  double score = table.empty() ? 0.0 : table.at(index_of(sample, position, label));
  if (at_edge && !extra.empty()) score += extra[static_cast<std::size_t>(label)];
  return score;
}

}  // namespace

double centred_emission(const ModelCase& sample, std::int64_t position, int label) {
  double score = sample.emissions.at(index_of(sample, position, label));
  if (!sample.baseline.empty()) score -= sample.baseline[static_cast<std::size_t>(label)];
  if (sample.subtract_position_max) {
    double top = kNegativeInfinity;
    for (int c = 0; c < sample.model.num_labels; ++c) {
      top = std::max(top, sample.emissions.at(index_of(sample, position, c)));
    }
    if (top != kNegativeInfinity) score -= top;
  }
  return score;
}

double start_score(const ModelCase& sample, std::int64_t position, int label) {
  return edge_score(sample, sample.start_scores, sample.model.start_scores, position == 0, position, label);
}

double end_score(const ModelCase& sample, std::int64_t position, int label) {
  return edge_score(sample, sample.end_scores, sample.model.end_scores, position == sample.length - 1,
                    position, label);
}

double initial_score(const ChainModel& model, int label, InitialSources sources) {
  if (model.initial == InitialTerm::kNone) return 0.0;
  double best = kNegativeInfinity;
  for (int from = 0; from < model.num_labels; ++from) best = std::max(best, model.transition_at(from, label));
  if (sources == InitialSources::kBest || best == kNegativeInfinity) return best;
  long double sum = 0;
  for (int from = 0; from < model.num_labels; ++from) {
    sum += std::exp(static_cast<long double>(model.transition_at(from, label)) - best);
  }
  return static_cast<double>(best + std::log(sum));
}

bool tiles(std::span<const Segment> path, std::int64_t length, int num_labels) {
  std::int64_t reached = 0;
  for (const Segment& segment : path) {
    if (segment.begin != reached || segment.end <= segment.begin) return false;
    if (segment.label < 0 || segment.label >= num_labels) return false;
    reached = segment.end;
  }
  return reached == length;
}

double rescore(const ModelCase& sample, std::span<const Segment> path, InitialSources sources) {
  if (path.empty() || !tiles(path, sample.length, sample.model.num_labels)) {
    throw std::invalid_argument("segments do not tile the sequence of: " + sample.description);
  }
  ExactSum total;
  total.add(initial_score(sample.model, path.front().label, sources));
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Segment& segment = path[i];
    if (i > 0) total.add(sample.model.transition_at(path[i - 1].label, segment.label));
    total.add(start_score(sample, segment.begin, segment.label));
    for (std::int64_t t = segment.begin; t < segment.end; ++t)
      total.add(centred_emission(sample, t, segment.label));
    total.add(sample.model.duration_score(segment.end - segment.begin, segment.label));
    total.add(end_score(sample, segment.end - 1, segment.label));
  }
  return static_cast<double>(total.value());
}

}  // namespace semicrf::testing
