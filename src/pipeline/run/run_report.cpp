#include "pipeline/run/run_report.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/run/log.h"

namespace semicrf {
namespace {

template <class Value>
void accumulate(std::optional<Value>& total, Value value) {
  total = total.value_or(Value{}) + value;
}

}  // namespace

void SequenceReport::add(const PieceResult& result, std::int64_t positions) {
  const auto add_totals = [&](const ChunkTotals& totals) {
    accumulate(stats.fallbacks, totals.fallbacks);
    accumulate(stats.repaired_chunks, totals.repaired_chunks);
  };
  if (result.viterbi) {
    accumulate(stats.segments, result.viterbi->segments.size());
    accumulate(stats.viterbi_score, result.viterbi->score);
    add_totals(*result.viterbi);
  }
  if (result.shares) add_totals(*result.shares);
  if (result.posteriors) {
    const PosteriorResult& posteriors = *result.posteriors;
    accumulate(stats.log_partition, posteriors.log_partition);
    stats.max_normalization_error =
        std::max(stats.max_normalization_error.value_or(0), posteriors.max_normalization_error);
    boundary_mass_ += posteriors.boundary_mass;
    boundary_plogp_ += posteriors.boundary_plogp;
    label_entropy_ += posteriors.label_entropy;
    positions_ += positions;
    add_totals(posteriors);
  }
  if (!result.draws) return;
  const std::vector<Draw>& draws = result.draws->draws;
  accumulate(stats.log_partition, result.draws->log_partition);
  if (!stats.log_likelihood) stats.log_likelihood.emplace(draws.size());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    (*stats.log_likelihood)[i] += draws[i].log_likelihood;
    accumulate(stats.segments, draws[i].segments.size());
  }
  add_totals(*result.draws);
}

void SequenceReport::add_infeasible(bool viterbi, bool posteriors) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (viterbi) accumulate(stats.viterbi_score, none);
  if (posteriors) accumulate(stats.log_partition, none);
}

void SequenceReport::finish() {
  if (positions_ == 0) return;
  stats.boundary_entropy = boundary_entropy(boundary_mass_, boundary_plogp_);
  stats.position_entropy = label_entropy_ / static_cast<double>(positions_);
}

void RunReport::warn(const Warning& warning) {
  log_warning(warning);
  warnings_.push_back(warning);
}

Stats RunReport::finish(const std::string& version, const std::string& device) {
  total.stop();
  Stats stats;
  stats.version = version;
  stats.device = device;
  stats.timings = {{"read", read.seconds()},
                   {"compute", std::max(0.0, total.seconds() - read.seconds() - write.seconds())},
                   {"write", write.seconds()},
                   {"total", total.seconds()}};
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    stats.peak_memory = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  stats.warnings = warnings_;
  for (SequenceReport& sequence : sequences_) {
    sequence.finish();
    stats.sequences.push_back(sequence.stats);
  }
  return stats;
}

}  // namespace semicrf
