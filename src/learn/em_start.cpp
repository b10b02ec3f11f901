#include "learn/em_start.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/sizes.h"
#include "learn/em_fit.h"

namespace semicrf {
namespace {

constexpr std::array kReaches = {0, 2, 10, 50};  // bins
constexpr std::int64_t kTrialBins = 1 << 16;
constexpr std::int64_t kStretches = 16;
constexpr EmOptions kTrial{.max_iterations = 12, .tolerance = 1e-5};

TrainingPiece stretch_of(const TrainingPiece& piece, std::int64_t begin, std::int64_t end) {
  const std::int64_t columns = std::ssize(piece.features) / piece.length;
  TrainingPiece part;
  part.location = piece.location;
  part.location.first_bin += begin;
  part.sample = piece.sample;
  part.length = end - begin;
  part.features.assign(piece.features.begin() + begin * columns, piece.features.begin() + end * columns);
  return part;
}

// Stretches at equal distances, kTrialBins together; all, where there are no more.
TrainingData stretches_of(const TrainingData& data) {
  const std::int64_t all = data.positions();
  const std::int64_t wanted = all <= kTrialBins ? 1 : kStretches;
  const std::int64_t length = std::min(all, kTrialBins) / wanted;
  TrainingData part;
  part.num_labels = data.num_labels;
  part.num_tracks = data.num_tracks;
  part.absence_of = data.absence_of;
  std::int64_t stretch = 0, first = 0;  // of the piece
  for (const TrainingPiece& piece : data.pieces) {
    for (; stretch < wanted; ++stretch) {
      const std::int64_t begin = stretch * (all / wanted);
      const std::int64_t from = std::max(begin, first), to = std::min(begin + length, first + piece.length);
      if (from < to) part.pieces.push_back(stretch_of(piece, from - first, to - first));
      if (begin + length > first + piece.length) break;  // it goes on in the next piece, or begins there
    }
    first += piece.length;
  }
  return part;
}

class Trials {
 public:
  Trials(const TrainingData& data, const Parameters& shape, const LawOptions& law, EmissionFamily family,
         const std::vector<double>& sizes, const EngineOptions& engine)
      : data_(data), shape_(shape), law_(law), family_(family), sizes_(sizes), engine_(engine) {}

  // The model that the clusters make.
  EmStart first(const ClusterOptions& clusters) const {
    Emissions emissions(family_, data_, sizes_);
    return start_of(clusters, SegmentLaw(law_, clusters.labels), emissions);
  }

  // It as an HMM, after some iterations.
  EmState after_iterations(const ClusterOptions& clusters) const {
    const SegmentLaw geometric(
        {.max_duration = {}, .tail = false, .durations = LawKind::kGeometric, .self_transitions = false},
        clusters.labels);
    Emissions emissions(family_, data_, sizes_);
    EmState state;
    state.parameters = start_of(clusters, geometric, emissions).parameters;
    return fit_em(data_, {}, engine_, kTrial, geometric, emissions, std::move(state), {});
  }

 private:
  EmStart start_of(const ClusterOptions& clusters, const SegmentLaw& law, Emissions& emissions) const {
    EmStart start{shape_, {}, 2 * clusters.reach + 1};
    FirstModel model =
        first_model(data_, clusters.labels, cluster_bins(data_, family_, clusters), law, emissions);
    start.parameters.chain = std::move(model.chain);
    start.parameters.emission = std::move(model.emission);
    start.sizes = emissions.sizes();
    return start;
  }

  const TrainingData& data_;
  const Parameters& shape_;
  const LawOptions& law_;
  EmissionFamily family_;
  const std::vector<double>& sizes_;
  const EngineOptions& engine_;
};

}  // namespace

EmStart choose_start(const TrainingData& data, const Parameters& shape, const LawOptions& law,
                     EmissionFamily family, const std::vector<double>& sizes, ClusterOptions clusters,
                     const EngineOptions& engine) {
  clusters.reach = 0;
  // Few bins may have a known label: none is left out. And what follows itself is no HMM of its bins.
  if (clusters.known > 0 || law.self_transitions)
    return Trials(data, shape, law, family, sizes, engine).first(clusters);
  const TrainingData part = stretches_of(data);
  const Trials trials(part, shape, law, family, sizes, engine);
  EmStart best;
  double most = kNegativeInfinity;
  for (const int reach : kReaches) {
    clusters.reach = reach;
    EmState state = trials.after_iterations(clusters);
    const double found = state.log_likelihood.back();
    if (!(found > most)) continue;
    most = found;
    best = {std::move(state.parameters), std::move(state.sizes), 2 * reach + 1};
    if (clusters.start == LearnStart::kRandom) break;
  }
  best.parameters.chain = SegmentLaw(law, clusters.labels).reshaped(best.parameters.chain);
  return best;
}

}  // namespace semicrf
