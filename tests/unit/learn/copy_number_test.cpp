// The preset for copy number: means against the formula by hand, the M-step of purity, ploidy and saturation
// against a search, fits of drawn profiles against what they were drawn from, the grid against the reference.
#include "learn/copy_number.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "learn/learn_data.h"
#include "learn/learn_fits.h"
#include "learn/presets.h"
#include "model/scores/densities.h"
#include "support/catch.h"
#include "unit/learn/learn_samples.h"

namespace semicrf {
namespace {

using namespace test;

struct Profile {
  TrainingData raw;
  std::vector<int> copies;  // true ones, by bin
};

// Log ratios with some noise and, of a third of the bins, allele fractions on either side of one half.
Profile draw_profile(const CopyNumbers& truth, std::uint64_t seed, bool alleles = true) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const std::vector<CopyState> states{{2, 1}, {1, 1}, {2, 2}, {3, 2}, {2, 1}, {4, 2}, {2, 1}, {3, 3}};
  Profile profile;
  profile.raw.num_tracks = alleles ? 2 : 1;
  TrainingPiece piece;
  for (const CopyState& state : states)
    for (int bin = 0; bin < 150; ++bin) {
      profile.copies.push_back(state.copies);
      piece.features.push_back(
          static_cast<float>(expected_log_ratio(truth, state.copies) + 0.15 * normal(random)));
      const double share = expected_major_share(truth.purity, state);
      const double centre = random() % 2 == 0 ? share : 1 - share;
      const bool known = random() % 3 == 0;
      if (alleles)
        piece.features.push_back(known ? static_cast<float>(centre + 0.04 * normal(random))
                                       : std::numeric_limits<float>::quiet_NaN());
    }
  piece.length = static_cast<std::int64_t>(profile.copies.size());
  profile.raw.pieces.push_back(std::move(piece));
  return profile;
}

std::vector<Track> named(const std::vector<std::string>& names) {
  std::vector<Track> tracks;
  for (const std::string& name : names) {
    Track track;
    track.name = name;
    track.missing = MissingPolicy::kMarginal;
    tracks.push_back(track);
  }
  return tracks;
}

LearnOptions preset(const std::string& text = "copy-number:4") {
  LearnOptions options;
  apply_preset(text, options);
  options.emissions.tied = tied_parts(options.tie);
  options.law.tied = true;
  return options;
}

std::vector<Density*> densities_of(Parameters& parameters) {
  std::vector<Density*> found;
  for (Track& track : parameters.tracks)
    if (track.is_density()) found.push_back(&track.density);
  return found;
}

}  // namespace

TEST_CASE("means of copies are those of the formula", "[copy-number]") {
  // Half of the cells have four copies: three on average, against the ploidy 2 of all, or 2.5 of the tumour.
  CHECK(expected_log_ratio({0.5, 2, 1}, 4) == Approx(std::log2(3.0 / 2)).epsilon(1e-14));
  CHECK(expected_log_ratio({0.5, 3, 0.6}, 1) == Approx(0.6 * std::log2(1.5 / 2.5)).epsilon(1e-14));
  CHECK(expected_log_ratio({0.5, 2, 1}, 0) == Approx(-1).epsilon(1e-14));
  CHECK(expected_major_share(0.5, {3, 2}) == Approx(1.5 / 2.5).epsilon(1e-14));
  CHECK(expected_major_share(0.8, {2, 2}) == Approx(1.8 / 2).epsilon(1e-14));
  CHECK(expected_major_share(0.3, {4, 2}) == Approx(0.5).epsilon(1e-14));
  CHECK(copy_states(4, true).size() == 9);
  CHECK(copy_states(5, false).size() == 6);
  CHECK_THROWS_AS(preset("copies"), UsageError);
  CHECK_THROWS_AS(preset("copy-number:1"), UsageError);
  CHECK_THROWS_AS(preset("copy-number:x"), UsageError);
}

TEST_CASE("labels of the preset have the means of their copies", "[copy-number]") {
  const Profile profile = draw_profile({0.6, 2.3, 0.8}, 3);
  TrainingData reads = profile.raw;
  reads.num_tracks = 3;
  reads.pieces[0].features.clear();
  for (std::int64_t i = 0; i < reads.pieces[0].length; ++i)
    for (const float value : {0.1F, 12.0F, 30.0F}) reads.pieces[0].features.push_back(value);
  const LearnOptions options = preset();
  for (const bool counts : {false, true}) {
    const auto tracks = counts ? named({"log2", "alt", "depth"}) : named({"log2", "baf"});
    CopyNumberModel model = copy_number_model(options, 1, tracks, counts ? reads : profile.raw);
    MeanLaw& law = *model.rules.law;
    law.numbers = {0.6, 2.3, 0.8};
    law.set_means(densities_of(model.parameters));
    const std::vector<CopyState> states = copy_states(4, true);
    REQUIRE(model.parameters.labels.size() == states.size());
    const std::size_t columns = model.parameters.tracks.size();
    for (std::size_t c = 0; c < states.size(); ++c) {
      const CopyState& state = states[c];
      CHECK(model.parameters.labels[c].name ==
            std::to_string(state.major) + "+" + std::to_string(state.copies - state.major));
      int seen = 0;
      for (std::size_t f = 0; f < columns; ++f) {
        if (model.parameters.emission->weights[c * columns + f] == 0) continue;
        const Track& track = model.parameters.tracks[f];
        const double share = expected_major_share(0.6, state);
        const double mean = track.density_of == "log2" ? expected_log_ratio({0.6, 2.3, 0.8}, state.copies)
                            : counts                   ? share
                                                       : 2 * share - 1;
        CHECK(track.density.mean == Approx(mean).epsilon(1e-12).margin(1e-12));
        ++seen;
      }
      CHECK(seen == 2);
    }
  }
  CHECK_THROWS_AS(copy_number_model(options, 1, named({"log2", "depth"}), profile.raw), UsageError);
  CHECK_THROWS_AS(copy_number_model(options, 1, named({"baf"}), profile.raw), UsageError);
  CHECK_THROWS_AS(copy_number_model(options, 1, named({"log2", "x"}), profile.raw), UsageError);
}

TEST_CASE("the M-step of purity, ploidy and saturation ends where nothing near is likelier",
          "[copy-number]") {
  const Profile profile = draw_profile({0.6, 2.3, 0.8}, 4);
  CopyNumberModel model = copy_number_model(preset(), 1, named({"log2", "baf"}), profile.raw);
  MeanLaw law = *model.rules.law;
  const std::vector<Density*> densities = densities_of(model.parameters);
  std::mt19937_64 random(5);
  std::vector<std::vector<WeightedValue>> values(densities.size());
  law.numbers = {0.6, 2.3, 0.8};
  const std::vector<double> truth = law.means(law.numbers);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (int n = 0; n < 100; ++n)
      values[i].push_back({truth[i] + 0.1 * std::normal_distribution<double>()(random), 0,
                           std::uniform_real_distribution<double>(0.1, 1)(random)});
  const auto value_at = [&](const std::vector<double>& numbers) {
    const std::vector<double> means = law.means(numbers);
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      Density density = *densities[i];
      density.mean = means[i];
      sum += weighted_log_density(density, values[i]);
    }
    return sum;
  };
  law.numbers = {0.4, 2, 1};
  double before = value_at(law.numbers);
  for (int step = 0; step < 30; ++step) {
    fit_law(law, densities, values, 1);
    const double now = value_at(law.numbers);
    CHECK(now >= before);
    before = now;
  }
  CHECK(densities[0]->mean == law.means(law.numbers)[0]);
  for (std::size_t k = 0; k < 3; ++k)
    for (const double step : {-0.01, 0.01}) {
      std::vector<double> moved = law.numbers;
      moved[k] += step;
      CHECK(value_at(moved) < before);
    }
  CHECK(law.numbers[0] == Approx(0.6).margin(0.03));
  // A number without room stays, and one at its end does not leave it.
  law.numbers = {0.4, 2, 1};
  law.ranges = {{0.4, 0.4}, {1, 8}, {0.9, 1.2}};
  for (int step = 0; step < 30; ++step) fit_law(law, densities, values, 2);
  CHECK(law.numbers[0] == 0.4);
  CHECK(law.numbers[2] >= 0.9);
}

TEST_CASE("purity, ploidy and saturation come back from drawn profiles", "[copy-number]") {
  for (const CopyNumbers& truth : {CopyNumbers{0.75, 2.4, 1}, CopyNumbers{0.35, 2.2, 0.7}}) {
    const Profile profile = draw_profile(truth, 6);
    const LearnOptions options = preset();
    const LearnData data = learn_data_of(options, std::nullopt, profile.raw, named({"log2", "baf"}));
    EmState first;
    first.parameters = *data.init;
    const FitResult fitted =
        fit_job(options, data, {data.labels.front(), 0}, engine_of(EngineOptions::Backend::kCpu), first, {});
    const CopyNumbers found = copy_numbers_of(fitted.state.sizes);
    // Three standard errors or so: differences between draws of the same profile.
    CHECK(found.purity == Approx(truth.purity).margin(0.03));
    CHECK(found.ploidy == Approx(truth.ploidy).margin(0.12));
    CHECK(found.saturation == Approx(truth.saturation).margin(0.08));
    double copies = 0;
    for (const int one : profile.copies) copies += one;
    CHECK(mean_copies(fitted.state.parameters, fitted.state.bins) ==
          Approx(copies / static_cast<double>(profile.copies.size())).margin(0.05));
    for (std::size_t i = 1; i < fitted.state.log_likelihood.size(); ++i)
      CHECK(fitted.state.log_likelihood[i] >= fitted.state.log_likelihood[i - 1] - 1e-6);
    double probability = 0;
    for (const CopyNumberSolution& one : fitted.solutions) probability += one.probability;
    CHECK(probability == Approx(1).epsilon(1e-12));
    CHECK(std::ranges::is_sorted(fitted.solutions, std::greater<>(), &CopyNumberSolution::log_likelihood));
  }
}

TEST_CASE("log Z of the grid is that of the reference engine", "[copy-number]") {
  const Profile profile = draw_profile({0.6, 2.3, 1}, 7);
  const LearnOptions options = preset("copy-number:3");
  const LearnData data = learn_data_of(options, std::nullopt, profile.raw, named({"log2", "baf"}));
  std::vector<CopyNumberSearch> found;
  for (const auto backend : {EngineOptions::Backend::kReference, EngineOptions::Backend::kCpu})
    for (const int threads : {1, 2}) {
      if (backend == EngineOptions::Backend::kReference && threads == 2) continue;
      found.push_back(search_copy_numbers(
          data.inputs.training, *data.init, LearnShapes(options, data).law_options(data.labels.front()),
          data.emissions, options.emissions.frozen, engine_of(backend, Precision::kDouble, threads)));
    }
  for (const CopyNumberSearch& one : found) {
    REQUIRE(one.solutions.size() == found[0].solutions.size());
    CHECK(one.best.log_likelihood.back() == Approx(found[0].best.log_likelihood.back()).margin(1e-4));
  }
  for (std::size_t i = 0; i < found[0].solutions.size(); ++i) {
    CHECK(found[1].solutions[i].log_likelihood == Approx(found[0].solutions[i].log_likelihood).margin(1e-4));
    CHECK(found[1].solutions[i].log_likelihood == found[2].solutions[i].log_likelihood);
    CHECK(found[1].solutions[i].numbers.ploidy == found[2].solutions[i].numbers.ploidy);
  }
  const Emissions emissions(data.emissions, data.inputs.training);
  CHECK(log_evidence(data.inputs.training, found[1].best.parameters,
                     engine_of(EngineOptions::Backend::kReference), nullptr) +
            emissions.base_measure(emissions.values()) ==
        Approx(found[1].best.log_likelihood.back()).margin(1e-4));
}

TEST_CASE("tied durations are one law, the likeliest for all labels", "[copy-number]") {
  for (const LawKind kind : {LawKind::kTable, LawKind::kGeometric}) {
    LawOptions options{4, true, kind, false, 2};
    const SegmentLaw apart(options, 2);
    options.tied = true;
    const SegmentLaw tied(options, 2);
    ChainModel chain = tied.first(4);
    ParameterGradient counts;
    counts.start = {1, 1};
    counts.transition = {0, 1, 1, 0};
    counts.duration = {0, 0, 4, 1, 2, 3, 1, 6};
    counts.tail = {1, 9};
    tied.maximize(counts, chain);
    CHECK(chain.log_tail[0] == chain.log_tail[1]);
    for (int k = 1; k <= 6; ++k) CHECK(chain.duration_score(k, 0) == chain.duration_score(k, 1));
    // A label with the counts of both has that law.
    ChainModel sum = apart.first(4);
    counts.duration = {0, 0, 5, 5, 5, 5, 7, 7};
    counts.tail = {10, 10};
    apart.maximize(counts, sum);
    for (int k = 2; k <= 6; ++k)
      CHECK(chain.duration_score(k, 0) == Approx(sum.duration_score(k, 1)).epsilon(1e-12));
    CHECK(tied.free_parameters() < apart.free_parameters());
  }
}

}  // namespace semicrf
