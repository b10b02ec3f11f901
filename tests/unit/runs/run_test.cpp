// decode and posterior from files to files: threads and memory change no byte.
#include "runs/run.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>

#include "core/error.h"
#include "engine/options.h"
#include "support/catch.h"
#include "support/files/npy_fixture.h"
#include "support/slow_build.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

// The runs' notes would only be noise here.
[[maybe_unused]] const bool kSilent = (spdlog::set_level(spdlog::level::off), true);

constexpr const char* kParameters = R"({"format": "semicrf-params", "format_version": "1.0",
  "labels": ["a", "b", "c"], "max_duration": 6, "bin_size": 10, "centering": "mean",
  "transition": [["-inf", -1, -2], [-1, "-inf", -1], [-2, -1, "-inf"]],
  "duration": {"kind": "geometric", "p": [0.3, 0.2, 0.4], "tail": "continue"}})";

std::string text_of(const ByteVector& bytes) { return {bytes.begin(), bytes.end()}; }

// (rows, 3) scores with stretches of each label, and no value that a float does not hold.
ByteVector random_scores(std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(rows * 3);
  std::size_t label = 0;
  for (std::size_t t = 0; t < rows; ++t) {
    if (random() % 7 == 0) label = random() % 3;
    for (std::size_t c = 0; c < 3; ++c)
      values[3 * t + c] = static_cast<double>(random() % 64) / 16 + (c == label ? 2.0 : 0.0);
  }
  return npy_array(values, rows, 3);
}

// The engine to run with: cpu where there is one.
EngineOptions engine_with(int threads) {
  EngineOptions engine;
  engine.backend = available_instruction_sets().empty() ? EngineOptions::Backend::kReference
                                                        : EngineOptions::Backend::kAuto;
  engine.threads = threads;
  return engine;
}

struct Setting {
  int threads = 1;
  std::optional<std::int64_t> max_memory;
};

// The contents of segments and boundary posterior.
std::string decoded(const TempFolder& folder, const InputOptions& input, const Setting& setting) {
  DecodeOptions options;
  options.run.input = input;
  options.run.engine = engine_with(setting.threads);
  options.run.max_memory = setting.max_memory;
  options.run.version = "test";
  options.output = folder / "out.bed";
  options.posterior_path = folder / "out.bedgraph";
  options.extra_columns = true;
  run_decode(options, nullptr);
  return read_file(options.output) + read_file(options.posterior_path);
}

std::string posteriors(const TempFolder& folder, const InputOptions& input, const Setting& setting) {
  PosteriorOptions options;
  options.run.input = input;
  options.run.engine = engine_with(setting.threads);
  options.run.max_memory = setting.max_memory;
  options.run.version = "test";
  options.output = folder / "out.bedgraph";
  options.labels_out = folder / "labels";
  run_posterior(options, nullptr);
  std::string all = read_file(options.output);
  for (const char* name : {"labels.a.bedgraph", "labels.b.bedgraph", "labels.c.bedgraph"})
    all += read_file(folder / name);
  return all;
}

// Two draws; of generated scores when there is no input, which are part of the contents then.
std::string draws(const TempFolder& folder, const InputOptions& input, const Setting& setting) {
  SimulateOptions options;
  options.run.input = input;
  options.run.input.seed = options.seed = 4;
  options.run.engine = engine_with(setting.threads);
  options.run.max_memory = setting.max_memory;
  options.run.version = "test";
  options.output = folder / "out.bed";
  options.draws = 2;
  const bool generated = !input.generated.empty();
  if (generated) options.emissions = folder / "rows";
  run_simulate(options, nullptr);
  std::string all = read_file(folder / "out.1.bed") + read_file(folder / "out.2.bed");
  for (const GeneratedSequence& sequence : input.generated)
    all += read_file(folder / "rows." + sequence.name + ".npy");
  return all;
}

InputOptions input_of(const TempFolder& folder, std::vector<std::string> inputs) {
  InputOptions input;
  input.parameters = folder.add("p.json", kParameters);
  input.inputs = std::move(inputs);
  return input;
}

}  // namespace

TEST_CASE("a long sequence: the same bytes for any threads and memory") {
  const TempFolder folder;
  const InputOptions input = input_of(folder, {folder.add("x.npy", text_of(random_scores(60'000, 3)))});
  const std::string expected = decoded(folder, input, {});
  const std::string expected_posteriors = posteriors(folder, input, {});
  CHECK(expected.find("x\t0\t") != std::string::npos);
  const std::string expected_draws = draws(folder, input, {});
  InputOptions generated = input_of(folder, {});
  generated.generated = {{"r", 50'000}, {"s", 3}};
  const std::string expected_generated = draws(folder, generated, {});
  CHECK(expected_generated.find("s\t0\t") != std::string::npos);
  const bool can_cut = !available_instruction_sets().empty();
  for (const Setting& setting : {Setting{2, {}}, Setting{1, 37 << 20}, Setting{3, 38 << 20}}) {
    if (setting.max_memory && !can_cut) continue;
    CAPTURE(setting.threads, setting.max_memory.value_or(0));
    CHECK(decoded(folder, input, setting) == expected);
    CHECK(posteriors(folder, input, setting) == expected_posteriors);
    CHECK(draws(folder, input, setting) == expected_draws);
    CHECK(draws(folder, generated, setting) == expected_generated);
  }
}

TEST_CASE("a path printed by several threads: the same bytes") {
  const TempFolder folder;
  DecodeOptions options;
  options.run.input = input_of(folder, {folder.add("x.npy", text_of(random_scores(300'000, 7)))});
  options.run.version = "test";
  for (const char* name : {"out.bed", "out.bed.gz"}) {
    options.output = folder / name;
    std::string expected;
    for (const int threads : {1, 2, 5}) {
      options.run.engine = engine_with(threads);
      run_decode(options, nullptr);
      const std::string found = read_file(options.output);
      if (expected.empty()) expected = found;
      if (options.output.ends_with(".bed")) CHECK(std::count(found.begin(), found.end(), '\n') > 20'000);
      CHECK((found == expected));
    }
  }
}

TEST_CASE("many short pieces: the same bytes for any threads") {
  const TempFolder folder;
  std::vector<ZipMember> members;
  for (unsigned i = 0; i < 40; ++i)
    members.push_back({std::to_string(i).append(".npy"), random_scores(1 + i * 37 % 500, i), i % 2 == 0});
  InputOptions input = input_of(folder, {folder.add("all.npz", text_of(zip_bytes(members)))});
  input.exclude_file = folder.add("exclude.bed", "3\t50\t200\n9\t0\t40\n9\t100\t140\n");
  const std::string expected = decoded(folder, input, {});
  const std::string expected_draws = draws(folder, input, {});
  for (const int threads : {2, 3, 8}) {
    CAPTURE(threads);
    CHECK(decoded(folder, input, {threads, {}}) == expected);
    CHECK(draws(folder, input, {threads, {}}) == expected_draws);
  }
}

// Two engines of the processor stand for two GPUs.
TEST_CASE("pieces spread over devices: the same bytes, and the first error") {
  const TempFolder folder;
  std::vector<ZipMember> members;
  for (unsigned i = 0; i < 12; ++i)
    members.push_back(
        {std::to_string(i).append(".npy"), random_scores(1 + i * 3700 % 20'000, i), i % 2 == 0});
  InputOptions input = input_of(folder, {folder.add("all.npz", text_of(zip_bytes(members)))});
  const auto run = [&](std::vector<int> devices) {
    DecodeOptions options;
    options.run.input = input;
    options.run.engine = engine_with(2);
    options.run.engine.devices = std::move(devices);
    options.run.version = "test";
    options.output = folder / "out.bed";
    options.posterior_path = folder / "out.bedgraph";
    run_decode(options, nullptr);
    return read_file(options.output) + read_file(options.posterior_path);
  };
  const std::string expected = run({0});
  constexpr int kTimes = testing::kSlowBuild ? 2 : 5;
  for (int again = 0; again < kTimes; ++again) {
    CHECK(run({0, 1}) == expected);
    CHECK(run({0, 1, 2}) == expected);
  }
  for (const char* name : {"bad1.npy", "bad2.npy"}) {
    std::vector<std::uint8_t> scores = random_scores(9'000, 3);
    for (std::size_t i = scores.size() - 4; i < scores.size(); ++i) scores[i] = 0xff;  // NaN
    input.inputs.push_back(folder.add(name, text_of(scores)));
  }
  for (int again = 0; again < kTimes; ++again) {
    try {
      run({0, 1});
      FAIL("not refused");
    } catch (const InputError& error) {
      CHECK(std::string(error.what()).find("bad1.npy") != std::string::npos);
    }
  }
}

TEST_CASE("memory that is too small is known before anything is written") {
  const TempFolder folder;
  const InputOptions input = input_of(folder, {folder.add("x.npy", text_of(random_scores(60'000, 3)))});
  CHECK_THROWS_AS(decoded(folder, input, {1, 1 << 20}), MemoryError);
  CHECK(folder.names() == std::vector<std::string>{"p.json", "x.npy"});
}

// The other outputs are complete when writing to the full device fails, which shows only at the end.
TEST_CASE("an output that fails at the end keeps all others from appearing") {
  const TempFolder folder;
  DecodeOptions options;
  options.run.input = input_of(folder, {folder.add("x.npy", text_of(random_scores(100, 5)))});
  options.run.engine = engine_with(1);
  options.run.version = "test";
  options.output = folder.add("out.bed", "old\n");
  const auto names = folder.names();
  const auto refused = [&] {
    CHECK_THROWS_AS(run_decode(options, nullptr), WriteError);
    CHECK(read_file(options.output) == "old\n");
    CHECK(folder.names() == names);
  };
  options.posterior_path = "/dev/full";
  refused();
  options.posterior_path.clear();
  options.run.stats_path = "/dev/full";
  refused();
  options.run.stats_path = folder / "stats.json";
  run_decode(options, nullptr);
  CHECK(read_file(options.output) != "old\n");
  CHECK(folder.names().size() == names.size() + 1);
}

TEST_CASE("a dry run names engine, inputs, bins and windows") {
  const TempFolder folder;
  DecodeOptions options;
  options.run.input = input_of(folder, {folder.add("x.npy", text_of(random_scores(100, 3)))});
  options.run.engine = engine_with(1);
  const std::string plan = plan_decode(options);
  CHECK(plan.find("x <- x.npy") != std::string::npos);
  CHECK(plan.find("100 bins\t1 piece\tViterbi: 1 window of 100 positions") != std::string::npos);
}

TEST_CASE("parts of a chromosome keep their places, and overlaps are refused") {
  const TempFolder folder;
  const std::string left = folder.add("l.npy", text_of(random_scores(10, 1)));
  const std::string right = folder.add("r.npy", text_of(random_scores(10, 2)));
  const std::string found =
      decoded(folder, input_of(folder, {"chr1:201-300=" + right, "chr1:1-95=" + left}), {});
  CHECK(found.find("\nchr1\t0\t") != std::string::npos);
  CHECK(found.find("\t95\t") != std::string::npos);
  CHECK(found.find("\nchr1\t200\t") > found.find("\t95\t"));
  CHECK_THROWS_AS(decoded(folder, input_of(folder, {"chr1:1-100=" + right, "chr1:91-190=" + left}), {}),
                  InputError);
  CHECK_THROWS_AS(decoded(folder, input_of(folder, {"chr1:6-105=" + right}), {}), InputError);
  CHECK_THROWS_AS(decoded(folder, input_of(folder, {"chr1:1-200=" + right}), {}), InputError);
}
