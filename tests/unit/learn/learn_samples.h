// Models with random parameters, and data that are drawn from them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "learn/em_fit.h"
#include "learn/segment_law.h"
#include "model/missing_tracks.h"
#include "support/catch.h"
#include "train/emissions/emissions.h"
#include "unit/learn/learn_fixture.h"

namespace semicrf::test {

inline constexpr EmissionFamily kFamilies[] = {EmissionFamily::kBernoulli, EmissionFamily::kGaussian,
                                               EmissionFamily::kPoisson, EmissionFamily::kNegativeBinomial};
inline constexpr EmissionFamily kAllFamilies[] = {EmissionFamily::kBernoulli, EmissionFamily::kGaussian,
                                                  EmissionFamily::kPoisson, EmissionFamily::kNegativeBinomial,
                                                  EmissionFamily::kCategorical};

inline EngineOptions engine_of(EngineOptions::Backend backend, Precision precision = Precision::kDouble,
                               int threads = 1) {
  EngineOptions engine;
  engine.backend = backend;
  engine.precision = precision;
  engine.threads = threads;
  return engine;
}

struct Sample {
  TextbookTracks model;
  TrainingData raw, data;  // raw values; features
  Parameters truth;
};

// A chain with random probabilities; `spread` near 0: nearly equal ones.
inline ChainModel random_chain(const LawOptions& law, int labels, double spread, std::mt19937_64& random) {
  ChainModel chain = SegmentLaw(law, labels).first(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  ParameterGradient counts;
  const auto draw = [&](std::size_t size) {
    std::vector<double> list(size);
    for (double& value : list) value = 1 + spread * 20 * uniform(random);
    return list;
  };
  counts.start = draw(chain.start_scores.size());
  counts.transition = draw(chain.transition.size());
  counts.duration = draw(chain.duration_bias.size());
  counts.tail = draw(chain.log_tail.size());
  SegmentLaw(law, labels).maximize(counts, chain);
  return chain;
}

// `holes`: the share of all values that are missing, each track's own. `durations`: (K, C), in place of
// random ones.
inline Sample draw_sample(EmissionFamily family, const LawOptions& law, int labels, std::size_t tracks,
                          const std::vector<std::int64_t>& lengths, std::uint64_t seed, double holes = 0,
                          const std::vector<double>& durations = {}) {
  std::mt19937_64 random(seed);
  Sample sample;
  sample.model = random_tracks(family, static_cast<std::size_t>(labels), tracks, random);
  for (int c = 0; c < labels; ++c) sample.truth.labels.push_back({std::to_string(c + 1), std::nullopt});
  sample.truth.centering = Centering::kNone;
  sample.truth.chain = random_chain(law, labels, 1, random);
  if (!durations.empty()) sample.truth.chain.duration_bias = durations;
  sample.truth.tracks = feature_tracks(sample.model);
  sample.truth.emission = head_of(sample.model);
  sample.raw.num_labels = labels;
  sample.raw.num_tracks = static_cast<int>(tracks);
  for (const std::int64_t length : lengths)
    sample.raw.pieces.push_back(draw_piece(sample.truth.chain, sample.model, length, random));
  if (holes > 0) {
    for (TrainingPiece& piece : sample.raw.pieces)
      for (float& value : piece.features)
        if (std::bernoulli_distribution(holes)(random)) value = std::numeric_limits<float>::quiet_NaN();
    for (Track& track : sample.truth.tracks)
      if (track.is_input()) track.missing = MissingPolicy::kMarginal;
    RecordedEmissions recorded;
    if (family == EmissionFamily::kNegativeBinomial) recorded.sizes = sample.model.size;
    add_absences(sample.truth, recorded);
    REQUIRE(sample.truth.tracks.back().is_absence());
  }
  sample.data = sample.raw;
  apply_features(sample.truth.tracks, sample.data);
  return sample;
}

inline EmState begin_at(const Parameters& parameters) {
  EmState state;
  state.parameters = parameters;
  return state;
}

}  // namespace semicrf::test
