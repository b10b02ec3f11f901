#include "library/result_handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analyses/best_paths/best_paths.h"
#include "analyses/draws/segment_sampler.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/posteriors/posteriors.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "library/status.h"

namespace semicrf {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

const SequenceFound& sequence_of(const semicrf_result* result, std::size_t sequence) {
  require(result, "result");
  if (sequence >= result->sequences.size())
    throw UsageError(fmt::format("there is no sequence {} in the result, which has {}", sequence,
                                 result->sequences.size()),
                     "");
  return result->sequences[sequence];
}

double log_partition_of(const PieceResult& found) {
  if (!found.feasible) return kNegativeInfinity;
  if (const auto* posteriors = found.find<PosteriorResult>()) return posteriors->log_partition;
  if (const auto* samples = found.find<DrawResult>()) return samples->log_partition;
  if (const auto* best = found.find<BestPaths>()) return best->log_partition;
  if (const auto* alone = found.find<LogPartitionResult>()) return alone->log_partition;
  return kNotKnown;
}

double number_of(const SequenceFound& of, semicrf_number which) {
  const PieceResult& found = of.result;
  const auto* const posteriors = found.feasible ? found.find<PosteriorResult>() : nullptr;
  switch (which) {
    case SEMICRF_LOG_PARTITION:
      return log_partition_of(found);
    case SEMICRF_GIVEN_SCORE:
      return of.given_score.value_or(kNotKnown);
    case SEMICRF_ENTROPY:
      return posteriors != nullptr && posteriors->sums ? posteriors->sums->entropy : kNotKnown;
    case SEMICRF_LABEL_ENTROPY:
      return posteriors != nullptr ? posteriors->label_entropy : kNotKnown;
    case SEMICRF_BOUNDARY_ENTROPY:
      return posteriors != nullptr ? boundary_entropy(posteriors->boundary_mass, posteriors->boundary_plogp)
                                   : kNotKnown;
    case SEMICRF_EXPECTED_SEGMENTS:
      return posteriors != nullptr ? posteriors->boundary_mass : kNotKnown;
    case SEMICRF_LOG_CONSTRAINTS:
      return found.log_constraint_probability.value_or(kNotKnown);
  }
  throw UsageError(fmt::format("number {} is none of semicrf_number", which), "");
}

std::size_t count_paths(const PieceResult& found, semicrf_path_kind kind) {
  if (!found.feasible) return 0;
  switch (kind) {
    case SEMICRF_BEST_PATH:
      return found.path_if_any() != nullptr ? 1 : 0;
    case SEMICRF_RANKED: {
      const auto* const best = found.find<BestPaths>();
      return best != nullptr ? best->ranks.size() : 0;
    }
    case SEMICRF_SAMPLED: {
      const auto* const samples = found.find<DrawResult>();
      return samples != nullptr ? samples->draws.size() : 0;
    }
  }
  throw UsageError(fmt::format("kind {} is none of semicrf_path_kind", kind), "");
}

// Calls visit(segments, score, log probability) for a path that is there.
template <class Visit>
void visit_path(const PieceResult& found, semicrf_path_kind kind, std::size_t index, Visit visit) {
  if (index >= count_paths(found, kind))
    throw UsageError(fmt::format("there is no path {} of this kind, but {}", index, count_paths(found, kind)),
                     "");
  if (kind == SEMICRF_RANKED) {
    const auto& best = found.get<BestPaths>();
    return visit(best.segments(index, found.path()), best.ranks[index].score,
                 best.ranks[index].log_probability);
  }
  if (kind == SEMICRF_SAMPLED) {
    const Draw& draw = found.get<DrawResult>().draws[index];
    return visit(draw.segments, kNotKnown, draw.log_likelihood);
  }
  visit(found.path(), found.get<ViterbiResult>().score.value_or(kNotKnown), kNotKnown);
}

void copy_counts(const std::vector<double>& from, std::size_t size, double* to) {
  if (to == nullptr) return;
  std::fill_n(to, size, 0.0);
  std::ranges::copy(from, to);
}

}  // namespace
}  // namespace semicrf

using namespace semicrf;

semicrf_status semicrf_result_number(const semicrf_result* result, size_t sequence, semicrf_number which,
                                     double* value, semicrf_error* error) {
  return guarded(error, [&] {
    require(value, "value");
    *value = number_of(sequence_of(result, sequence), which);
  });
}

semicrf_status semicrf_result_paths(const semicrf_result* result, size_t sequence, semicrf_path_kind kind,
                                    size_t* count, semicrf_error* error) {
  return guarded(error, [&] {
    require(count, "count");
    *count = count_paths(sequence_of(result, sequence).result, kind);
  });
}

semicrf_status semicrf_result_path(const semicrf_result* result, size_t sequence, semicrf_path_kind kind,
                                   size_t index, semicrf_path* path, semicrf_error* error) {
  return guarded(error, [&] {
    require(path, "path");
    visit_path(sequence_of(result, sequence).result, kind, index,
               [&](const SegmentList& segments, double score, double log_probability) {
                 *path = {score, log_probability, static_cast<std::size_t>(segments.size())};
               });
  });
}

semicrf_status semicrf_result_segments(const semicrf_result* result, size_t sequence, semicrf_path_kind kind,
                                       size_t index, semicrf_segment* segments, size_t capacity,
                                       semicrf_error* error) {
  return guarded(error, [&] {
    require(segments, "segments");
    visit_path(sequence_of(result, sequence).result, kind, index,
               [&](const SegmentList& found, double, double) {
                 if (static_cast<std::size_t>(found.size()) > capacity)
                   throw UsageError(
                       fmt::format("capacity is {}, the path has {} segments", capacity, found.size()), "");
                 SegmentList::Reader reader(found);
                 semicrf_segment* to = segments;
                 for (Segment one; reader.next(one);) *to++ = {one.begin, one.end, one.label};
               });
  });
}

semicrf_status semicrf_result_counts(const semicrf_result* result, size_t sequence, double* transition,
                                     double* duration, double* tail, semicrf_error* error) {
  return guarded(error, [&] {
    const PieceResult& found = sequence_of(result, sequence).result;
    const auto* const posteriors = found.feasible ? found.find<PosteriorResult>() : nullptr;
    if (posteriors == nullptr || !posteriors->sums || posteriors->sums->counts.transition.empty())
      throw UsageError("there are no counts: they were not asked for, or no segmentation is possible", "");
    const ExpectedCounts& counts = posteriors->sums->counts;
    const ChainModel& chain = result->model->parameters.chain;
    const std::size_t labels = chain.num_labels;
    copy_counts(counts.transition, labels * labels, transition);
    copy_counts(counts.duration, labels * chain.max_duration, duration);
    copy_counts(counts.tail, labels, tail);
  });
}

void semicrf_result_free(semicrf_result* result) { delete result; }
