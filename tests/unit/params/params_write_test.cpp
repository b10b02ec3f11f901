
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/error.h"
#include "io/params/params_json.h"
#include "model/describe.h"
#include "support/catch.h"

using namespace semicrf;

namespace {

// Parameters with everything a file can hold, drawn at random.
Parameters random_parameters(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto numbers = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = normal(random);
    return values;
  };
  Parameters parameters;
  const std::size_t labels = 1 + seed % 4;
  const std::size_t tracks = 1 + seed % 4;
  for (std::size_t c = 0; c < labels; ++c) {
    Label label{"label \"" + std::to_string(c) + "\" \\ \xc3\xa9", std::nullopt};
    if (c % 2 == 0) label.color = {static_cast<std::uint8_t>(c), 0, 255};
    parameters.labels.push_back(label);
  }
  parameters.bin_size = 1 + seed;
  parameters.centering = static_cast<Centering>(seed % 4);
  ChainModel& chain = parameters.chain;
  chain.num_labels = static_cast<int>(labels);
  chain.transition = numbers(labels * labels);
  chain.transition[0] = kNegativeInfinity;
  chain.start_scores = numbers(labels);
  chain.end_scores = numbers(labels);
  chain.initial = seed % 2 == 0 ? InitialTerm::kNone : InitialTerm::kUniform;
  parameters.duration.tail.assign(labels, 0.0);
  parameters.duration.tail[labels - 1] = 0.75;
  chain.max_duration = static_cast<int>(1 + seed % 5);
  chain.duration_bias = numbers(labels * (1 + seed % 5));
  chain.log_tail = tail_scores(parameters.duration);
  for (std::size_t f = 0; f < tracks; ++f) {
    parameters.tracks.push_back({.name = "track" + std::to_string(f),
                                 .transform = static_cast<Transform>(f % 4),
                                 .center = normal(random),
                                 .scale = 0.5,
                                 .missing = MissingPolicy::kSkip,
                                 .threshold = f % 4 == 3 ? normal(random) : 0});
  }
  parameters.emission = EmissionHead{numbers(labels * tracks), numbers(labels)};
  BoundaryHead boundary;
  boundary.first = -2;
  boundary.last = 1;
  boundary.start_weights = numbers(labels * tracks * 4);
  boundary.end_weights = numbers(labels * tracks * 4);
  boundary.end_bias = numbers(labels);
  parameters.boundary = boundary;
  parameters.training = R"({"epochs":[1,2],"note":null})";
  return parameters;
}

}  // namespace

TEST_CASE("parameters survive writing and reading to the last bit") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    const Parameters before = random_parameters(seed);
    const std::string text = write_params_json(before);
    const Parameters after = parse_params_json(text, "p.json");
    CHECK(write_params_json(after) == text);
    REQUIRE(after.labels.size() == before.labels.size());
    for (std::size_t c = 0; c < after.labels.size(); ++c) {
      CHECK(after.labels[c].name == before.labels[c].name);
      CHECK(after.labels[c].color == before.labels[c].color);
    }
    CHECK(after.bin_size == before.bin_size);
    CHECK(after.centering == before.centering);
    CHECK(after.chain.max_duration == before.chain.max_duration);
    CHECK(after.chain.transition == before.chain.transition);
    CHECK(after.chain.duration_bias == before.chain.duration_bias);
    CHECK(after.chain.log_tail == before.chain.log_tail);
    CHECK(after.chain.start_scores == before.chain.start_scores);
    CHECK(after.chain.end_scores == before.chain.end_scores);
    CHECK(after.chain.initial == before.chain.initial);
    REQUIRE(after.tracks.size() == before.tracks.size());
    for (std::size_t f = 0; f < after.tracks.size(); ++f) {
      CHECK(after.tracks[f].name == before.tracks[f].name);
      CHECK(after.tracks[f].transform == before.tracks[f].transform);
      CHECK(after.tracks[f].center == before.tracks[f].center);
      CHECK(after.tracks[f].scale == before.tracks[f].scale);
      CHECK(after.tracks[f].missing == before.tracks[f].missing);
    }
    CHECK(after.emission->weights == before.emission->weights);
    CHECK(after.emission->bias == before.emission->bias);
    CHECK(after.boundary->first == before.boundary->first);
    CHECK(after.boundary->last == before.boundary->last);
    CHECK(after.boundary->start_weights == before.boundary->start_weights);
    CHECK(after.boundary->start_bias == before.boundary->start_bias);
    CHECK(after.boundary->end_weights == before.boundary->end_weights);
    CHECK(after.boundary->end_bias == before.boundary->end_bias);
    CHECK(after.training == before.training);
  }
}

TEST_CASE("numbers are written so that they read back as themselves") {
  Parameters parameters = random_parameters(3);
  const std::vector<double> values{
      -0.0, 5e-324, 1e30, 0.1, -1e-300, 1.0 / 3, 123456789012345680.0, kNegativeInfinity};
  parameters.chain.transition.resize(16, 1);
  std::copy(values.begin(), values.end(), parameters.chain.transition.begin());
  const Parameters after = parse_params_json(write_params_json(parameters), "p.json");
  CHECK(after.chain.transition == parameters.chain.transition);
  CHECK(std::signbit(after.chain.transition[0]));
}

TEST_CASE("formula durations are written as formulas") {
  Parameters parameters = random_parameters(1);
  parameters.duration = {find_duration_kind("geometric"), {{0.1}, {1e-20}}, {0.25, 1 - 1e-20}};
  parameters.chain.max_duration = 1000;
  parameters.chain.duration_bias = duration_table(parameters.duration, 1000, 2);
  parameters.chain.log_tail = tail_scores(parameters.duration);
  const std::string text = write_params_json(parameters);
  CHECK(text.find("\"tail\": [0.25, \"continue\"]") != std::string::npos);
  CHECK(text.find("\"bias\": [\n      [") == std::string::npos);
  const Parameters after = parse_params_json(text, "p.json");
  CHECK(after.chain.duration_bias == parameters.chain.duration_bias);
  CHECK(after.chain.log_tail == parameters.chain.log_tail);
}

TEST_CASE("numbers that no file can hold are refused, wrong shapes are our own mistake") {
  for (const double number : {std::numeric_limits<double>::quiet_NaN(), 1.1e30, -1.1e30}) {
    Parameters parameters = random_parameters(2);
    parameters.chain.transition[1] = number;
    CHECK_THROWS_AS(write_params_json(parameters, "m.txt"), InputError);
  }
  // A score may be -inf, a weight may not.
  const std::vector<std::string> labels{"a", "b"}, tracks{"t"};
  Parameters heads = parse_params_json(params_template(labels, tracks), "t.json");
  heads.emission->bias[1] = -std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(write_params_json(heads), InputError);
  Parameters parameters = random_parameters(2);
  parameters.chain.duration_bias.push_back(0);
  parameters.chain.max_duration = 2;
  CHECK_THROWS_AS(write_params_json(parameters), std::logic_error);
}

TEST_CASE("the template is a valid starting file") {
  const std::vector<std::string> labels{"Promoter", "Gene body", "Quiescent"};
  const std::vector<std::string> tracks{"H3K4me3", "H3K36me3"};
  const Parameters with_tracks = parse_params_json(params_template(labels, tracks), "t.json");
  CHECK(with_tracks.num_labels() == 3);
  CHECK(with_tracks.num_tracks() == 2);
  CHECK(with_tracks.labels[1].name == "Gene body");
  CHECK(with_tracks.tracks[0].name == "H3K4me3");
  CHECK(with_tracks.emission->weights == std::vector<double>{1, 0, 0, 1, 0, 0});
  CHECK(with_tracks.chain.has_tail());

  const std::vector<std::string> one{"only"};
  const Parameters scores = parse_params_json(params_template(one, {}), "t.json");
  CHECK(scores.chain.transition == std::vector<double>{0});
  CHECK(!scores.emission);

  const std::vector<std::string> twice{"A", "A"};
  const std::vector<std::string> empty{""};
  const std::vector<std::string> tab{"a\tb"};
  const std::vector<std::string> bytes{"\xff"};
  CHECK_THROWS_AS(params_template(twice, {}), UsageError);
  CHECK_THROWS_AS(params_template(empty, {}), UsageError);
  CHECK_THROWS_AS(params_template(one, tab), UsageError);
  CHECK_THROWS_AS(params_template(bytes, {}), UsageError);
  CHECK_THROWS_AS(params_template({}, {}), UsageError);
}

TEST_CASE("the summary names what matters") {
  const std::vector<std::string> labels{"A", "B"};
  const std::vector<std::string> tracks{"x"};
  const std::string text =
      describe_parameters(parse_params_json(params_template(labels, tracks), "t.json"), TrainingFacts{});
  for (const char* part :
       {"labels: 2\n", "longest duration (K): 100 bins\n", "bin size: 200 bp\n", "centering: mean\n",
        "duration kind: geometric\n", "forbidden transitions: 2 of 4\n", "linear emission",
        "A      -      1..any     0.95", "A      20.0 (4000)         1", "track  transform"}) {
    INFO(part << " in\n" << text);
    CHECK(text.find(part) != std::string::npos);
  }
}
