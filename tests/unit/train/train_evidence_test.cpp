// Pieces of which not all labels are known: the likelihood of what is known is the sum over the segmentations
// that agree with it, and so are its derivatives.
#include <algorithm>
#include <cmath>
#include <random>

#include "support/catch.h"
#include "support/seeds.h"
#include "train/objective/objective.h"
#include "unit/train/train_fixture.h"

namespace semicrf {
namespace {

constexpr std::array<std::size_t, 1> kOnly{0};

EngineOptions engine_of(EngineOptions::Backend backend, Precision precision) {
  EngineOptions engine;
  engine.backend = backend;
  engine.precision = precision;
  return engine;
}

// Lines, choices and gaps of random lengths. `lines`: whether a line is one segment.
std::vector<LabelEvidence> random_evidence(std::int64_t length, int labels, bool lines,
                                           std::mt19937_64& random) {
  std::vector<LabelEvidence> evidence;
  for (std::int64_t t = 0; t < length;) {
    LabelEvidence one{t, std::min(length, t + 1 + static_cast<std::int64_t>(random() % 3)), {}, {}, lines};
    const auto kind = random() % 4;
    for (int c = 0; c < labels && kind > 0; ++c)
      if (random() % 2 == 0) one.labels.push_back(c);
    if (kind == 1 && !one.labels.empty()) one.labels.resize(1);
    for (std::size_t i = 0; kind == 2 && i < one.labels.size(); ++i)
      one.log_weights.push_back(std::log(0.1 + static_cast<double>(random() % 10)));
    if (one.is_free()) one.one_segment = false;
    t = one.end;
    evidence.push_back(one);
  }
  return evidence;
}

// The log weight of a segmentation, -inf where it does not agree.
double log_weight(const std::vector<Segment>& segments, const std::vector<LabelEvidence>& evidence) {
  const auto covering = [&](std::int64_t t) {
    return *std::ranges::find_if(segments, [&](const Segment& segment) { return t < segment.end; });
  };
  double sum = 0;
  for (const LabelEvidence& one : evidence) {
    if (one.is_free()) continue;
    for (std::int64_t t = one.begin; t < one.end; ++t) {
      const Segment segment = covering(t);
      const auto found = std::ranges::find(one.labels, segment.label);
      if (found == one.labels.end()) return kNegativeInfinity;
      if (!one.log_weights.empty() && (t == one.begin || !one.one_segment))
        sum += one.log_weights[static_cast<std::size_t>(found - one.labels.begin())];
      if (one.one_segment && segment.end < one.end) return kNegativeInfinity;
    }
  }
  for (std::size_t i = 1; i < evidence.size(); ++i) {
    if (!evidence[i - 1].one_segment || !evidence[i].one_segment) continue;
    if (covering(evidence[i].begin).begin != evidence[i].begin) return kNegativeInfinity;
  }
  return sum;
}

template <class Visit>
void for_each_segmentation(std::int64_t length, int labels, std::vector<Segment>& path, const Visit& visit) {
  const std::int64_t begin = path.empty() ? 0 : path.back().end;
  if (begin == length) return visit(path);
  for (int c = 0; c < labels; ++c)
    for (std::int64_t end = begin + 1; end <= length; ++end) {
      path.push_back({begin, end, c});
      for_each_segmentation(length, labels, path, visit);
      path.pop_back();
    }
}

double value_of(const TrainingData& data, const Parameters& parameters, const EngineOptions& engine,
                ParameterGradient* gradient) {
  return negative_log_likelihood(data, kOnly, parameters, engine, {}, gradient);
}

constexpr std::array kLists = {
    &ParameterGradient::weights,     &ParameterGradient::bias,       &ParameterGradient::start_weights,
    &ParameterGradient::end_weights, &ParameterGradient::start_bias, &ParameterGradient::end_bias,
    &ParameterGradient::transition,  &ParameterGradient::duration,   &ParameterGradient::tail,
    &ParameterGradient::start,       &ParameterGradient::end};

void add_times(double factor, const ParameterGradient& from, ParameterGradient& to) {
  for (const auto list : kLists)
    for (std::size_t i = 0; i < (to.*list).size(); ++i) (to.*list)[i] += factor * (from.*list)[i];
}

double largest_difference(const ParameterGradient& a, const ParameterGradient& b) {
  double largest = 0;
  for (const auto list : kLists)
    for (std::size_t i = 0; i < (a.*list).size(); ++i)
      largest = std::max(largest, std::fabs((a.*list)[i] - (b.*list)[i]));
  return largest;
}

struct Expected {
  double value = 0;  // -ln of the sum over s of its weight times e^-NLL(s)
  ParameterGradient gradient;
  bool possible = false;
};

// From the values of all pieces that are settled.
Expected expected_of(const TrainingData& data, const Parameters& parameters) {
  const EngineOptions engine = engine_of(EngineOptions::Backend::kReference, Precision::kDouble);
  const std::vector<LabelEvidence>& evidence = data.pieces.front().evidence;
  Expected expected;
  expected.gradient = ParameterGradient(parameters);
  double sum = 0;
  std::vector<Segment> path;
  TrainingData settled = data;
  TrainingPiece& piece = settled.pieces.front();
  piece.evidence.clear();
  for_each_segmentation(piece.length, data.num_labels, path, [&](const std::vector<Segment>& segments) {
    const double weight = log_weight(segments, evidence);
    if (weight == kNegativeInfinity) return;
    piece.segments = segments;
    piece.lines.assign(segments.size(), 1);
    ParameterGradient gradient(parameters);
    try {
      const double p = std::exp(weight - value_of(settled, parameters, engine, &gradient));
      sum += p;
      add_times(p, gradient, expected.gradient);
    } catch (const InputError&) {  // too long for the model
    }
  });
  expected.possible = sum > 0;
  expected.value = -std::log(sum);
  for (const auto list : kLists)
    for (double& entry : expected.gradient.*list) entry /= sum;
  return expected;
}

void compare(const TrainingData& data, const Parameters& parameters) {
  const Expected expected = expected_of(data, parameters);
  struct Rung {
    EngineOptions::Backend backend;
    Precision precision;
    double tolerance;
  };
  for (const Rung rung : {Rung{EngineOptions::Backend::kReference, Precision::kDouble, 1e-10},
                          Rung{EngineOptions::Backend::kCpu, Precision::kDouble, 1e-9},
                          Rung{EngineOptions::Backend::kCpu, Precision::kFloat, 1e-4}}) {
    const EngineOptions engine = engine_of(rung.backend, rung.precision);
    INFO("backend " << static_cast<int>(rung.backend) << ", float " << (rung.precision == Precision::kFloat));
    ParameterGradient gradient(parameters);
    if (!expected.possible) {
      CHECK_THROWS_AS(value_of(data, parameters, engine, &gradient), InputError);
      continue;
    }
    CHECK(std::fabs(value_of(data, parameters, engine, &gradient) - expected.value) <=
          rung.tolerance * std::max(1.0, std::fabs(expected.value)));
    CHECK(largest_difference(gradient, expected.gradient) <= rung.tolerance * 10);
    CHECK(value_of(data, parameters, engine, nullptr) == value_of(data, parameters, engine, nullptr));
  }
}

}  // namespace

TEST_CASE("the likelihood of partly known labels is that of all segmentations that agree", "[train]") {
  const std::uint64_t seed = testing::test_seed(20261123);
  std::mt19937_64 random(seed);
  int possible = 0;
  for (int round = 0; round < 60; ++round) {
    test::ModelShape shape;
    shape.labels = 2 + static_cast<int>(random() % 2);
    shape.max_duration = 1 + static_cast<int>(random() % 4);
    shape.tail = random() % 2 == 0;
    shape.boundary = random() % 2 == 0;
    constexpr std::array kCentrings = {Centering::kNone, Centering::kMean, Centering::kPositionMax};
    shape.centering = kCentrings[random() % kCentrings.size()];
    shape.initial = random() % 2 == 0 ? InitialTerm::kNone : InitialTerm::kUniform;
    Parameters parameters = test::random_parameters(shape, random);
    const auto labels = static_cast<std::size_t>(shape.labels);
    if (random() % 2 == 0)
      for (std::size_t c = 0; c < labels; ++c)
        parameters.chain.transition[c * (labels + 1)] = kNegativeInfinity;
    const auto length = 1 + static_cast<std::int64_t>(random() % 5);
    TrainingData data;
    data.num_labels = shape.labels;
    data.num_tracks = shape.tracks;
    data.pieces.push_back(test::random_piece(length, shape.labels, shape.tracks, 3, random));
    TrainingPiece& piece = data.pieces.front();
    piece.segments.clear();
    piece.lines.clear();
    piece.evidence = random_evidence(length, shape.labels, random() % 4 > 0, random);
    piece.cut = {random() % 3 == 0, random() % 3 == 0};
    INFO("seed " << seed << ", round " << round << ", T " << length << ", C " << shape.labels << ", K "
                 << shape.max_duration << ", tail " << shape.tail << ", cut " << piece.cut.left
                 << piece.cut.right);
    possible += expected_of(data, parameters).possible ? 1 : 0;
    compare(data, parameters);
  }
  CHECK(possible > 20);
}

TEST_CASE("evidence that leaves one segmentation is a settled piece", "[train]") {
  std::mt19937_64 random(7);
  test::ModelShape shape;
  shape.boundary = true;
  shape.tail = true;
  const Parameters parameters = test::random_parameters(shape, random);
  TrainingData settled;
  settled.num_labels = shape.labels;
  settled.num_tracks = shape.tracks;
  settled.pieces.push_back(test::random_piece(400, shape.labels, shape.tracks, 9, random));
  TrainingData known = settled;
  TrainingPiece& piece = known.pieces.front();
  for (const Segment& segment : piece.segments)
    piece.evidence.push_back({segment.begin, segment.end, {segment.label}, {}, true});
  ObjectiveOptions options;
  options.margin = GENERATE(0.0, 0.3);
  for (const auto backend : {EngineOptions::Backend::kReference, EngineOptions::Backend::kCpu}) {
    const EngineOptions engine = engine_of(backend, Precision::kDouble);
    ParameterGradient a(parameters), b(parameters);
    const double expected = negative_log_likelihood(settled, kOnly, parameters, engine, options, &a);
    CHECK(negative_log_likelihood(known, kOnly, parameters, engine, options, &b) ==
          Approx(expected).epsilon(1e-11));
    CHECK(largest_difference(a, b) <= 1e-8);
  }
}

TEST_CASE("log Z of what is allowed, threads and windows of partly known pieces", "[train]") {
  std::mt19937_64 random(9);
  test::ModelShape shape;
  shape.max_duration = 20;
  shape.tail = true;
  const Parameters parameters = test::random_parameters(shape, random);
  TrainingData data;
  data.num_labels = shape.labels;
  data.num_tracks = shape.tracks;
  for (int i = 0; i < 5; ++i) {
    TrainingPiece piece = test::random_piece(300, shape.labels, shape.tracks, 30, random);
    for (std::size_t s = 0; s < piece.segments.size(); ++s) {
      const Segment& segment = piece.segments[s];
      const bool known = s == 0 || s + 1 == piece.segments.size() || random() % 3 > 0;
      LabelEvidence one{segment.begin, segment.end, {}, {}, known};
      if (known) one.labels = {segment.label};
      piece.evidence.push_back(one);
    }
    std::erase_if(piece.segments, [&](const Segment& segment) {
      return std::ranges::any_of(piece.evidence, [&](const LabelEvidence& one) {
        return one.is_free() && one.begin == segment.begin;
      });
    });
    piece.lines.resize(piece.segments.size());
    data.pieces.push_back(piece);
  }
  EngineOptions engine = engine_of(EngineOptions::Backend::kCpu, Precision::kDouble);
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4};
  ParameterGradient one(parameters), three(parameters), counts(parameters);
  const double first = negative_log_likelihood(data, all, parameters, engine, {}, &one);
  engine.threads = 3;
  CHECK(negative_log_likelihood(data, all, parameters, engine, {}, &three) == first);
  CHECK(largest_difference(one, three) == 0);
  TrainingData unknown = data;
  for (TrainingPiece& piece : unknown.pieces) piece.evidence.clear(), piece.segments.clear();
  CHECK(log_evidence(unknown, parameters, engine, nullptr) -
            log_evidence(data, parameters, engine, &counts) ==
        Approx(first).epsilon(1e-10));
  double bins = 0;
  for (const double expected : counts.bias) bins += expected;
  CHECK(bins == Approx(1500).epsilon(1e-9));
  // Windows lose nothing, and end where both sides are known.
  const TrainingData windows = cut_into_windows(data, 40);
  CHECK(windows.pieces.size() > 5);
  CHECK(windows.positions() == data.positions());
  CHECK(windows.segments() == data.segments());
  CHECK(windows.free_positions() == data.free_positions());
  for (const TrainingPiece& piece : windows.pieces) {
    std::int64_t at = 0;
    for (const LabelEvidence& known : piece.evidence) {
      CHECK(known.begin == at);
      at = known.end;
    }
    CHECK((piece.evidence.empty() ? piece.is_settled() : at == piece.length));
  }
}

}  // namespace semicrf
