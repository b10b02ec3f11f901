// Expectation maximization against every segmentation one by one, against Baum and Welch, and on drawn
// tracks.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "learn/cluster_start.h"
#include "learn/em_fit.h"
#include "learn/extrapolation.h"
#include "learn/learn_checkpoint.h"
#include "model/missing_tracks.h"
#include "support/catch.h"
#include "support/messages.h"
#include "support/slow_build.h"
#include "support/temp_folder.h"
#include "train/objective/objective.h"
#include "unit/learn/learn_samples.h"

namespace semicrf {
namespace {

using namespace test;

// Sums over all segmentations of a piece, by the textbook.
struct Brute {
  double probability = 0;
  std::vector<double> bins, features, transition, duration, tail, start;
};

void add_segmentations(const Sample& sample, const TrainingPiece& raw, const TrainingPiece& features,
                       Brute& brute) {
  const ChainModel& chain = sample.truth.chain;
  const auto labels = static_cast<std::size_t>(chain.num_labels);
  const auto columns = static_cast<std::size_t>(sample.data.num_tracks);
  const std::size_t tracks = sample.model.tracks;
  Brute piece;
  piece.bins.resize(labels);
  piece.features.resize(labels * columns);
  piece.transition.resize(labels * labels);
  piece.duration.resize(chain.duration_bias.size());
  piece.tail.resize(labels);
  piece.start.resize(labels);
  std::vector<Segment> path;
  const std::function<void(std::int64_t, double)> go_on = [&](std::int64_t begin, double log_p) {
    if (begin == raw.length) {
      const double p = std::exp(log_p);
      piece.probability += p;
      piece.start[static_cast<std::size_t>(path.front().label)] += p;
      for (std::size_t i = 0; i < path.size(); ++i) {
        const auto c = static_cast<std::size_t>(path[i].label);
        const std::int64_t duration = path[i].end - path[i].begin;
        const std::int64_t row = std::min<std::int64_t>(duration, chain.max_duration) - 1;
        piece.duration[static_cast<std::size_t>(row) * labels + c] += p;
        piece.tail[c] += p * static_cast<double>(std::max<std::int64_t>(0, duration - chain.max_duration));
        if (i > 0) piece.transition[static_cast<std::size_t>(path[i - 1].label) * labels + c] += p;
        for (std::int64_t t = path[i].begin; t < path[i].end; ++t) {
          piece.bins[c] += p;
          for (std::size_t f = 0; f < columns; ++f)
            piece.features[c * columns + f] +=
                p * static_cast<double>(features.features[static_cast<std::size_t>(t) * columns + f]);
        }
      }
      return;
    }
    for (int c = 0; c < chain.num_labels; ++c) {
      double score = log_p + (path.empty() ? chain.start_scores[static_cast<std::size_t>(c)]
                                           : chain.transition_at(path.back().label, c));
      if (score == kNegativeInfinity) continue;
      for (std::int64_t end = begin + 1; end <= raw.length; ++end) {
        score += sample.model.log_density(static_cast<std::size_t>(c),
                                          raw.features.data() + static_cast<std::size_t>(end - 1) * tracks);
        const double duration = chain.duration_score(end - begin, c);
        if (duration == kNegativeInfinity) continue;
        path.push_back({begin, end, c});
        go_on(end, score + duration);
        path.pop_back();
      }
    }
  };
  go_on(0, 0);
  const auto add = [&](const std::vector<double>& from, std::vector<double>& to) {
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i] / piece.probability;
  };
  brute.probability += std::log(piece.probability);
  add(piece.bins, brute.bins);
  add(piece.features, brute.features);
  add(piece.transition, brute.transition);
  add(piece.duration, brute.duration);
  add(piece.tail, brute.tail);
  add(piece.start, brute.start);
}

void check_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("entry " << i);
    CHECK(std::fabs(found[i] - expected[i]) <= tolerance * std::max(1.0, std::fabs(expected[i])));
  }
}

}  // namespace

TEST_CASE("E-steps are sums over all segmentations, and their value is the probability of the tracks",
          "[learn]") {
  std::uint64_t seed = 100;
  for (const EmissionFamily family : kAllFamilies)
    for (const LawOptions& law :
         {LawOptions{3, false, LawKind::kTable, false}, LawOptions{2, true, LawKind::kTable, true},
          LawOptions{1, true, LawKind::kGeometric, false}})
      for (const auto& [backend, holes] :
           {std::pair(EngineOptions::Backend::kReference, 0.0), std::pair(EngineOptions::Backend::kCpu, 0.0),
            std::pair(EngineOptions::Backend::kReference, 0.4),
            std::pair(EngineOptions::Backend::kCpu, 0.4)}) {
        INFO("seed " << ++seed << ", " << emission_name(family) << ", " << holes << " missing");
        const Sample sample = draw_sample(family, law, 3, 2, {6, 1, 5}, seed, holes);
        Brute brute;
        for (std::size_t i = 0; i < sample.data.pieces.size(); ++i)
          add_segmentations(sample, sample.raw.pieces[i], sample.data.pieces[i], brute);
        ParameterGradient counts(sample.truth);
        const std::vector<std::size_t> pieces{0, 1, 2};
        const double log_z =
            negative_log_likelihood(sample.data, pieces, sample.truth, engine_of(backend), {}, &counts);
        // The base measure: what the head leaves out.
        double base = 0;
        for (std::size_t i = 0; i < sample.data.pieces.size(); ++i)
          for (std::int64_t t = 0; t < sample.raw.pieces[i].length; ++t) {
            const float* row = sample.raw.pieces[i].features.data() + static_cast<std::size_t>(t) * 2;
            const auto columns = static_cast<std::size_t>(sample.data.num_tracks);
            double score = sample.truth.emission->bias[0];
            for (std::size_t f = 0; f < columns; ++f)
              score += sample.truth.emission->weights[f] *
                       static_cast<double>(
                           sample.data.pieces[i].features[static_cast<std::size_t>(t) * columns + f]);
            base += sample.model.log_density(0, row) - score;
          }
        // Squares are rounded to float.
        const double tolerance = family == EmissionFamily::kGaussian ? 1e-6 : 1e-9;
        CHECK(std::fabs(log_z + base - brute.probability) <= tolerance * std::fabs(brute.probability));
        check_near(counts.bias, brute.bins, tolerance);
        check_near(counts.weights, brute.features, tolerance);
        check_near(counts.transition, brute.transition, tolerance);
        check_near(counts.duration, brute.duration, tolerance);
        check_near(counts.start, brute.start, tolerance);
        if (sample.truth.chain.has_tail()) check_near(counts.tail, brute.tail, tolerance);
      }
}

TEST_CASE("with single bins and self-transitions, learning is Baum and Welch's", "[learn]") {
  const LawOptions law{1, false, LawKind::kTable, true};
  const Sample sample = draw_sample(EmissionFamily::kBernoulli, law, 3, 4, {700, 300}, 7);
  const std::size_t labels = 3, tracks = 4;
  std::vector<double> ones(labels * tracks), bins(labels), moves(labels * labels), firsts(labels);
  double log_likelihood = 0;
  const ChainModel& chain = sample.truth.chain;
  for (const TrainingPiece& piece : sample.raw.pieces) {
    const auto length = static_cast<std::size_t>(piece.length);
    std::vector<double> b(length * labels), alpha(length * labels), beta(length * labels, 1.0), scale(length);
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t c = 0; c < labels; ++c) {
        b[t * labels + c] = std::exp(sample.model.log_density(c, piece.features.data() + t * tracks));
        double in = t == 0 ? std::exp(chain.start_scores[c]) : 0;
        for (std::size_t from = 0; t > 0 && from < labels; ++from)
          in += alpha[(t - 1) * labels + from] * std::exp(chain.transition[from * labels + c]);
        alpha[t * labels + c] = in * b[t * labels + c];
        scale[t] += alpha[t * labels + c];
      }
      for (std::size_t c = 0; c < labels; ++c) alpha[t * labels + c] /= scale[t];
      log_likelihood += std::log(scale[t]);
    }
    for (std::size_t t = length - 1; t-- > 0;)
      for (std::size_t c = 0; c < labels; ++c) {
        double sum = 0;
        for (std::size_t to = 0; to < labels; ++to)
          sum += std::exp(chain.transition[c * labels + to]) * b[(t + 1) * labels + to] *
                 beta[(t + 1) * labels + to];
        beta[t * labels + c] = sum / scale[t + 1];
      }
    for (std::size_t t = 0; t < length; ++t)
      for (std::size_t c = 0; c < labels; ++c) {
        const double gamma = alpha[t * labels + c] * beta[t * labels + c];
        bins[c] += gamma;
        if (t == 0) firsts[c] += gamma;
        for (std::size_t f = 0; f < tracks; ++f)
          ones[c * tracks + f] += gamma * static_cast<double>(piece.features[t * tracks + f]);
        for (std::size_t to = 0; t + 1 < length && to < labels; ++to)
          moves[c * labels + to] += alpha[t * labels + c] * std::exp(chain.transition[c * labels + to]) *
                                    b[(t + 1) * labels + to] * beta[(t + 1) * labels + to] / scale[t + 1];
      }
  }
  Emissions emissions(EmissionFamily::kBernoulli, sample.data);
  const EmState result = fit_em(sample.data, {}, engine_of(EngineOptions::Backend::kCpu), {1, 0},
                                SegmentLaw(law, 3), emissions, begin_at(sample.truth), {});
  CHECK(std::fabs(result.log_likelihood[0] - log_likelihood) <= 1e-9 * std::fabs(log_likelihood));
  const Parameters& found = result.parameters;
  for (std::size_t c = 0; c < labels; ++c) {
    CHECK(std::exp(found.chain.start_scores[c]) == Approx(firsts[c] / 2).margin(1e-9));
    double row = 0;
    for (std::size_t to = 0; to < labels; ++to) row += moves[c * labels + to];
    for (std::size_t to = 0; to < labels; ++to)
      CHECK(std::exp(found.chain.transition[c * labels + to]) ==
            Approx(moves[c * labels + to] / row).margin(1e-9));
    for (std::size_t f = 0; f < tracks; ++f) {
      const double p = ones[c * tracks + f] / bins[c];
      CHECK(found.emission->weights[c * tracks + f] == Approx(std::log(p / (1 - p))).margin(1e-9));
    }
  }
}

TEST_CASE("a fit that goes on from a checkpoint has the same bits as one without a stop", "[learn]") {
  const test::TempFolder folder;
  std::uint64_t seed = 70;
  for (const EmissionFamily family : kAllFamilies) {
    INFO("seed " << ++seed << ", " << emission_name(family));
    const LawOptions law{9, true, LawKind::kNegativeBinomial, false};
    const Sample sample = draw_sample(family, law, 3, 2, {400}, seed, 0.2);
    const EngineOptions engine = engine_of(EngineOptions::Backend::kCpu);
    const auto fit = [&](int iterations, EmState state, std::vector<EmState>* saved) {
      Emissions emissions(family, sample.data);
      return fit_em(sample.data, sample.data, engine, {iterations, 0}, SegmentLaw(law, 3), emissions,
                    std::move(state), {{}, [&](const EmState& reached) {
                                         if (saved != nullptr) saved->push_back(reached);
                                       }});
    };
    std::vector<EmState> saved;
    const EmState whole = fit(11, begin_at(sample.truth), &saved);
    // Not before the steps ahead, to iterations 7 and 10.
    REQUIRE(saved.size() == 10);
    const std::string end = learn_checkpoint_text("f", {whole});
    // They end for want of iterations.
    for (const int iterations : {3, 6, 7, 8}) fit(iterations, begin_at(sample.truth), &saved);
    std::uint64_t number = seed;
    for (const EmState& state : saved) {
      if (!testing::is_tried(++number)) continue;
      const std::string path = folder.add("point", learn_checkpoint_text("f", {EmState(), state}));
      const std::vector<EmState> read =
          read_learn_checkpoint(path, "f", {Parameters(sample.truth), sample.truth});
      CHECK(read[0].log_likelihood.empty());
      CHECK(learn_checkpoint_text("f", {EmState(), read[1]}) ==
            learn_checkpoint_text("f", {EmState(), state}));
      CHECK(learn_checkpoint_text("f", {fit(11, read[1], nullptr)}) == end);
    }
    const std::string path = folder.add("point", end);
    const auto message = [&](const std::string& fingerprint, const std::vector<Parameters>& shapes) {
      return test::message_of([&] { read_learn_checkpoint(path, fingerprint, shapes); });
    };
    CHECK(test::holds(message("other", {sample.truth}), "other data or options"));
    CHECK(test::holds(message("f", {sample.truth, sample.truth}), "number of fits"));
    Parameters longer = sample.truth;
    longer.chain.duration_bias.resize(30);
    CHECK(test::holds(message("f", {longer}), "duration has the wrong length"));
    folder.add("point", end.substr(0, end.size() / 2));
    CHECK(test::holds(message("f", {sample.truth}), "damaged checkpoint"));
  }
}

TEST_CASE("features that repeat change no bit of log Z, and no count", "[learn]") {
  const LawOptions law{4, true, LawKind::kTable, false};
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    Sample sample = draw_sample(EmissionFamily::kBernoulli, law, 3, 4, {700, 30, 90'000}, 17, 0.1);
    const auto count = [&](const TrainingData& data) {
      ParameterGradient counts(sample.truth);
      const double log_z =
          log_evidence(data, sample.truth, engine_of(EngineOptions::Backend::kCpu, precision, 2), &counts);
      return std::pair(log_z, counts);
    };
    const auto [log_z, counts] = count(sample.data);
    TrainingData patterned = sample.data;
    find_patterns(patterned);
    REQUIRE(patterned.pieces[0].patterns != nullptr);
    // Each of four values is 0, 1 or missing.
    CHECK(patterned.pieces[0].patterns->count == 81);
    CHECK(patterned.pieces[0].repeats());
    CHECK_FALSE(patterned.pieces[1].repeats());
    const auto [same, others] = count(patterned);
    CHECK(same == log_z);
    check_near(others.bias, counts.bias, 1e-12);
    check_near(others.weights, counts.weights, 1e-12);
    CHECK(others.transition == counts.transition);
    // A part keeps the numbers of its bins.
    TrainingData part = patterned, plain = sample.data;
    for (TrainingData* data : {&part, &plain}) data->pieces = {part_of(data->pieces[2], 100, 50'000)};
    CHECK(part.pieces[0].repeats());
    CHECK(count(part).first == count(plain).first);
    // Few bins, or values that are all different, have no patterns.
    part.pieces[0] = part_of(part.pieces[0], 0, 100);
    find_patterns(part);
    CHECK(part.pieces[0].patterns == nullptr);
  }
  Sample gaussian = draw_sample(EmissionFamily::kGaussian, law, 3, 2, {5000}, 18);
  find_patterns(gaussian.data);
  CHECK(gaussian.data.pieces[0].patterns == nullptr);
  CHECK(gaussian.data.pieces[0].pattern_of.empty());
}

TEST_CASE("steps ahead lead where counts converge to", "[learn]") {
  const auto counts_of = [](double first, double second) {
    ParameterGradient counts;
    counts.start = {first};
    counts.weights = {second, -second};
    return counts;
  };
  // x + y 0.9^n
  AheadState state;
  for (const double left : {1.0, 0.9, 0.81}) state.counts.push_back(counts_of(50 + 20 * left, 7 - 3 * left));
  state.longest = 16;
  const ParameterGradient ahead = point_ahead(state).counts;
  CHECK(ahead.start[0] == Approx(50));
  CHECK(ahead.weights[0] == Approx(7));
  CHECK(ahead.weights[1] == Approx(-7));
  CHECK(state.counts.empty());
  CHECK(state.longest == 16);
  // No longer than allowed; no count vanishes.
  for (const double count : {10.0, 6.0, 2.1}) state.counts.push_back(counts_of(count, 1));
  state.longest = 4;
  CHECK(point_ahead(state).counts.start[0] == Approx(0.21));
  CHECK(state.longest == 8);
  shorten_steps(state);
  CHECK(state.longest == 2);
  // At the end nothing moves.
  for (int i = 0; i < 3; ++i) state.counts.push_back(counts_of(4, 5));
  CHECK(point_ahead(state).counts.weights[1] == -5);
}

TEST_CASE("with steps ahead a fit gets as far in fewer iterations", "[learn]") {
  const LawOptions law{1, true, LawKind::kGeometric, false};
  const Sample sample = draw_sample(EmissionFamily::kGaussian, law, 3, 2, {4000}, 91);
  const EngineOptions engine = engine_of(EngineOptions::Backend::kCpu);
  const SegmentLaw shape(law, 3);
  const auto fit = [&](const EmOptions& options, EmState state) {
    Emissions emissions(EmissionFamily::kGaussian, sample.data);
    return fit_em(sample.data, {}, engine, options, shape, emissions, std::move(state), {});
  };
  // Four iterations at a time from the parameters alone: none is ahead.
  EmState plain = begin_at(sample.truth);
  int iterations = 0;
  for (bool goes_on = true; goes_on; iterations += 4) {
    plain = fit({4, -1}, begin_at(plain.parameters));
    goes_on = plain.log_likelihood[4] - plain.log_likelihood[3] > 1e-9 * std::fabs(plain.log_likelihood[4]);
  }
  const EmState ahead = fit({1000, 1e-9}, begin_at(sample.truth));
  INFO(ahead.iterations() << " and " << iterations);
  CHECK(ahead.converged);
  CHECK(ahead.iterations() < iterations / 2);
  CHECK(ahead.log_likelihood.back() >
        plain.log_likelihood.back() - 1e-7 * std::fabs(plain.log_likelihood.back()));
  for (std::size_t i = 1; i < ahead.log_likelihood.size(); ++i)
    CHECK(ahead.log_likelihood[i] >= ahead.log_likelihood[i - 1]);
}

TEST_CASE("the likelihood never falls, and threads change no bit", "[learn]") {
  std::uint64_t seed = 40;
  for (const EmissionFamily family : kAllFamilies)
    for (const LawOptions& law :
         {LawOptions{12, false, LawKind::kTable, false}, LawOptions{6, true, LawKind::kTable, false},
          LawOptions{1, true, LawKind::kGeometric, false},
          LawOptions{15, true, LawKind::kNegativeBinomial, false},
          LawOptions{12, true, LawKind::kTable, false, 4}, LawOptions{6, true, LawKind::kGeometric, false, 5},
          LawOptions{15, true, LawKind::kNegativeBinomial, false, 3}}) {
      const double holes = ++seed % 2 == 0 ? 0.3 : 0;
      if (!testing::is_tried(seed)) continue;
      INFO("seed " << seed << ", " << emission_name(family) << ", " << holes << " missing");
      const Sample sample = draw_sample(family, law, 3, 3, {900, 300, 7}, seed, holes);
      std::vector<double> first;
      for (const int threads : {1, 3}) {
        Emissions emissions(family, sample.data);
        const SegmentLaw shape(law, 3);
        const std::vector<int> clusters = cluster_bins(sample.data, family, {.labels = 3});
        Parameters parameters = sample.truth;
        parameters.chain = first_chain(sample.data, clusters, shape);
        parameters.emission = first_head(sample.data, 3, clusters, emissions);
        const EmState result =
            fit_em(sample.data, {}, engine_of(EngineOptions::Backend::kCpu, Precision::kDouble, threads),
                   {16, 0}, shape, emissions, begin_at(parameters), {});
        for (std::size_t i = 1; i < result.log_likelihood.size(); ++i) {
          INFO("iteration " << i);
          CHECK(result.log_likelihood[i] >=
                result.log_likelihood[i - 1] - 1e-9 * std::fabs(result.log_likelihood[i - 1]));
        }
        CHECK(result.log_likelihood.back() > result.log_likelihood.front());
        if (first.empty()) first = result.log_likelihood;
        CHECK(result.log_likelihood == first);
      }
    }
}

}  // namespace semicrf
