// decode and posterior on the emulated device: short pieces that go to the engine together have the bytes and
// the errors that they have one by one.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "core/error.h"
#include "cuda/engine/cuda_engine.h"
#include "query/query_run.h"
#include "runs/run.h"
#include "support/catch.h"
#include "support/cut_piece.h"
#include "support/files/npy_fixture.h"
#include "support/slow_build.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::test;
using namespace semicrf::testing;

namespace {

[[maybe_unused]] const bool kSilent = (spdlog::set_level(spdlog::level::off), true);

constexpr const char* kParameters = R"({"format": "semicrf-params", "format_version": "1.0",
  "labels": ["a", "b", "c"], "max_duration": 6, "bin_size": 10, "centering": "mean",
  "transition": [["-inf", -1, -2], [-1, "-inf", -1], [-2, -1, "-inf"]],
  "duration": {"kind": "geometric", "p": [0.3, 0.2, 0.4], "tail": "continue"}})";

// So little that no two pieces go together.
constexpr std::int64_t kOneByOne = std::int64_t{64} << 20;

struct Setting {
  std::vector<int> devices;
  int threads = 1;
  std::optional<std::int64_t> max_memory;
  InfeasiblePolicy infeasible = InfeasiblePolicy::kError;
  EngineOptions::Backend backend = EngineOptions::Backend::kCuda;
  std::size_t device_memory = 0;
};

RunOptions run_options(const InputOptions& input, const Setting& setting) {
  RunOptions run;
  run.input = input;
  run.engine.backend = setting.backend;
  run.engine.devices = setting.devices;
  run.engine.threads = setting.threads;
  run.max_memory = setting.max_memory;
  run.engine.device_memory = setting.device_memory;
  run.infeasible = setting.infeasible;
  run.version = "test";
  return run;
}

// Segments; with the boundary posteriors and the statistics of the sequences; label posteriors alone.
std::string all_outputs(const TempFolder& folder, const InputOptions& input, const Setting& setting) {
  DecodeOptions decode;
  decode.run = run_options(input, setting);
  decode.output = folder / "path.bed";
  run_decode(decode, nullptr);
  std::string all = read_file(decode.output);
  decode.output = folder / "both.bed";
  decode.posterior_path = folder / "both.bedgraph";
  decode.run.stats_path = folder / "stats.json";
  run_decode(decode, nullptr);
  const std::string stats = read_file(decode.run.stats_path);
  all +=
      read_file(decode.output) + read_file(decode.posterior_path) + stats.substr(stats.find("\"sequences\""));
  PosteriorOptions posterior;
  posterior.run = run_options(input, setting);
  posterior.output = folder / "out.bedgraph";
  posterior.labels_out = folder / "labels";
  run_posterior(posterior, nullptr);
  all += read_file(posterior.output);
  for (const char* name : {"labels.a.bedgraph", "labels.b.bedgraph", "labels.c.bedgraph"})
    all += read_file(folder / name);
  return all;
}

std::string error_of(const TempFolder& folder, const InputOptions& input, const Setting& setting) {
  DecodeOptions decode;
  decode.run = run_options(input, setting);
  decode.output = folder / "path.bed";
  try {
    run_decode(decode, nullptr);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

constexpr std::size_t kNoRow = std::numeric_limits<std::size_t>::max();

// (rows, 3) scores, times `scale`; the row `bad` holds `value`.
ByteVector scores_of(std::size_t rows, unsigned seed, std::size_t bad = kNoRow, double value = 0,
                     double scale = 1) {
  std::mt19937 random(seed);
  std::vector<double> values(rows * 3);
  std::size_t label = 0;
  for (std::size_t t = 0; t < rows; ++t) {
    if (random() % 7 == 0) label = random() % 3;
    for (std::size_t c = 0; c < 3; ++c)
      values[3 * t + c] =
          t == bad ? value : scale * (static_cast<double>(random() % 64) / 16 + (c == label ? 2.0 : 0.0));
  }
  return npy_array(values, rows, 3);
}

class Inputs {
 public:
  explicit Inputs(const TempFolder& folder) : folder_(folder) {
    input_.parameters = folder.add("p.json", kParameters);
  }
  void add(const ByteVector& array) {
    members_.push_back({std::to_string(members_.size()).append(".npy"), array, members_.size() % 2 == 0});
  }
  InputOptions options() {
    const ByteVector bytes = zip_bytes(members_);
    input_.inputs = {folder_.add("all.npz", std::string(bytes.begin(), bytes.end()))};
    return input_;
  }

 private:
  const TempFolder& folder_;
  InputOptions input_;
  std::vector<ZipMember> members_;
};

constexpr double kForbidden = -std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("short pieces together on a device: the same bytes as one by one") {
  REQUIRE(cuda_obstacle().empty());  // the emulated one is linked
  const TempFolder folder;
  Inputs inputs(folder);
  for (unsigned i = 0; i < 24; ++i) inputs.add(scores_of(1 + i * 37 % 300, i));
  InputOptions input = inputs.options();
  input.exclude_file = folder.add("exclude.bed", "3\t50\t200\n9\t0\t40\n9\t100\t140\n");
  const std::string expected = all_outputs(folder, input, {{}, 1, kOneByOne});
  CHECK(expected.find("23\t0\t") != std::string::npos);
  CHECK((all_outputs(folder, input, {{}, 1, {}}) == expected));
  CHECK((all_outputs(folder, input, {{}, 3, {}}) == expected));
  CHECK((all_outputs(folder, input, {{0, 0}, 2, {}}) == expected));
}

TEST_CASE("pieces on the plain engine: the same bytes on any number of threads, and errors as elsewhere") {
  constexpr auto kPlain = EngineOptions::Backend::kCudaPlain;
  const TempFolder folder;
  Inputs inputs(folder);
  for (unsigned i = 0; i < 9; ++i) inputs.add(scores_of(20 + i * 37 % 300, i, i == 4 ? 7 : 1000, kForbidden));
  const InputOptions input = inputs.options();
  const auto skip = InfeasiblePolicy::kSkip;
  const std::string expected = all_outputs(folder, input, {{}, 1, {}, skip, kPlain});
  CHECK(expected.find("\n4\t") == std::string::npos);
  CHECK(expected.find("\n5\t") != std::string::npos);
  CHECK((all_outputs(folder, input, {{}, 3, {}, skip, kPlain}) == expected));
  CHECK(error_of(folder, input, {{}, 1, {}, InfeasiblePolicy::kError, kPlain}) ==
        error_of(folder, input, {{}, 1, {}}));
}

// The plain engine cannot cut a sequence into windows.
TEST_CASE("a sequence that the plain engine's device has no memory for is refused before the run") {
  const TempFolder folder;
  Inputs inputs(folder);
  inputs.add(scores_of(900'000, 1));
  Setting setting;
  setting.backend = EngineOptions::Backend::kCudaPlain;
  setting.device_memory = std::size_t{100} << 20;
  const std::string error = error_of(folder, inputs.options(), setting);
  CAPTURE(error);
  CHECK(error.find("of GPU memory and 100.0 MiB are available") != std::string::npos);
}

TEST_CASE("short pieces together on a device: those without a segmentation are left out") {
  const TempFolder folder;
  Inputs inputs(folder);
  for (unsigned i = 0; i < 9; ++i) inputs.add(scores_of(20 + i, i, i % 3 == 1 ? 7 : 1000, kForbidden));
  const InputOptions input = inputs.options();
  const auto skip = InfeasiblePolicy::kSkip;
  const std::string expected = all_outputs(folder, input, {{}, 1, kOneByOne, skip});
  CHECK(expected.find("\n4\t") == std::string::npos);
  CHECK(expected.find("\n5\t") != std::string::npos);
  CHECK((all_outputs(folder, input, {{}, 1, {}, skip}) == expected));
  CHECK((all_outputs(folder, input, {{0, 0}, 1, {}, skip}) == expected));
}

TEST_CASE("short pieces together on a device: the first error, as it reads one by one") {
  const TempFolder folder;
  for (const bool infeasible_first : {true, false}) {
    Inputs inputs(folder);
    for (unsigned i = 0; i < 9; ++i) {
      const bool bad = i == 3 || i == 6;
      inputs.add(scores_of(20 + i, i, bad ? 7 : 1000, (i == 3) == infeasible_first ? kForbidden : kNan));
    }
    const InputOptions input = inputs.options();
    const std::string expected = error_of(folder, input, {{}, 1, kOneByOne});
    CAPTURE(expected);
    CHECK((expected.find("no segmentation") != std::string::npos) == infeasible_first);
    CHECK(error_of(folder, input, {{}, 1, {}}) == expected);
    CHECK(error_of(folder, input, {{}, 2, {}}) == expected);
    CHECK(error_of(folder, input, {{0, 0}, 2, {}}) == expected);
  }
}

namespace {

bool near(const std::string& a, const std::string& b) {
  try {
    std::size_t used_a = 0, used_b = 0;
    const double x = std::stod(a, &used_a), y = std::stod(b, &used_b);
    if (used_a == a.size() && used_b == b.size())
      return x == y || std::fabs(x - y) <= 2e-6 * (1 + std::fabs(x));
  } catch (const std::exception&) {
  }
  return a == b;
}

// Lines that are not comments, word by word; numbers may differ in their last digits.
void check_same_words(const std::string& found, const std::string& expected) {
  std::istringstream found_lines(found), expected_lines(expected);
  std::string a, b;
  while (std::getline(expected_lines, b)) {
    REQUIRE(std::getline(found_lines, a));
    if (b.starts_with('#')) continue;
    std::istringstream found_words(a), expected_words(b);
    for (std::string x, y; expected_words >> y;) {
      INFO(a << " | " << b);
      REQUIRE(found_words >> x);
      REQUIRE(near(x, y));
    }
  }
  CHECK_FALSE(std::getline(found_lines, a));
}

// What can be asked about a sequence besides its best path.
std::vector<std::string> answers(const TempFolder& folder, const InputOptions& input,
                                 const std::string& claims, EngineOptions::Backend backend,
                                 const std::string& constraints = "") {
  RunOptions run = run_options(input, {});
  run.constraints = constraints;
  run.engine.backend = backend;
  run.engine.precision = Precision::kDouble;
  QueryOptions query;
  query.run = run;
  query.claims = claims;
  query.output = folder / "claims.tsv";
  run_query(query, nullptr);
  PosteriorOptions posterior;
  posterior.run = run;
  posterior.run.stats_path = folder / "stats.json";
  posterior.output = folder / "out.bedgraph";
  posterior.starts_out = folder / "starts";
  posterior.ends_out = folder / "ends";
  run_posterior(posterior, nullptr);
  DecodeOptions decode;
  decode.run = run;
  decode.rule = PathRule::kPosterior;
  decode.gamma = 0.5;
  decode.output = folder / "path.bed";
  run_decode(decode, nullptr);
  decode.rule = PathRule::kViterbi;
  decode.gamma.reset();
  decode.output = folder / "best.bed";
  decode.table_path = folder / "table.tsv";
  decode.boundaries_path = folder / "boundaries.tsv";
  decode.interval_level = 0.8;
  run_decode(decode, nullptr);
  DecodeOptions ranked;
  ranked.run = run;
  ranked.best = 3;
  ranked.output = folder / "rank.bed";
  run_decode(ranked, nullptr);
  std::vector<std::string> all;
  for (const char* name : {"claims.tsv", "out.bedgraph", "starts.a.bedgraph", "ends.c.bedgraph", "path.bed",
                           "table.tsv", "boundaries.tsv", "rank.1.bed", "rank.2.bed", "rank.3.bed"})
    all.push_back(read_file(folder / name));
  const std::string stats = read_file(folder / "stats.json");
  for (const char* name : {"\"segmentation_entropy\": ", "\"expected_segments\": ", "\"log_partition\": "}) {
    const std::size_t begin = stats.find(name) + std::string(name).size();
    all.push_back(stats.substr(begin, stats.find_first_of(",\n}", begin) - begin));
  }
  return all;
}

}  // namespace

TEST_CASE("what is said of whole and of cut pieces on a device is the cpu's") {
  const TempFolder folder;
  Inputs inputs(folder);
  inputs.add(scores_of(900, 5));
  InputOptions input = inputs.options();
  std::string lines;
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    constexpr const char* kClaims[] = {"boundary", "no-boundary", "label:a",  "within:b",
                                       "starts:c", "ends:a",      "segment:b"};
    const auto begin = random() % 8900;
    lines += "0\t" + std::to_string(begin) + "\t" + std::to_string(begin + 1 + random() % 90) + "\t" +
             kClaims[i % 7] + "\n";
  }
  const std::string claims = folder.add("claims.bed", lines);
  std::vector<std::string> whole;
  for (const bool cut : {false, true}) {
    INFO("cut " << cut);
    if (cut) {
      input.edges = EdgeRule::kCensored;
      input.regions = {"0:2001-5000", "0:6011-9000"};
    }
    const std::vector<std::string> expected = answers(folder, input, claims, EngineOptions::Backend::kCpu);
    for (const auto backend : {EngineOptions::Backend::kCuda, EngineOptions::Backend::kCudaPlain}) {
      const std::vector<std::string> found = answers(folder, input, claims, backend);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(expected[i].size() > 3);
        check_same_words(found[i], expected[i]);
      }
    }
    if (cut) CHECK(expected.back() != whole.back());
    whole = expected;
  }
}

namespace {

// Boundaries, several of them in a block, and labels, of 900 bins of 10 bases.
std::string constraint_lines() {
  std::string lines;
  for (const int bin : {1, 17, 300, 303, 305, 310, 500, 501, 502, 503, 505, 507, 898})
    lines += "0\t" + std::to_string(10 * bin) + "\t" + std::to_string(10 * bin + 10) + "\tboundary\n";
  return lines + "0\t400\t600\tlabel:a,b\n0\t5100\t5130\tno-boundary\n0\t7000\t7010\tnot:c\n";
}

// The best path and the logarithm of the probability of the constraints.
std::pair<std::string, double> constrained_path(const TempFolder& folder, RunOptions run) {
  run.stats_path = folder / "stats.json";
  DecodeOptions decode;
  decode.run = run;
  decode.score = ScoreColumn::kNone;
  decode.output = folder / "path.bed";
  run_decode(decode, nullptr);
  const std::string stats = read_file(folder / "stats.json"), name = "\"log_constraint_probability\": ";
  return {read_file(folder / "path.bed"), std::stod(stats.substr(stats.find(name) + name.size()))};
}

}  // namespace

TEST_CASE("what a device computes under constraints is what the cpu computes") {
  const TempFolder folder;
  const std::string constraints = folder.add("what.bed", constraint_lines());
  const std::string claims = folder.add("claims.bed", "0\t3000\t3100\tlabel:a\n0\t2990\t3050\tends:b\n");
  // The larger the scores, the larger what makes a boundary hold.
  for (const double scale : {1.0, 1e4, 1e7}) {
    INFO("scores times " << scale);
    Inputs inputs(folder);
    inputs.add(scores_of(900, 6, kNoRow, 0, scale));
    const InputOptions input = inputs.options();
    RunOptions run = run_options(input, {});
    run.constraints = constraints;
    for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
      run.engine.precision = precision;
      run.engine.backend = EngineOptions::Backend::kCpu;
      const auto expected = constrained_path(folder, run);
      run.engine.backend = EngineOptions::Backend::kCuda;
      const auto found = constrained_path(folder, run);
      check_same_words(found.first, expected.first);
      const double digits = precision == Precision::kFloat ? 1e-5 : 1e-9;
      CHECK(std::fabs(found.second - expected.second) < digits * (1 + std::fabs(expected.second)));
    }
    run.engine.backend = EngineOptions::Backend::kReference;
    const auto of_reference = constrained_path(folder, run);
    run.engine.backend = EngineOptions::Backend::kCudaPlain;
    const auto of_plain = constrained_path(folder, run);
    check_same_words(of_plain.first, of_reference.first);
    CHECK(std::fabs(of_plain.second - of_reference.second) < 1e-9 * (1 + std::fabs(of_reference.second)));
    if (scale > 1) continue;
    const auto expected = answers(folder, input, claims, EngineOptions::Backend::kCpu, constraints);
    const auto found = answers(folder, input, claims, EngineOptions::Backend::kCuda, constraints);
    for (std::size_t i = 0; i < expected.size(); ++i) check_same_words(found[i], expected[i]);
  }
}

TEST_CASE("windows of their own at cut edges, computed on the host, fit to those of a device") {
  std::uint64_t seed = 8500;
  for (const CaseKind kind : {CaseKind::kTails, CaseKind::kEverything, CaseKind::kLongTail}) {
    const ModelCase sample = make_case(kind, {of_long_test(40'000), 7, 2}, ++seed);
    INFO(sample.description);
    for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
      EngineOptions device, host;
      device.backend = EngineOptions::Backend::kCuda;
      host.backend = EngineOptions::Backend::kCpu;
      device.precision = host.precision = precision;
      host.threads = 2;
      const CutEdges cut{true, true};
      const EdgeLengths lengths = edge_lengths(*make_engine(device, sample.model), cut, sample.length);
      REQUIRE(lengths.any());
      const std::vector<Claim> claims =
          claims_near({lengths.left, sample.length - lengths.right}, sample.length, 2);
      REQUIRE(lengths.left % make_engine(device, sample.model)->grid(sample.length).chunk != 0);
      // Windows of one chunk whose paths are joined, or one window.
      const std::int64_t chunks = precision == Precision::kFloat ? 1 : 0;
      const CutPieceResult found =
          with_edge_windows(device, sample, cut, lengths, {claims, {}}, chunks, chunks == 1);
      const CutPieceResult expected = with_roles_everywhere(host, sample, cut, {claims, {}});
      REQUIRE(found.result.feasible == expected.result.feasible);
      if (!expected.result.feasible) continue;
      const double score = expected.result.get<ViterbiResult>().score.value();
      CHECK(std::fabs(found.result.get<ViterbiResult>().score.value() - score) < 1e-9 * std::fabs(score));
      REQUIRE(found.labels.size() == expected.labels.size());
      double most = 0;
      for (std::size_t i = 0; i < found.labels.size(); ++i)
        most = std::max({most, std::fabs(found.labels[i] - expected.labels[i]),
                         std::fabs(found.starts[i] - expected.starts[i])});
      const auto &claimed = found.result.get<ClaimFindings>().swept.results,
                 &wanted = expected.result.get<ClaimFindings>().swept.results;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        most = std::max(most, std::fabs(std::exp(claimed[i].log_true) - std::exp(wanted[i].log_true)));
      const auto &ranks = found.result.get<BestPaths>().ranks, &best = expected.result.get<BestPaths>().ranks;
      REQUIRE(ranks.size() == best.size());
      for (std::size_t i = 0; i < best.size(); ++i)
        CHECK(std::fabs(ranks[i].score - best[i].score) < 1e-6 * std::fabs(score));
      CHECK(most < (precision == Precision::kFloat ? 1e-4 : 1e-9));
      const double of_sums =
          precision == Precision::kFloat ? 1e-4 * static_cast<double>(sample.length) : 1e-6;
      const PosteriorSums &sums = *found.result.get<PosteriorResult>().sums,
                          &true_sums = *expected.result.get<PosteriorResult>().sums;
      for (const auto array :
           {&ExpectedCounts::transition, &ExpectedCounts::duration, &ExpectedCounts::tail}) {
        for (std::size_t i = 0; i < (true_sums.counts.*array).size(); ++i)
          CHECK(std::fabs((sums.counts.*array)[i] - (true_sums.counts.*array)[i]) < of_sums);
      }
      for (std::size_t i = 0; i < true_sums.label_bins.size(); ++i)
        CHECK(std::fabs(sums.label_bins[i] - true_sums.label_bins[i]) < of_sums);
    }
  }
}
