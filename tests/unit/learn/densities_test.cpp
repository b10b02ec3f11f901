// Densities that are learned: slopes against differences, M-steps against a search that knows no slopes, and
// fits of drawn tracks against the numbers they were drawn from.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "learn/em_start.h"
#include "support/catch.h"
#include "support/truth/standard_errors.h"
#include "train/emissions/emission_choice.h"
#include "unit/learn/density_samples.h"

namespace semicrf {
namespace {

using namespace test;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// One of each, by name.
struct Case {
  std::string name;
  Density density;
};
std::vector<Case> cases() {
  Density mirrored = student(0.8, 0.4, 6, 0.03), alleles = successes(0.3, 9);
  mirrored.mirrored = alleles.mirrored = true;
  return {{"normal", student(0.3, 0.7, kInfinite)},
          {"Student", student(-1.2, 2.5, 3.5)},
          {"Student with outliers", student(1, 0.5, 4, 0.1)},
          {"mirrored", mirrored},
          {"binomial", successes(0.2, kInfinite)},
          {"beta-binomial", successes(0.7, 12)},
          {"mirrored beta-binomial", alleles},
          {"Poisson with exposure", counts("n", 2.5, kInfinite)},
          {"negative binomial", counts("", 4, 1.7)},
          {"negative binomial with exposure", counts("n", 0.6, 5)}};
}

// The maximum by Nelder and Mead's simplex, which knows nothing but values.
std::vector<double> simplex_maximum(const std::function<double(const std::vector<double>&)>& f,
                                    std::vector<double> start) {
  const std::size_t n = start.size();
  std::vector<std::vector<double>> points{start};
  for (std::size_t i = 0; i < n; ++i) {
    points.push_back(start);
    points.back()[i] += 0.3;
  }
  std::vector<double> values;
  for (const auto& point : points) values.push_back(f(point));
  for (int step = 0; step < 250 * static_cast<int>(n); ++step) {
    std::vector<std::size_t> order(n + 1);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, std::greater<>(), [&](std::size_t i) { return values[i]; });
    const std::size_t best = order[0], worst = order[n];
    const auto along = [&](double length) {
      std::vector<double> point(n);
      for (std::size_t d = 0; d < n; ++d) {
        double middle = 0;
        for (std::size_t i = 0; i < n; ++i) middle += points[order[i]][d] / static_cast<double>(n);
        point[d] = middle + length * (points[worst][d] - middle);
      }
      return point;
    };
    std::vector<double> to = along(-1);
    double value = f(to);
    if (value > values[best]) {
      if (std::vector<double> further = along(-2); f(further) > value) {
        to = further;
        value = f(further);
      }
    } else if (value <= values[order[n - 1]]) {
      to = along(value > values[worst] ? -0.5 : 0.5);
      value = f(to);
      if (value <= values[worst]) {
        for (std::size_t i = 1; i <= n; ++i) {
          for (std::size_t d = 0; d < n; ++d)
            points[order[i]][d] = (points[order[i]][d] + points[best][d]) / 2;
          values[order[i]] = f(points[order[i]]);
        }
        continue;
      }
    }
    points[worst] = to;
    values[worst] = value;
  }
  return points[static_cast<std::size_t>(std::ranges::max_element(values) - values.begin())];
}

double log_likelihood(const Drawn& drawn, const Parameters& parameters) {
  return log_evidence(drawn.data, parameters, engine_of(EngineOptions::Backend::kCpu), nullptr);
}

EmState fit(const Drawn& drawn, const Parameters& from, EmOptions options, int threads = 1) {
  Emissions emissions(drawn.plan, drawn.data);
  return fit_em(drawn.data, {}, engine_of(EngineOptions::Backend::kCpu, Precision::kDouble, threads), options,
                SegmentLaw(drawn.law, static_cast<int>(from.labels.size())), emissions, begin_at(from), {});
}

}  // namespace

TEST_CASE("digammas are known ones", "[densities]") {
  CHECK(digamma(1) == Approx(-0.57721566490153286).epsilon(1e-13));
  CHECK(digamma(0.5) == Approx(-1.9635100260214235).epsilon(1e-13));
  CHECK(digamma(37.25) == Approx(digamma(38.25) - 1 / 37.25).epsilon(1e-14));
  CHECK(digamma(1e-3) == Approx(-1000.5755719318103).epsilon(1e-13));
}

TEST_CASE("slopes of log densities are their differences", "[densities]") {
  std::mt19937_64 random(1);
  for (const auto& [name, density] : cases()) {
    INFO(name);
    for (int i = 0; i < 20; ++i) {
      const WeightedValue value = drawn(density, random);
      const DensitySlopes::Slopes found = DensitySlopes(density)(value.x, value.beside);
      CHECK(found.log_density == Approx(DensityFunction(density)(value.x, value.beside)).epsilon(1e-12));
      for (const DensityPart part : kDensityParts) {
        const double slope = found.by[static_cast<std::size_t>(part)];
        if (!has_part(density, part)) {
          CHECK(slope == 0);
          continue;
        }
        const double step = 1e-5;
        std::array<double, 2> sides{};
        for (std::size_t side = 0; side < 2; ++side) {
          Density moved = density;
          set_coordinate(moved, part, coordinate(density, part) + (side == 0 ? -step : step));
          sides[side] = DensityFunction(moved)(value.x, value.beside);
        }
        CHECK(slope == Approx((sides[1] - sides[0]) / (2 * step)).epsilon(1e-5).margin(1e-7));
      }
    }
    const DensitySlopes::Slopes missing = DensitySlopes(density)(kNone, 3);
    CHECK(missing.log_density == 0);
    CHECK(missing.by == std::array<double, kPartCount>{});
  }
}

TEST_CASE("M-steps find the maximum that a simplex finds", "[densities]") {
  std::mt19937_64 random(2);
  for (const bool tied : {false, true})
    for (const Case& one : cases()) {
      const Density& truth = one.density;
      INFO(one.name << (tied ? ", sizes and scales tied" : ""));
      // Two densities with values of their own, each with the weight it has in its label.
      std::vector<Density> densities(2, truth);
      set_coordinate(densities[1], DensityPart::kMean, coordinate(truth, DensityPart::kMean) + 0.4);
      std::vector<std::vector<WeightedValue>> values(2);
      for (std::size_t i = 0; i < 2; ++i)
        for (int n = 0; n < 250; ++n) {
          values[i].push_back(drawn(densities[i], random));
          values[i].back().weight = std::uniform_real_distribution<double>(0.01, 1)(random);
        }
      DensityFitOptions options;
      options.least_scale = 1e-3;
      options.tied[DensityPart::kScale] = options.tied[DensityPart::kSize] = tied;
      std::vector<std::pair<std::size_t, DensityPart>> places;
      for (const DensityPart part : kDensityParts)
        for (std::size_t i = 0; i < (options.tied[part] ? 1 : 2); ++i)
          if (has_part(truth, part)) places.emplace_back(i, part);
      const auto moved = [&](const std::vector<double>& numbers) {
        std::vector<Density> to = densities;
        for (std::size_t k = 0; k < places.size(); ++k)
          for (std::size_t i = 0; i < 2; ++i)
            if (i == places[k].first || options.tied[places[k].second])
              set_coordinate(to[i], places[k].second, numbers[k]);
        return to;
      };
      const auto value_of = [&](const std::vector<double>& numbers) {
        for (std::size_t k = 0; k < places.size(); ++k) {
          const CoordinateRange range = coordinate_range(truth, places[k].second, options.least_scale);
          if (numbers[k] < range.low || numbers[k] > range.high) return -kInfinite;
        }
        const std::vector<Density> to = moved(numbers);
        return weighted_log_density(to[0], values[0]) + weighted_log_density(to[1], values[1]);
      };
      // Both begin away from the truth.
      std::vector<double> start;
      for (const auto& [i, part] : places) start.push_back(coordinate(densities[i], part) + 0.3);
      const double best = value_of(simplex_maximum(value_of, start));
      std::vector<Density> found = moved(start);
      const std::array<Density*, 2> pointers{&found[0], &found[1]};
      double before = value_of(start);
      // No step lowers the likelihood, and the usual few go most of the way.
      for (int step = 0; step < 40; ++step) {
        options.max_steps = step == 0 ? 6 : 1;
        fit_densities(pointers, values, options);
        const double now =
            weighted_log_density(found[0], values[0]) + weighted_log_density(found[1], values[1]);
        CHECK(now >= before - 1e-12 * std::fabs(before));
        if (step == 0) CHECK(best - now < 0.5);
        before = now;
      }
      CHECK(before == Approx(best).margin(1e-3));
      if (tied) CHECK(found[0].scale == found[1].scale);
      if (tied) CHECK(found[0].size == found[1].size);
      if (tied) CHECK(found[0].degrees == found[1].degrees);
    }
}

TEST_CASE("fits of densities never lose likelihood, whatever the threads", "[densities]") {
  for (const double holes : {0.0, 0.3}) {
    const Drawn sample = draw(mixed_model(holes), {600, 40, 300}, 11);
    std::vector<Parameters> ends;
    for (const int threads : {1, 3}) {
      const EmStart start =
          choose_start(sample.data, sample.truth, sample.law, sample.plan, {.labels = 3, .seed = 1},
                       engine_of(EngineOptions::Backend::kCpu, Precision::kDouble, threads));
      const EmState state = fit(sample, start.parameters, {25, 0}, threads);
      REQUIRE(state.log_likelihood.size() > 3);
      for (std::size_t i = 1; i < state.log_likelihood.size(); ++i) {
        INFO("iteration " << i);
        CHECK(state.log_likelihood[i] >=
              state.log_likelihood[i - 1] - 1e-8 * std::fabs(state.log_likelihood[i]));
      }
      CHECK(state.log_likelihood.back() > log_likelihood(sample, sample.truth));
      CHECK(state.log_likelihood.back() == Approx(log_likelihood(sample, state.parameters)).epsilon(1e-12));
      ends.push_back(state.parameters);
    }
    CHECK(ends[0].chain.transition == ends[1].chain.transition);
    for (std::size_t f = 0; f < ends[0].tracks.size(); ++f) {
      CHECK(ends[0].tracks[f].density.mean == ends[1].tracks[f].density.mean);
      CHECK(ends[0].tracks[f].density.scale == ends[1].tracks[f].density.scale);
      CHECK(ends[0].tracks[f].density.size == ends[1].tracks[f].density.size);
    }
  }
}

TEST_CASE("numbers of densities come back from drawn tracks", "[densities][learn-recovery]") {
  const Drawn sample = draw(mixed_model(0.1), {9000}, 12);
  const EmState state = fit(sample, sample.truth, {40, 1e-9, {true, true, true, false}});
  CHECK(state.parameters.chain.transition == sample.truth.chain.transition);
  const DensityEmissions emissions(sample.plan.densities, sample.data);
  const std::vector<double> found = emissions.coordinates(state.parameters),
                            truth = emissions.coordinates(sample.truth);
  REQUIRE(found.size() == 3 * (3 + 2 + 2));
  // The chain is the true one, so that the information of the densities is all there is to know.
  const auto value_at = [&](const std::vector<double>& coordinates) {
    Parameters moved = state.parameters;
    emissions.set_coordinates(coordinates, moved);
    return log_likelihood(sample, moved);
  };
  const std::size_t n = found.size();
  const double step = 1e-3;
  Matrix information(n, std::vector<double>(n));
  std::vector<std::vector<double>> single(2, std::vector<double>(n));
  const double middle = value_at(found);
  for (std::size_t side = 0; side < 2; ++side)
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> to = found;
      to[i] += side == 0 ? -step : step;
      single[side][i] = value_at(to);
      CHECK(single[side][i] < middle + 0.01);
    }
  for (std::size_t i = 0; i < n; ++i) {
    information[i][i] = (2 * middle - single[0][i] - single[1][i]) / (step * step);
    for (std::size_t j = 0; j < i; ++j) {
      std::vector<double> to = found;
      to[i] += step;
      to[j] += step;
      information[i][j] = information[j][i] =
          -(value_at(to) - single[1][i] - single[1][j] + middle) / (step * step);
    }
  }
  Matrix identity(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) identity[i][i] = 1;
  int known = 0;
  const std::vector<double> errors = standard_errors(information, identity, known);
  CHECK(known == static_cast<int>(n));
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::fabs(found[i] - truth[i]) / errors[i]);
  WARN("numbers of densities within " << worst << " standard errors");
  CHECK(worst < 4.1);  // 99.9 % of 21 normal numbers at once
}

TEST_CASE("what is tied stays equal and what is frozen stays", "[densities]") {
  Drawn sample = draw(mixed_model(), {1200}, 13);
  sample.plan.densities.tied[DensityPart::kSize] = true;
  sample.plan.densities.tied[DensityPart::kScale] = true;
  sample.plan.densities.frozen[DensityPart::kMean] = true;
  const Parameters from = [&] {
    Parameters parameters = sample.truth;
    EmissionWishes wishes;
    wishes.tied = sample.plan.densities.tied;
    REQUIRE(density_rules_of(wishes, parameters)->observed.size() == 3);
    return parameters;
  }();
  const EmState state = fit(sample, from, {20, 0, {false, true, false, false}});
  const std::size_t inputs = 5;
  bool moved = false;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t f = 0; f < 3; ++f) {
      const Density& density = state.parameters.tracks[inputs + 3 * c + f].density;
      CHECK(density.mean == from.tracks[inputs + 3 * c + f].density.mean);
      CHECK(density.scale == state.parameters.tracks[inputs + f].density.scale);
      CHECK(density.size == state.parameters.tracks[inputs + f].density.size);
      CHECK(density.degrees == state.parameters.tracks[inputs + f].density.degrees);
      moved = moved || density.size != from.tracks[inputs + 3 * c + f].density.size;
    }
  CHECK(moved);
  CHECK(state.parameters.chain.transition == sample.truth.chain.transition);
  CHECK(state.parameters.chain.duration_bias != sample.truth.chain.duration_bias);
  const Emissions emissions(sample.plan, sample.data);
  CHECK(emissions.free_parameters(state.parameters) == 1 + 1 + 1 + 1);
}

TEST_CASE("ordered means are those of the best blocks, and of no likelier ones", "[densities][ordered]") {
  std::mt19937_64 random(31);
  DensityFitOptions options;
  options.ordered = true;
  options.least_scale = 0.01;
  options.max_steps = 200;
  options.tolerance = 1e-14;
  for (const Case& one : cases()) {
    INFO(one.name);
    const bool is_student = one.density.family == DensityFamily::kStudent;
    // Drawn from means that fall, rise and fall again.
    std::vector<std::vector<WeightedValue>> values;
    std::vector<Density> from;
    for (const double shift : {0.6, 0.2, 0.9, 0.7, 0.8}) {
      Density density = one.density;
      set_coordinate(density, DensityPart::kMean,
                     coordinate(density, DensityPart::kMean) + (is_student ? density.scale : 1) * shift);
      values.emplace_back();
      for (int i = 0; i < 150; ++i) {
        values.back().push_back(drawn(density, random));
        values.back().back().weight = std::uniform_real_distribution<double>(0.2, 1)(random);
      }
      from.push_back(one.density);
    }
    const auto value_of = [&](const std::vector<Density>& densities) {
      double sum = 0;
      for (std::size_t i = 0; i < densities.size(); ++i) sum += weighted_log_density(densities[i], values[i]);
      return sum;
    };
    const auto fitted = [&](std::vector<Density> densities, const DensityFitOptions& how) {
      std::vector<Density*> all;
      for (Density& density : densities) all.push_back(&density);
      fit_densities(all, values, how);
      return densities;
    };
    for (const bool frozen : {true, false}) {
      options.frozen = {};
      options.frozen[DensityPart::kScale] = options.frozen[DensityPart::kSize] = frozen;
      const std::vector<Density> found = fitted(from, options);
      for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i].mean >= found[i - 1].mean);
      CHECK(value_of(found) > value_of(from));
      // Every division into blocks of labels with one mean, of which those in order count.
      double best = -kInfinite;
      for (unsigned cuts = 0; cuts < 16; ++cuts) {
        std::vector<Density> densities = found;
        for (std::size_t first = 0; first < found.size();) {
          std::size_t last = first + 1;
          while (last < found.size() && (cuts >> (last - 1) & 1U) == 0) ++last;
          std::vector<Density*> block;
          std::vector<std::vector<WeightedValue>> of_block;
          for (std::size_t i = first; i < last; ++i) {
            densities[i].mean = found[first].mean;
            block.push_back(&densities[i]);
            of_block.push_back(values[i]);
          }
          DensityFitOptions apart = options;
          apart.ordered = false;
          apart.tied[DensityPart::kMean] = true;
          fit_densities(block, of_block, apart);
          first = last;
        }
        if (std::ranges::is_sorted(densities, {}, &Density::mean)) best = std::max(best, value_of(densities));
      }
      INFO("frozen " << frozen << ", best of all blocks " << best);
      CHECK(std::fabs(value_of(found) - best) < (frozen ? 1e-6 : 1e-3));
      // The normal one is the weighted isotonic regression, by its definition as minima of maxima of
      // averages.
      if (one.name != "normal" || !frozen) continue;
      for (std::size_t i = 0; i < found.size(); ++i) {
        double least = kInfinite;
        for (std::size_t last = i; last < found.size(); ++last) {
          double most = -kInfinite;
          for (std::size_t first = 0; first <= i; ++first) {
            double sum = 0, all = 0;
            for (std::size_t k = first; k <= last; ++k)
              for (const WeightedValue& value : values[k]) {
                sum += value.weight * value.x;
                all += value.weight;
              }
            most = std::max(most, sum / all);
          }
          least = std::min(least, most);
        }
        CHECK(found[i].mean == Approx(least).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("fits with ordered means never lose likelihood", "[densities][ordered]") {
  Drawn sample = draw(mixed_model(0.1), {900}, 32);
  for (ObservedTrack& one : sample.plan.densities.observed) one.ordered = true;
  EmissionWishes wishes;
  wishes.ordered = {""};
  // Where labels stand the other way round, all means become one.
  Parameters from = sample.truth;
  for (std::size_t f = 0; f < 3; ++f) std::swap(from.tracks[5 + f].density, from.tracks[5 + 6 + f].density);
  REQUIRE(density_rules_of(wishes, from)->observed.front().ordered);
  CHECK(from.tracks[5].density.mean == Approx(from.tracks[11].density.mean));
  from.tracks[5].density.mean -= 0.1;
  const EmState state = fit(sample, from, {60, 0, {}});
  for (std::size_t i = 1; i < state.log_likelihood.size(); ++i)
    CHECK(state.log_likelihood[i] > state.log_likelihood[i - 1] - 1e-9 * std::fabs(state.log_likelihood[i]));
  for (std::size_t f = 0; f < 3; ++f)
    for (std::size_t c = 1; c < 3; ++c)
      CHECK(state.parameters.tracks[5 + 3 * c + f].density.mean >=
            state.parameters.tracks[5 + 3 * (c - 1) + f].density.mean);
}

TEST_CASE("what --emission says becomes pairs and families", "[densities]") {
  std::vector<Track> tracks(4);
  for (std::size_t f = 0; f < 4; ++f) tracks[f].name = std::array{"x", "k", "n", "a/b"}[f];
  TrainingData raw;
  raw.num_tracks = 4;
  raw.pieces.emplace_back();
  raw.pieces[0].length = 2;
  raw.pieces[0].features = {-1, 2, 3, 4, 1, 5, 6, 7};
  const auto rules = [&](const std::vector<std::string>& texts, double outliers = 0) {
    EmissionWishes wishes;
    wishes.outliers = outliers;
    for (const std::string& text : texts) wishes.choices.push_back(emission_choice(text));
    CHECK(wishes.needs_densities());
    return density_rules(wishes, "poisson", std::nullopt, tracks, raw);
  };
  const DensityRules found = rules({"x=student-t", "k/n=beta-binomial", "a/b=gaussian"}, 0.1);
  REQUIRE(found.observed.size() == 3);
  CHECK(found.observed[0].first.outlier_density == 0.5);
  {
    EmissionWishes wishes;
    wishes.outliers = 0.1;
    wishes.choices = {emission_choice("student-t")};
    std::vector<Track> transformed = tracks;
    const DensityRules rules_of_all = density_rules(wishes, "", Transform::kAsinh, transformed, raw);
    CHECK(rules_of_all.observed[0].first.outlier_density == Approx(0.5 / std::asinh(1.0)));
    CHECK(transformed[0].transform == Transform::kAsinh);
  }
  CHECK(found.observed[1].beside == 2);
  CHECK(found.observed[1].first.beside == "n");
  CHECK(found.observed[2].column == 3);
  CHECK(std::isinf(found.observed[2].first.degrees));
  CHECK(emission_text({EmissionFamily::kDensities, {}, found}, tracks) ==
        "x student-t, k/n beta-binomial, a/b gaussian");
  CHECK(rules({"x=student-t", "k/n=negative-binomial", "poisson"}).observed.size() == 3);
  const auto refuses = [&](const std::vector<std::string>& texts, const std::string& what,
                           double outliers = 0) { CHECK_THROWS_WITH(rules(texts, outliers), holds(what)); };
  refuses({"x=student-t"}, "nothing of the track \"k\"");
  refuses({"x=student-t", "binomial"}, "takes pairs");
  refuses({"y=student-t", "gaussian"}, "\"y\", which is not there");
  refuses({"student-t", "gaussian"}, "two families");
  refuses({"x=student-t", "x=gaussian", "poisson"}, "two families");
  refuses({"x=binomial", "poisson"}, "no track of trials");
  refuses({"k/n=student-t", "x=poisson"}, "one track");
  refuses({"x=bernoulli", "poisson"}, "for all tracks");
  refuses({"x=poisson", "gaussian"}, "negative value");
  refuses({"x/k=poisson", "poisson"}, "negative value", 0.1);
  CHECK_THROWS_WITH(emission_choice("x=normal"), holds("no family"));
}

}  // namespace semicrf
