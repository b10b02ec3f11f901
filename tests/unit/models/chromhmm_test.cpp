// Models of ChromHMM as parameters and back, against the recursion of the hidden Markov model itself.
#include "model/exchange/chromhmm.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "model/durations/duration_kinds.h"
#include "model/exchange/hidden_markov.h"
#include "model/scores/linear_heads.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "unit/models/chromhmm_fixture.h"

namespace semicrf {
namespace {

using test::hmm_log_likelihood;
using test::small_model;

Parameters imported(const ChromHmmModel& model) {
  std::vector<Warning> warnings;
  Parameters parameters = parameters_of(model, 200, warnings);
  CHECK(warnings.empty());
  return parameters;
}

ChromHmmModel exported(const Parameters& parameters) {
  std::vector<Warning> warnings;
  return chromhmm_model_of(parameters, "p.json", warnings);
}

// log Z of `rows` (T, M) by the reference engine, with the scores that the heads make.
double log_z(const Parameters& parameters, const std::vector<float>& rows) {
  const auto length = static_cast<std::int64_t>(rows.size() / parameters.tracks.size());
  const LinearHeads heads(parameters);
  FeatureRows features = heads.rows_for(0, length, length);
  features.rows.f32 = rows.data();
  features.wide = true;
  std::vector<double> scores(static_cast<std::size_t>(length) * parameters.labels.size());
  project_head(features, *features.emission, 0, length, length, scores.data());
  ScoreWindow window;
  window.end = window.length = length;
  window.emissions.f64 = scores.data();
  return log_partition(parameters.chain, window);
}

double largest_gap(const std::vector<double>& first, const std::vector<double>& second) {
  REQUIRE(first.size() == second.size());
  double largest = 0;
  for (std::size_t i = 0; i < first.size(); ++i) largest = std::max(largest, std::fabs(first[i] - second[i]));
  return largest;
}

// Segments of a label last as long as the state of `model` stays; those at the end of a sequence are not
// charged for ending there.
void take_own_durations(const ChromHmmModel& model, int max_duration, Parameters& parameters) {
  std::vector<Warning> warnings;
  set_explicit_durations(parameters, model.transition, std::vector<std::vector<std::int64_t>>(model.states()),
                         max_duration, warnings);
  CHECK(warnings.size() == 1);
  for (std::size_t c = 0; c < model.states(); ++c)
    parameters.chain.end_scores[c] = -std::log1p(-parameters.duration.tail[c]);
}

TEST_CASE("a model of ChromHMM: probabilities become weights") {
  const Parameters parameters = imported(small_model());
  CHECK(parameters.labels[0].name == "E1");
  CHECK(parameters.labels[1].name == "E2");
  CHECK(parameters.bin_size == 200);
  CHECK(parameters.tracks[1].name == "B");
  const EmissionHead& head = *parameters.emission;
  CHECK(std::fabs(head.weights[0] - std::log(9.0)) < 1e-14);
  CHECK(std::fabs(head.weights[3] - std::log(0.7 / 0.3)) < 1e-14);
  CHECK(std::fabs(head.bias[0] - std::log(0.1 * 0.9)) < 1e-14);
  CHECK(std::fabs(head.bias[1] - std::log(0.8 * 0.3)) < 1e-14);
  CHECK(parameters.chain.transition[2] == std::log(0.125));
  CHECK(parameters.chain.start_scores[1] == std::log(0.75));
  CHECK(parameters.chain.initial == InitialTerm::kNone);
  CHECK(parameters.centering == Centering::kNone);
  // A segment is a stay: no label follows itself, durations fall by the probability of staying.
  CHECK(parameters.chain.max_duration == 1);
  CHECK(parameters.chain.transition[0] == kNegativeInfinity);
  CHECK(std::fabs(parameters.chain.log_tail[1] - std::log(small_model().transition[3])) < 1e-15);
}

TEST_CASE("a model of ChromHMM: log Z is the likelihood of its hidden Markov model") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const std::size_t states = 1 + seed % 5, marks = 1 + seed % 4;
    const ChromHmmModel model = test::random_model(states, marks, random);
    const std::vector<float> rows = test::random_bits(marks * (1 + seed * 7), random);
    CHECK(std::fabs(log_z(imported(model), rows) - hmm_log_likelihood(model, rows)) < 1e-9);
  }
}

TEST_CASE("explicit durations of staying states are the hidden Markov model again") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    ChromHmmModel model = test::random_model(2 + seed % 3, 2, random);
    const std::vector<float> rows = test::random_bits(std::size_t{2} * (1 + seed * 5), random);
    // A state that is never left has durations that end all the same.
    bool left = true;
    for (std::size_t c = 0; c < model.states(); ++c)
      left = left && model.transition[c * model.states() + c] < 1;
    if (!left) continue;
    Parameters parameters = imported(model);
    take_own_durations(model, 1 + static_cast<int>(seed % 6), parameters);
    CHECK(std::fabs(log_z(parameters, rows) - hmm_log_likelihood(model, rows)) < 1e-9);
    CHECK(largest_gap(exported(parameters).transition, model.transition) < 1e-12);
  }
}

TEST_CASE("probabilities of 0 and 1 break nothing") {
  ChromHmmModel model = small_model();
  model.first = {1, 0};
  model.transition = {1, 0, 0.5, 0.5};
  model.emission = {0, 1, 0.2, 0.7};
  std::vector<Warning> warnings;
  const Parameters parameters = parameters_of(model, 200, warnings);
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].message.find("state 1 has 'A'") != std::string::npos);
  CHECK(warnings[1].message.find("state 1 has 'B'") != std::string::npos);
  CHECK(parameters.chain.start_scores[1] == kNegativeInfinity);
  CHECK(parameters.chain.transition[1] == kNegativeInfinity);
  // State 1 is never left, and stays with 1 - 1e-12.
  CHECK(std::fabs(log_z(parameters, {0, 1, 0, 1}) - 4 * std::log1p(-kLeastEmission)) < 5e-12);
  const double unlikely = 2 * std::log(kLeastEmission);
  CHECK(std::fabs(log_z(parameters, {1, 0}) - unlikely) < 1e-6);
}

TEST_CASE("a model goes to parameters and back") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    ChromHmmModel model = test::random_model(1 + seed, 3, random);
    model.order = "ETU"[seed % 3];
    const Parameters parameters = imported(model);
    CHECK(parameters.labels[0].name == std::string(1, model.order) + "1");
    std::vector<Warning> warnings;
    const ChromHmmModel back = chromhmm_model_of(parameters, "p.json", warnings);
    CHECK(warnings.empty());
    CHECK(back.order == model.order);
    CHECK(back.marks == model.marks);
    CHECK(largest_gap(back.first, model.first) < 1e-14);
    // A state that is never left stays with 1 - 1e-12.
    CHECK(largest_gap(back.transition, model.transition) < 1.01e-12);
    CHECK(largest_gap(back.emission, model.emission) < 1e-14);
    CHECK(largest_gap(imported(back).emission->weights, parameters.emission->weights) < 1e-12);
  }
}

TEST_CASE("what an exported model loses is told") {
  Parameters parameters = imported(small_model());
  parameters.labels[1].name = "Promoter";
  parameters.tracks[0].transform = Transform::kBinarize;
  parameters.chain.end_scores[0] = 1;
  std::vector<Warning> warnings;
  CHECK(chromhmm_model_of(parameters, "p.json", warnings).order == 'U');
  REQUIRE(warnings.size() == 3);
  CHECK(warnings[0].message.find("U2 is Promoter") != std::string::npos);
  CHECK(warnings[1].message.find("lost: A") != std::string::npos);
  CHECK(warnings[2].message.find("of labels E1") != std::string::npos);
}

TEST_CASE("what is no hidden Markov model of 0/1 tracks is not exported") {
  const auto square = [](Parameters& p) { p.tracks[1].square_of = "A"; };
  const std::vector<std::pair<std::string, std::function<void(Parameters&)>>> changes = {
      {"p.json: the inputs are label scores", [](Parameters& p) { p.emission.reset(); }},
      {"p.json:/boundary: ", [](Parameters& p) { p.boundary.emplace(); }},
      {"p.json:/centering: ", [](Parameters& p) { p.centering = Centering::kMean; }},
      {"p.json:/initial: ", [](Parameters& p) { p.chain.initial = InitialTerm::kUniform; }},
      {"p.json:/tracks/0: ", [](Parameters& p) { p.tracks[0].transform = Transform::kAsinh; }},
      {"p.json:/tracks/1: ", [](Parameters& p) { p.tracks[1].scale = 2; }},
      {"p.json:/tracks/1: the square", square},
      {"p.json:/emission/bias/1: the bias of label 'E2'", [](Parameters& p) { p.emission->bias[1] += 0.01; }},
      {"p.json:/emission/bias/0: ", [](Parameters& p) { p.emission->weights[1] *= -1; }},
      {"p.json:/start: ", [](Parameters& p) { p.chain.start_scores[0] += 0.01; }},
      {"p.json:/transition/1: ", [](Parameters& p) { p.chain.transition[2] -= 0.01; }},
      {"p.json:/duration: label 'E1' has explicit durations", [](Parameters& p) {
         p.chain.max_duration = 2;
         p.chain.duration_bias = {-1, -1, -9, -2};
       }}};
  for (const auto& [needle, change] : changes) {
    Parameters parameters = imported(small_model());
    change(parameters);
    const std::string message = test::input_error([&] { exported(parameters); });
    INFO(message);
    CHECK(message.starts_with(needle));
    CHECK(message.find("; ") != std::string::npos);
  }
}

TEST_CASE("durations of segments: a distribution without gaps") {
  const std::vector<std::int64_t> seen = {1, 1, 1, 2, 30, 31, 60, 500, 900};
  for (const int longest : {1, 2, 31, 100, 900, 2000}) {
    INFO("K = " << longest);
    const FittedDurations fitted = fit_durations(seen, longest);
    REQUIRE(fitted.log_probability.size() == static_cast<std::size_t>(longest));
    CHECK((fitted.tail > 0 && fitted.tail < 1));
    double sum = 0;
    for (const double score : fitted.log_probability) {
      CHECK((std::isfinite(score) && score < 0));
      sum += std::exp(score);
    }
    sum += std::exp(fitted.log_probability.back()) * fitted.tail / (1 - fitted.tail);
    CHECK(std::fabs(sum - 1) < 1e-12);
  }
  // Each is spread over those near it: more at 30 than at 35, and there more than where none was.
  const FittedDurations fitted = fit_durations(seen, 100);
  CHECK(fitted.log_probability[29] > fitted.log_probability[34]);
  CHECK(fitted.log_probability[34] > fitted.log_probability[15] + 0.5);
  CHECK(fitted.log_probability[0] > std::log(0.3));
  // Two of 500 and 900 bins, and one more: 600 bins beyond 100.
  CHECK(std::fabs(fitted.tail - 600.0 / 601) < 1e-12);
}

TEST_CASE("quantiles of durations") {
  CHECK(duration_quantile({5, 1, 3}, 0) == 1);
  CHECK(duration_quantile({5, 1, 3, 2}, 0.5) == 2);
  CHECK(duration_quantile({5, 1, 3, 2}, 0.51) == 3);
  CHECK(duration_quantile({5, 1, 3}, 1) == 5);
}

TEST_CASE("explicit durations: no label follows itself, the others sum to 1") {
  std::mt19937_64 random(3);
  const ChromHmmModel model = test::random_model(4, 2, random);
  Parameters parameters = imported(model);
  std::vector<Warning> warnings;
  set_explicit_durations(parameters, model.transition, {{1, 2}, {}, {7}, {3, 40}}, 10, warnings);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message.find("no segments of E2;") != std::string::npos);
  for (std::size_t from = 0; from < 4; ++from) {
    double sum = 0;
    for (std::size_t to = 0; to < 4; ++to) sum += std::exp(parameters.chain.transition[from * 4 + to]);
    CHECK(parameters.chain.transition[from * 5] == kNegativeInfinity);
    CHECK(std::fabs(sum - 1) < 1e-12);
  }
  CHECK(parameters.chain.max_duration == 10);
  CHECK(parameters.chain.has_tail());
  CHECK(std::isfinite(log_z(parameters, test::random_bits(200, random))));
}

TEST_CASE("explicit durations: one state, and a state that is never left") {
  ChromHmmModel one;
  one.marks = {"A"};
  one.first = one.transition = {1};
  one.emission = {0.5};
  Parameters parameters = imported(one);
  std::vector<Warning> warnings;
  set_explicit_durations(parameters, one.transition, {{4, 5}}, 5, warnings);
  CHECK(std::isfinite(log_z(parameters, std::vector<float>(30, 1.0F))));
  CHECK(warnings.empty());
  ChromHmmModel model = small_model();
  model.transition = {0.5, 0.5, 0, 1};
  parameters = imported(model);
  set_explicit_durations(parameters, model.transition, {{2}, {3}}, 5, warnings);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message.find("nothing follows E2") != std::string::npos);
  CHECK(std::isfinite(log_z(parameters, std::vector<float>(30, 1.0F))));
}

}  // namespace
}  // namespace semicrf
