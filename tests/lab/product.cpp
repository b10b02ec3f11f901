#include "lab/product.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <stdexcept>

namespace semicrf::lab {
namespace {

EngineOptions options_of(const std::string& name, int threads) {
  EngineOptions options;
  options.threads = threads;
  options.precision = name.ends_with("float") ? Precision::kFloat : Precision::kDouble;
  if (name == "reference")
    options.backend = EngineOptions::Backend::kReference;
  else if (name.starts_with("cpu "))
    options.backend = EngineOptions::Backend::kCpu;
  else if (name.starts_with("cuda "))
    options.backend = EngineOptions::Backend::kCuda;
  else
    throw std::invalid_argument("no engine is called " + name);
  return options;
}

}  // namespace

std::unique_ptr<Engine> product_engine(const std::string& name, const ChainModel& model, int threads) {
  return make_engine(options_of(name, threads), model);
}

std::vector<std::string> product_engines() {
  std::vector<std::string> names{"reference", "cpu double", "cpu float"};
  if (gpu_obstacle().empty()) names.insert(names.end(), {"cuda double", "cuda float"});
  return names;
}

ScoreWindow Sequence::window(int labels, std::int64_t begin, std::int64_t end) const {
  ScoreWindow window;
  window.begin = begin;
  window.end = end;
  window.length = length;
  const std::int64_t skip = begin * labels;
  if (f32.empty())
    window.emissions.f64 = f64.data() + skip;
  else
    window.emissions.f32 = f32.data() + skip;
  window.baseline = baseline;
  window.subtract_position_max = subtract_position_max;
  return window;
}

Sequence sequence_of(const Problem& problem) {
  return sequence_of(emissions_of(problem), static_cast<int>(problem.shape.C));
}

Sequence sequence_of(std::vector<double> emissions, int labels) {
  Sequence sequence;
  sequence.length = static_cast<std::int64_t>(emissions.size()) / labels;
  sequence.f64 = std::move(emissions);
  return sequence;
}

double log_partition(Engine& engine, const Sequence& sequence) {
  const auto window =
      engine.forward(sequence.whole(engine.model().num_labels), {0, sequence.length}, nullptr, {});
  return log_sum(window.right);
}

std::vector<Segment> best_path(Engine& engine, const Sequence& sequence) {
  const auto window =
      engine.viterbi(sequence.whole(engine.model().num_labels), {0, sequence.length}, nullptr, true);
  TraceCursor cursor;
  cursor.phase = TraceCursor::Phase::kFindStart;
  cursor.boundary = cursor.segment_end = sequence.length;
  best_final_score(window.right, &cursor.label);
  std::vector<Segment> segments;
  while (window.messages->trace(cursor, segments)) {
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}

Marginals marginals(Engine& engine, const Sequence& sequence) {
  const int labels = engine.model().num_labels;
  const auto T = static_cast<std::size_t>(sequence.length), entries = T * static_cast<std::size_t>(labels);
  Marginals found;
  found.boundary.resize(T);
  for (auto* array : {&found.labels, &found.starts, &found.ends}) array->resize(entries);
  const PosteriorArrays out{.boundary = found.boundary.data(),
                            .labels = found.labels.data(),
                            .starts = found.starts.data(),
                            .ends = found.ends.data(),
                            .counts = &found.counts};
  const auto window = engine.posteriors(sequence.whole(labels), {0, sequence.length}, nullptr, nullptr, out);
  found.log_partition = log_sum(window.right_forward);
  for (const ChunkReport& chunk : window.chunks)
    found.normalization_error = std::max(found.normalization_error, chunk.max_normalization_error);
  return found;
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace semicrf::lab
