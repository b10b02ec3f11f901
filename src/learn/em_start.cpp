#include "learn/em_start.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/sizes.h"
#include "learn/em_fit.h"

namespace semicrf {
namespace {

constexpr std::array kReaches = {0, 2, 10, 50};  // bins
constexpr std::int64_t kTrialBins = 1 << 16;
constexpr std::int64_t kStretches = 16;
constexpr int kSeeds = 3;    // clusterings of each reach
constexpr int kFew = 4;      // iterations of every trial, as an HMM
constexpr int kMore = 16;    // iterations of the likeliest of each reach
constexpr int kOverAll = 3;  // iterations of the likeliest of each reach over all data, still as an HMM
constexpr int kWithLaw = 1;  // the same of the two likeliest, with the law of durations that is asked for
constexpr double kTolerance = -1;  // all iterations, so that precision does not decide how many
constexpr std::uint64_t kSeedStep = 1'000'000'007;  // far from the seeds of restarts

class Trials {
 public:
  Trials(const TrainingData& data, const Parameters& shape, const LawOptions& law, const EmissionPlan& plan,
         const EngineOptions& engine)
      : data_(data), shape_(shape), law_(law), plan_(plan), engine_(engine) {
    if (plan.family == EmissionFamily::kDensities) view_ = cluster_view(plan.densities, data);
  }

  // The model that the clusters make.
  EmStart first(const ClusterOptions& clusters) const {
    Emissions emissions(plan_, data_);
    return start_of(clusters, SegmentLaw(law_, clusters.labels), emissions);
  }

  // An HMM goes on with the law that is asked for.
  EmState with_law(const EmState& hmm, int iterations) const {
    const SegmentLaw law(law_, hmm.parameters.num_labels());
    EmState state = begun_from(hmm);
    state.parameters.chain = law.reshaped(hmm.parameters.chain);
    Emissions emissions(plan_, data_);
    return fit_em(data_, {}, engine_, {iterations, kTolerance}, law, emissions, std::move(state), {});
  }

  // It as an HMM, before any iteration.
  EmState first_hmm(const ClusterOptions& clusters) const {
    Emissions emissions(plan_, data_);
    EmState state;
    state.parameters = start_of(clusters, hmm(clusters.labels), emissions).parameters;
    return state;
  }

  // Goes on to so many iterations.
  EmState after(int iterations, EmState state) const {
    const int labels = state.parameters.num_labels();
    Emissions emissions(plan_, data_);
    return fit_em(data_, {}, engine_, {iterations, kTolerance}, hmm(labels), emissions, std::move(state), {});
  }

 private:
  static SegmentLaw hmm(int labels) {
    LawOptions law;
    law.durations = LawKind::kGeometric;
    return {law, labels};
  }

  EmStart start_of(const ClusterOptions& clusters, const SegmentLaw& law, Emissions& emissions) const {
    EmStart start{shape_, {}, 2 * clusters.reach + 1};
    std::vector<int> labels = cluster_bins(view_ ? *view_ : data_, plan_.family, clusters);
    if (clusters.known == 0) put_in_order(clusters.labels, labels);
    start.parameters.chain = first_chain(data_, labels, law);
    if (const DensityEmissions* const densities = emissions.densities()) {
      densities->start(cluster_shares(data_, clusters.labels, labels), start.parameters, engine_.threads);
    } else {
      start.parameters.emission = first_head(data_, clusters.labels, labels, emissions);
    }
    start.sizes = emissions.sizes();
    return start;
  }

  // Numbers the clusters by the mean of the first track whose means grow from label to label, if there is
  // one.
  void put_in_order(int count, std::vector<int>& labels) const {
    const std::vector<ObservedTrack>& observed = plan_.densities.observed;
    const auto ordered = std::ranges::find(observed, true, &ObservedTrack::ordered);
    if (ordered == observed.end()) return;
    const std::size_t column = ordered - observed.begin();
    std::vector<double> sums(count), bins(count);
    std::size_t bin = 0;
    for (const TrainingPiece& piece : view_->pieces)
      for (std::size_t i = column; i < piece.features.size(); i += observed.size(), ++bin) {
        if (std::isnan(piece.features[i])) continue;
        sums[labels[bin]] += piece.features[i];
        bins[labels[bin]] += 1;
      }
    std::vector<int> order(count), place(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int c) { return sums[c] / std::max(1.0, bins[c]); });
    for (int i = 0; i < count; ++i) place[order[i]] = i;
    for (int& label : labels) label = place[label];
  }

  const TrainingData& data_;
  const Parameters& shape_;
  const LawOptions& law_;
  const EmissionPlan& plan_;
  const EngineOptions& engine_;
  std::optional<TrainingData> view_;  // what clusters see, where that is not the features
};

}  // namespace

TrainingData stretches_of(const TrainingData& data, std::int64_t bins, int shortest) {
  const std::int64_t all = data.positions();
  const std::int64_t wanted = all <= bins ? 1 : kStretches;
  const std::int64_t length = std::min(all, bins) / wanted;
  TrainingData part;
  part.num_labels = data.num_labels;
  part.num_tracks = data.num_tracks;
  part.absence_of = data.absence_of;
  part.indicator_of = data.indicator_of;
  std::int64_t stretch = 0, first = 0;  // place in the piece
  for (const TrainingPiece& piece : data.pieces) {
    for (; stretch < wanted; ++stretch) {
      const std::int64_t begin = stretch * (all / wanted);
      const std::int64_t from = std::max(begin, first), to = std::min(begin + length, first + piece.length);
      if (to - from == piece.length || to - from >= shortest)
        part.pieces.push_back(part_of(piece, from - first, to - first));
      if (begin + length > first + piece.length) break;  // it goes on in the next piece, or begins there
    }
    first += piece.length;
  }
  return part;
}

EmStart choose_start(const TrainingData& data, const Parameters& shape, const LawOptions& law,
                     const EmissionPlan& plan, ClusterOptions clusters, const EngineOptions& engine) {
  clusters.reach = 0;
  // Few bins may have a known label: none is left out. And what follows itself is no HMM of its bins.
  if (clusters.known > 0 || law.self_transitions)
    return Trials(data, shape, law, plan, engine).first(clusters);
  const TrainingData part = stretches_of(data, kTrialBins, 1);
  const Trials trials(part, shape, law, plan, engine), of_all(data, shape, law, plan, engine);
  const auto likelihood = [](const EmState& state) { return state.log_likelihood.back(); };
  const bool random = clusters.start == LearnStart::kRandom;
  const std::uint64_t seed = clusters.seed;
  struct Candidate {
    int reach;
    EmState state;
  };
  std::vector<Candidate> candidates;
  for (const int reach : kReaches) {
    clusters.reach = reach;
    EmState hmm;
    for (int number = 0; number < (random ? 1 : kSeeds); ++number) {
      clusters.seed = seed + kSeedStep * number;
      EmState state = trials.after(kFew, trials.first_hmm(clusters));
      if (number == 0 || likelihood(state) > likelihood(hmm)) hmm = std::move(state);
    }
    hmm = trials.after(kMore, std::move(hmm));
    candidates.push_back({reach, random ? std::move(hmm) : of_all.after(kOverAll, begun_from(hmm))});
    if (random) break;
  }
  const auto likeliest_first = [&] {
    std::ranges::stable_sort(candidates, std::greater<>(),
                             [&](const Candidate& one) { return likelihood(one.state); });
  };
  likeliest_first();
  if (!random) candidates.resize(2);
  for (Candidate& one : candidates) one.state = of_all.with_law(one.state, random ? 0 : kWithLaw);
  likeliest_first();
  Candidate& best = candidates.front();
  return {std::move(best.state.parameters), std::move(best.state.sizes), 2 * best.reach + 1};
}

}  // namespace semicrf
