// Speed of the CUDA engine on scores that lie on the device, as JSON lines; the work of uploading them and of
// bringing posteriors back is not in these figures. Arguments: "table" (none: this), "map", "batches", "one T
// K C OPERATIONS", or "training", which measures whole passes of it (note: threads).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cuda/engine/cuda_engine.h"
#include "cuda/engine/cuda_engine_impl.h"
#include "engine/batch.h"
#include "train/objective/objective.h"
#include "unit/train/train_fixture.h"

using namespace semicrf;

namespace {

struct Shape {
  std::int64_t length;
  int max_duration;
  int num_labels;
  // Segments of hundreds of positions: faint scores, few transitions, a tail.
  bool long_segments = false;
  int sequences = 1;  // of that length, in one call
};

ChainModel random_model(const Shape& shape) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  ChainModel model;
  model.num_labels = shape.num_labels;
  model.max_duration = shape.max_duration;
  const auto labels = static_cast<std::size_t>(shape.num_labels);
  for (std::size_t i = 0; i < labels * labels; ++i)
    model.transition.push_back(normal(random) - (shape.long_segments ? 8 : 0));
  for (std::size_t i = 0; i < labels * static_cast<std::size_t>(shape.max_duration); ++i)
    model.duration_bias.push_back(normal(random));
  if (shape.long_segments) model.log_tail.assign(labels, -0.01);
  return model;
}

// N(0,1), one million different values over and over.
std::vector<float> random_scores(std::size_t count, float size) {
  std::mt19937_64 random(11);
  std::normal_distribution<float> normal(0, size);
  std::vector<float> scores(count);
  const std::size_t period = std::min<std::size_t>(count, 1000003);
  for (std::size_t i = 0; i < period; ++i) scores[i] = normal(random);
  for (std::size_t i = period; i < count; ++i) scores[i] = scores[i - period];
  return scores;
}

// Median of the seconds that `work` takes; the first run is not counted.
template <class Work>
double seconds_of(Work work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print(const char* what, const Shape& shape, double seconds, long long extra) {
  const double positions = static_cast<double>(shape.length) * shape.sequences / seconds;
  const double useful = positions * shape.num_labels * (shape.max_duration + shape.num_labels);
  std::printf(
      "{\"op\":\"%s\",\"T\":%lld,\"K\":%d,\"C\":%d,\"batch\":%d,\"ms\":%.3f,\"Mpos_per_s\":%.1f,\"Tmac_per_"
      "s\":%.3f,"
      "\"note\":%lld}\n",
      what, static_cast<long long>(shape.length), shape.max_duration, shape.num_labels, shape.sequences,
      seconds * 1e3, positions / 1e6, useful / 1e12, extra);
  std::fflush(stdout);
}

// The same once more with the stages one after the other.
template <class Real, class Work>
void print_stages(cuda::CudaEngine<Real>& engine, const Shape& shape, Work work) {
  constexpr int kRepeats = 5;
  std::map<std::string, double> seconds;
  engine.time_stages(&seconds);
  for (int i = 0; i < kRepeats; ++i) work();
  engine.time_stages(nullptr);
  for (const auto& [name, sum] : seconds) print(("  of it " + name).c_str(), shape, sum / kRepeats, 0);
}

template <class Real>
void measure(const Shape& shape, const std::string& operations) {
  const std::size_t entries =
      static_cast<std::size_t>(shape.length) * static_cast<std::size_t>(shape.num_labels);
  const std::vector<float> scores = random_scores(entries, shape.long_segments ? 0.1f : 1.0f);
  ScoreWindow window;
  window.begin = 0;
  window.end = window.length = shape.length;
  window.emissions.f32 = scores.data();
  cuda::CudaEngine<Real> engine(random_model(shape), 0, "", std::size_t(227) << 10);
  engine.upload(window);
  const PositionRange range{0, shape.length};
  const auto has = [&](char c) { return operations.find(c) != std::string::npos; };
  if (has('f')) {
    long long repaired = 0, fallbacks = 0;
    const double all = seconds_of([&] {
      repaired = fallbacks = 0;
      for (const auto& outcome : engine.forward_pass(window, range)) {
        repaired += outcome.repaired ? 1 : 0;
        fallbacks += outcome.report.fallbacks;
      }
    });
    print("forward", shape, all, repaired * 1000000 + fallbacks);
    print("forward kernel", shape, seconds_of([&] { engine.repeat_forward_kernel(); }), 0);
  }
  if (has('v')) {
    std::size_t segments = 0;
    print("viterbi path", shape, seconds_of([&] { segments = engine.viterbi_path(window).size(); }), 0);
    print_stages(engine, shape, [&] { engine.viterbi_path(window); });
    print("segments", shape, 1, static_cast<long long>(segments));
  }
  if (has('p')) {
    double unused = 0;
    PosteriorArrays wanted;
    wanted.boundary = wanted.labels = wanted.starts = wanted.ends = &unused;
    print("posteriors", shape, seconds_of([&] { engine.posterior_pass(window, range, wanted); }), 0);
    print_stages(engine, shape, [&] { engine.posterior_pass(window, range, wanted); });
  }
  if (has('g')) {
    double unused = 0;
    ExpectedCounts counts;
    PosteriorArrays wanted;
    wanted.labels = wanted.starts = wanted.ends = &unused;
    wanted.counts = &counts;
    print("gradients", shape, seconds_of([&] { engine.posterior_pass(window, range, wanted); }), 0);
    print_stages(engine, shape, [&] { engine.posterior_pass(window, range, wanted); });
  }
}

// Sequences of one length together: forward, gradients, and both with the way of scores and rows.
template <class Real>
void measure_batch(const Shape& shape, const std::string& operations) {
  const std::size_t entries =
      static_cast<std::size_t>(shape.length) * static_cast<std::size_t>(shape.num_labels);
  const auto count = static_cast<std::size_t>(shape.sequences);
  const std::vector<float> scores = random_scores(entries * count, 1.0f);
  std::vector<ScoreWindow> sequences(count);
  for (std::size_t i = 0; i < count; ++i) {
    sequences[i].end = sequences[i].length = shape.length;
    sequences[i].emissions.f32 = scores.data() + i * entries;
  }
  cuda::CudaEngine<Real> engine(random_model(shape), 0, "", std::size_t(227) << 10);
  if (operations.find('f') != std::string::npos) {
    engine.upload_batch(sequences, false);
    long long repaired = 0, fallbacks = 0;
    const double all = seconds_of([&] {
      repaired = fallbacks = 0;
      for (const auto& outcome : engine.forward_batch_pass()) {
        repaired += outcome.repaired ? 1 : 0;
        fallbacks += outcome.report.fallbacks;
      }
    });
    print("forward", shape, all, repaired * 1000000 + fallbacks);
    print("forward kernel", shape, seconds_of([&] { engine.repeat_forward_kernel(); }), 0);
    print("log Z from the host", shape, seconds_of([&] { engine.log_partitions(sequences); }), 0);
  }
  if (operations.find('g') != std::string::npos) {
    engine.upload_batch(sequences, true);
    double unused = 0;
    ExpectedCounts counts;
    PosteriorArrays wanted;
    wanted.labels = wanted.starts = wanted.ends = &unused;
    wanted.counts = &counts;
    print("gradients", shape, seconds_of([&] { engine.posterior_batch_pass(wanted); }), 0);
    print_stages(engine, shape, [&] { engine.posterior_batch_pass(wanted); });
    std::vector<double> rows(entries * count);
    std::vector<PosteriorArrays> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i].labels = rows.data() + i * entries;
    print("gradients from the host", shape,
          seconds_of([&] { engine.posteriors_of(sequences, out, &counts); }), 0);
  }
}

// Best paths of sequences of 500 to 3000 positions: of all together, from scores on the device and from the
// host's, and one after the other from the host's.
template <class Real>
void measure_paths(Shape shape) {
  const auto labels = static_cast<std::size_t>(shape.num_labels);
  std::mt19937_64 random(13);
  std::vector<ScoreWindow> sequences(static_cast<std::size_t>(shape.sequences));
  std::int64_t positions = 0;
  for (ScoreWindow& sequence : sequences) {
    sequence.end = sequence.length = std::uniform_int_distribution<std::int64_t>(500, 3000)(random);
    positions += sequence.length;
  }
  shape.length = positions / shape.sequences;  // about
  const std::vector<float> scores = random_scores(static_cast<std::size_t>(positions) * labels, 1.0f);
  const float* at = scores.data();
  for (ScoreWindow& sequence : sequences) {
    sequence.emissions.f32 = at;
    at += static_cast<std::size_t>(sequence.length) * labels;
  }
  cuda::CudaEngine<Real> engine(random_model(shape), 0, "", std::size_t(227) << 10);
  engine.upload_batch(sequences, false);
  long long segments = 0;
  const double together = seconds_of([&] {
    segments = 0;
    for (const auto& path : engine.viterbi_batch_pass()) segments += static_cast<long long>(path.size());
  });
  print("viterbi paths", shape, together, segments);
  print_stages(engine, shape, [&] { engine.viterbi_batch_pass(); });
  print("viterbi paths from the host", shape, seconds_of([&] { engine.viterbi_of(sequences); }), 0);
  print("viterbi paths one by one", shape, seconds_of([&] { OneByOne(engine).viterbi_of(sequences); }), 0);
}

void measure_batches() {
  measure_batch<float>({100000, 1000, 24, false, 2}, "f");
  measure_batch<float>({50000, 2000, 6, false, 32}, "f");
  measure_batch<float>({50000, 8000, 6, false, 32}, "f");
  measure_batch<float>({300, 30, 39, false, 32}, "fg");
}

void measure_short_paths() {
  measure_paths<float>({0, 100, 5, false, 150});  // what decode hands over
  measure_paths<float>({0, 100, 5, false, 2000});
  measure_paths<float>({0, 100, 24, false, 2000});
}

// A pass of training, value and gradient, from the features on the host to the gradient there: heads on the
// device against heads on the host. Boundary heads over five bins and a margin, as training chooses them.
void measure_training(const Shape& shape, int tracks) {
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
      const double seconds = seconds_of([&] {
        ParameterGradient gradient(parameters);
        negative_log_likelihood(data, pieces, parameters, options, objective, &gradient);
      });
      print(project ? "training, heads on the device" : "training, heads on the host", shape, seconds,
            threads);
    }
  }
}

void measure_trainings() {
  measure_training({2000000, 100, 24}, 6);
  measure_training({10000, 100, 24, false, 200}, 6);
  measure_training({500, 100, 24, false, 4000}, 6);
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
    measure<float>({std::atoll(arguments[2]), std::atoi(arguments[3]), std::atoi(arguments[4]), count > 6},
                   arguments[5]);
  } else if (which == "batches") {
    measure_batches();
  } else if (which == "paths") {
    measure_short_paths();
  } else if (which == "training") {
    measure_trainings();
  } else if (which == "table") {
    measure<float>({20000000, 100, 24}, "fvpg");
    measure<float>({100000, 100, 24}, "fvp");
    measure<float>({1000000, 200, 6}, "fvpg");
    measure<float>({20000000, 32, 24}, "f");
    measure<float>({20000000, 4, 24}, "f");
    measure<float>({20000000, 100, 5}, "fvp");
    measure_batches();
    measure_short_paths();
    measure<float>({650899, 3000, 8, true}, "fpg");
    measure<double>({2000000, 100, 24}, "f");
  } else {  // forward over labels and durations: no cliffs
    for (const int labels : {2, 4, 8, 9, 16, 17, 24, 25, 32, 33, 48, 64}) {
      for (const int duration : {1, 4, 16, 64, 256, 1024, 4096}) {
        // Enough for long durations to fill the card with runs that are longer than their warm-ups.
        measure<float>({duration > 1024 ? 40000000 : 20000000, duration, labels}, "f");
      }
    }
  }
  return 0;
}
