// Speed of the CUDA engine on scores that lie on the device, as JSON lines; the work of uploading them and of
// bringing posteriors back is not in these figures. Arguments: "table" (none: this), "map", "batches",
// "large" (scores of tens of nats), "training", which measures whole passes of it (note: threads), or "one T
// K C OPERATIONS [KIND ...]": normal, long (long segments), real (scores of tens of nats), edges (boundary
// scores), scale=S (scores of S nats), chr11 or yeast (their K and C), min=N (shorter segments are
// forbidden), forbidden=P and masked=P (of the scores), or "given FILE ...": problems that
// tests/lab/peers/peers.py wrote, whose log Z is printed, too.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/timing.h"
#include "bench/workload.h"
#include "cuda/engine/cuda_engine.h"
#include "engine/batch.h"
#include "engine/options.h"
#include "gpu/device_passes.h"
#include "lab/peers/given_problem.h"
#include "train/objective/objective.h"
#include "unit/train/train_fixture.h"

using namespace semicrf;

namespace {

constexpr std::uint64_t kSeed = 7;
constexpr int kRepeats = 5;
constexpr std::int64_t kDistinct = 1000003;  // scores that are drawn; they are repeated

double seconds(const std::function<void()>& work) { return median_seconds(kRepeats, work); }

BenchWorkload shape_of(std::int64_t length, int max_duration, int num_labels, int sequences = 1) {
  BenchWorkload shape{length, max_duration, num_labels};
  shape.sequences = sequences;
  shape.distinct = kDistinct;
  return shape;
}

// Segments of hundreds of positions: faint scores, few transitions, a tail.
BenchWorkload with_long_segments(BenchWorkload shape) {
  shape.score_scale = 0.1;
  shape.transition_offset = -8;
  shape.log_tail = -0.01;
  return shape;
}

// Scores as log-likelihoods have them: tens of nats between the labels of a position.
BenchWorkload with_large_scores(BenchWorkload shape, double scale) {
  shape.score_scale = scale;
  return shape;
}
// Like a chromosome with ten labels: long runs of one label, and tails.
BenchWorkload with_real_scores(BenchWorkload shape) {
  shape = with_large_scores(shape, 10);
  shape.transition_offset = -8;
  shape.log_tail = -0.01;
  return shape;
}

// Scores of starts and ends, as boundary heads make them.
enum class Edges { kNone, kScores };

BenchWorkload of_kind(BenchWorkload shape, const std::string& kind, Edges& edges) {
  const auto value = [&](const std::string& name) -> const char* {
    return kind.starts_with(name + "=") ? kind.c_str() + name.size() + 1 : nullptr;
  };
  if (kind == "edges") edges = Edges::kScores;
  if (kind == "long" || kind == "edges") return with_long_segments(shape);
  if (kind == "real") return with_real_scores(shape);
  if (kind == "chr11" || kind == "yeast") {
    BenchWorkload real = real_workload(kind);
    real.length = shape.length;
    return real;
  }
  if (const char* scale = value("scale")) return with_large_scores(shape, std::atof(scale));
  if (const char* shortest = value("min")) shape.min_duration = std::atoi(shortest);
  if (const char* probability = value("forbidden")) shape.forbidden = std::atof(probability);
  if (const char* probability = value("masked")) shape.masked = std::atof(probability);
  return shape;
}

void print(const std::string& what, const BenchWorkload& shape, double time, std::int64_t extra) {
  const double positions = static_cast<double>(shape.positions());
  JsonLine line;
  line.add("op", what).add("T", shape.length).add("K", std::int64_t{shape.max_duration});
  line.add("C", std::int64_t{shape.num_labels}).add("batch", std::int64_t{shape.sequences});
  line.add("ms", time * 1e3).add("Mpos_per_s", positions / time / 1e6);
  line.add("Tmac_per_s", shape.pairs() / time / 1e12).add("note", extra);
  std::printf("%s\n", line.text().c_str());
  std::fflush(stdout);
}

// The seconds of the stages, one after the other. `work` runs them once and adds theirs.
template <class Work>
void print_stages(const BenchWorkload& shape, Work work) {
  std::map<std::string, double> stages;
  for (int i = 0; i < kRepeats; ++i) work(stages);
  for (const auto& [name, sum] : stages) print("  of it " + name, shape, sum / kRepeats, 0);
}

template <class Real>
void measure_forward(testing::DevicePasses<Real>& passes, const BenchWorkload& shape) {
  std::int64_t repaired = 0, fallbacks = 0;
  const double all = seconds([&] {
    repaired = fallbacks = 0;
    for (const auto& outcome : passes.forward()) {
      repaired += outcome.repaired ? 1 : 0;
      fallbacks += outcome.report.fallbacks;
    }
  });
  print("forward", shape, all, repaired * 1000000 + fallbacks);
  print("forward kernel", shape, seconds([&] { passes.repeat_forward_kernel(); }), 0);
}

template <class Real>
void measure_posteriors(testing::DevicePasses<Real>& passes, const BenchWorkload& shape,
                        const std::string& what, const PosteriorArrays& wanted) {
  print(what, shape, seconds([&] { passes.posteriors(wanted); }), 0);
  print_stages(shape, [&](auto& stages) { passes.time_posteriors(wanted, stages); });
}

template <class Real>
void measure(const BenchWorkload& shape, const std::string& operations, Edges edges = Edges::kNone) {
  const BenchSample sample = make_sample(shape, kSeed);
  ScoreWindow window = sample.window(0, shape.length);
  BenchSample starts, ends;
  if (edges == Edges::kScores) {
    BenchWorkload small = shape;
    small.score_scale = 1;
    starts = make_sample(small, kSeed + 1);
    ends = make_sample(small, kSeed + 2);
    window.start_scores = starts.window(0, shape.length).emissions;
    window.end_scores = ends.window(0, shape.length).emissions;
  }
  testing::DevicePasses<Real> passes(sample.model);
  passes.upload({&window, 1});
  const auto has = [&](char c) { return operations.find(c) != std::string::npos; };
  if (has('f')) measure_forward(passes, shape);
  if (has('v')) {
    std::size_t segments = 0;
    print("viterbi path", shape, seconds([&] { segments = passes.paths().front().size(); }), 0);
    print_stages(shape, [&](auto& stages) { passes.time_paths(stages); });
    print("segments", shape, 1, static_cast<std::int64_t>(segments));
  }
  double unused = 0;
  PosteriorArrays wanted;
  wanted.labels = wanted.starts = wanted.ends = &unused;
  if (has('p')) {
    wanted.boundary = &unused;
    measure_posteriors(passes, shape, "posteriors", wanted);
    wanted.boundary = nullptr;
  }
  if (has('g')) {
    ExpectedCounts counts;
    wanted.counts = &counts;
    measure_posteriors(passes, shape, "gradients", wanted);
  }
}

template <class Real>
std::unique_ptr<Engine> first_gpu(const ChainModel& model) {
  CudaOptions options;
  options.memory = std::size_t{1} << 40;
  return make_cuda_engine(model, sizeof(Real) == sizeof(float) ? Precision::kFloat : Precision::kDouble,
                          options);
}

// Sequences of one length together: forward, gradients, and both with the way of scores and rows.
template <class Real>
void measure_batch(const BenchWorkload& shape, const std::string& operations) {
  const auto count = static_cast<std::size_t>(shape.sequences);
  const BenchSample sample = make_sample(shape, kSeed);
  std::vector<ScoreWindow> sequences;
  for (int i = 0; i < shape.sequences; ++i)
    sequences.push_back(sample.window(i * shape.length, shape.length));
  testing::DevicePasses<Real> passes(sample.model);
  passes.upload(sequences);
  const auto engine = first_gpu<Real>(sample.model);
  SequenceBatches& batches = engine->batches();
  if (operations.find('f') != std::string::npos) {
    measure_forward(passes, shape);
    print("log Z from the host", shape, seconds([&] { batches.log_partitions(sequences); }), 0);
  }
  if (operations.find('g') != std::string::npos) {
    double unused = 0;
    ExpectedCounts counts;
    PosteriorArrays wanted;
    wanted.labels = wanted.starts = wanted.ends = &unused;
    wanted.counts = &counts;
    measure_posteriors(passes, shape, "gradients", wanted);
    const std::size_t entries = sample.emissions.size() / count;
    std::vector<double> rows(sample.emissions.size());
    std::vector<PosteriorArrays> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i].labels = rows.data() + i * entries;
    print("gradients from the host", shape, seconds([&] { batches.posteriors_of(sequences, out, &counts); }),
          0);
  }
}

// Best paths of sequences of 500 to 3000 positions: of all together, from scores on the device and from the
// host's, and one after the other from the host's.
template <class Real>
void measure_paths(BenchWorkload shape) {
  std::mt19937_64 random(13);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(shape.sequences));
  for (std::int64_t& length : lengths)
    length = std::uniform_int_distribution<std::int64_t>(500, 3000)(random);
  const auto positions = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  BenchWorkload all = shape;
  all.length = positions;
  all.sequences = 1;
  const BenchSample sample = make_sample(all, kSeed);
  std::vector<ScoreWindow> sequences;
  std::int64_t begin = 0;
  for (const std::int64_t length : lengths) {
    sequences.push_back(sample.window(begin, length));
    begin += length;
  }
  shape.length = positions / shape.sequences;  // about
  testing::DevicePasses<Real> passes(sample.model);
  passes.upload(sequences);
  const auto engine = first_gpu<Real>(sample.model);
  std::int64_t segments = 0;
  const double together = seconds([&] {
    segments = 0;
    for (const auto& path : passes.paths()) segments += static_cast<std::int64_t>(path.size());
  });
  print("viterbi paths", shape, together, segments);
  print_stages(shape, [&](auto& stages) { passes.time_paths(stages); });
  print("viterbi paths from the host", shape, seconds([&] { engine->batches().viterbi_of(sequences); }), 0);
  print("viterbi paths one by one", shape, seconds([&] { OneByOne(*engine).viterbi_of(sequences); }), 0);
}

void measure_batches() {
  measure_batch<float>(shape_of(100000, 1000, 24, 2), "f");
  measure_batch<float>(shape_of(50000, 2000, 6, 32), "f");
  measure_batch<float>(shape_of(50000, 8000, 6, 32), "f");
  measure_batch<float>(shape_of(300, 30, 39, 32), "fg");
}

void measure_short_paths() {
  measure_paths<float>(shape_of(0, 100, 5, 150));  // what decode hands over
  measure_paths<float>(shape_of(0, 100, 5, 2000));
  measure_paths<float>(shape_of(0, 100, 24, 2000));
}

// A pass of training, value and gradient, from the features on the host to the gradient there: heads on the
// device against heads on the host. Boundary heads over five bins and a margin, as training chooses them.
void measure_training(const BenchWorkload& shape, int tracks) {
  test::ModelShape model;
  model.labels = shape.num_labels;
  model.tracks = tracks;
  model.max_duration = shape.max_duration;
  model.boundary = true;
  model.first = -2;
  model.last = 2;
  std::mt19937_64 random(13);
  const Parameters parameters = test::random_parameters(model, random);
  TrainingData data;
  data.num_labels = shape.num_labels;
  data.num_tracks = tracks;
  for (int i = 0; i < shape.sequences; ++i)
    data.pieces.push_back(
        test::random_piece(shape.length, shape.num_labels, tracks, shape.max_duration, random));
  std::vector<std::size_t> pieces(data.pieces.size());
  std::iota(pieces.begin(), pieces.end(), std::size_t{0});
  EngineOptions options;
  options.backend = EngineOptions::Backend::kCuda;
  const auto most = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 16U));
  for (const int threads : {1, most}) {
    options.threads = threads;
    for (const bool project : {true, false}) {
      const ObjectiveOptions objective{.margin = 0.1, .project = project};
      const double time = seconds([&] {
        ParameterGradient gradient(parameters);
        negative_log_likelihood(data, pieces, parameters, options, objective, &gradient);
      });
      print(project ? "training, heads on the device" : "training, heads on the host", shape, time, threads);
    }
  }
}

// The note of "forward" counts the blocks that left the fast path.
void measure_large_scores() {
  for (const double scale : {10.0, 30.0}) {
    std::printf("{\"scores\": \"N(0,%g^2)\"}\n", scale);
    for (const std::int64_t length : {10000000, 20000000})
      measure<float>(with_large_scores(shape_of(length, 100, 24), scale), "fvpg");
  }
  std::printf("{\"scores\": \"long runs, tails, N(0,10^2)\"}\n");
  measure<float>(with_real_scores(shape_of(20000000, 500, 10)), "fvp");
}

void measure_trainings() {
  measure_training(shape_of(2000000, 100, 24), 6);
  measure_training(shape_of(10000, 100, 24, 200), 6);
  measure_training(shape_of(500, 100, 24, 4000), 6);
}

// A problem that other programs are given, too: log Z, and log Z with label posteriors and counts, from
// scores on the device. log Z is the sum over the sequences, from the host's scores, as the engine of the
// program gives it.
template <class Real>
void measure_given(const std::string& path) {
  const lab::GivenProblem problem = lab::read_given_problem(path);
  const std::vector<Real> emissions(problem.emissions.begin(), problem.emissions.end());
  const std::vector<ScoreWindow> sequences = problem.windows(emissions);
  const ChainModel model = problem.chain();
  const auto print_value = [&](const char* what, const char* key, double value) {
    JsonLine line;
    line.add("file", path).add("precision", sizeof(Real) == sizeof(float) ? "float" : "double");
    std::printf("%s\n", line.add("op", what).add(key, value).text().c_str());
    std::fflush(stdout);
  };
  double sum = 0;
  for (const SequenceResult& result : first_gpu<Real>(model)->batches().log_partitions(sequences))
    sum += result.log_partition;
  testing::DevicePasses<Real> passes(model);
  passes.upload(sequences);
  print_value("forward", "seconds", seconds([&] { passes.forward(); }));
  double unused = 0;
  ExpectedCounts counts;
  PosteriorArrays wanted;
  wanted.labels = wanted.starts = wanted.ends = &unused;
  wanted.counts = &counts;
  print_value("forward+backward", "seconds", seconds([&] { passes.posteriors(wanted); }));
  std::printf("{\"file\": \"%s\", \"precision\": \"%s\", \"op\": \"log Z\", \"value\": %.17g}\n",
              path.c_str(), sizeof(Real) == sizeof(float) ? "float" : "double", sum);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string obstacle = cuda_obstacle();
  if (!obstacle.empty()) {
    std::printf("skipped: no GPU: %s\n", obstacle.c_str());
    return 0;
  }
  const std::string which = count > 1 ? arguments[1] : "table";
  if (which == "one" && count >= 6) {
    BenchWorkload shape =
        shape_of(std::atoll(arguments[2]), std::atoi(arguments[3]), std::atoi(arguments[4]));
    Edges edges = Edges::kNone;
    for (int i = 6; i < count; ++i) shape = of_kind(shape, arguments[i], edges);
    measure<float>(shape, arguments[5], edges);
  } else if (which == "given") {
    for (int i = 2; i < count; ++i) {
      measure_given<float>(arguments[i]);
      measure_given<double>(arguments[i]);
    }
  } else if (which == "batches") {
    measure_batches();
  } else if (which == "paths") {
    measure_short_paths();
  } else if (which == "training") {
    measure_trainings();
  } else if (which == "table") {
    measure<float>(shape_of(20000000, 100, 24), "fvpg");
    measure<float>(shape_of(100000, 100, 24), "fvp");
    measure<float>(shape_of(1000000, 200, 6), "fvpg");
    measure<float>(shape_of(20000000, 32, 24), "f");
    measure<float>(shape_of(20000000, 4, 24), "f");
    measure<float>(shape_of(20000000, 100, 5), "fvp");
    measure_batches();
    measure_short_paths();
    measure<float>(with_long_segments(shape_of(650899, 3000, 8)), "fpg");
    measure<double>(shape_of(2000000, 100, 24), "f");
    measure_large_scores();
  } else if (which == "large") {
    measure_large_scores();
  } else {  // forward over labels and durations: no cliffs
    for (const int labels : {2, 4, 8, 9, 16, 17, 24, 25, 32, 33, 48, 64}) {
      for (const int duration : {1, 4, 16, 64, 256, 1024, 4096}) {
        // Enough for long durations to fill the card with runs that are longer than their warm-ups.
        measure<float>(shape_of(duration > 1024 ? 40000000 : 20000000, duration, labels), "f");
      }
    }
  }
  return 0;
}
