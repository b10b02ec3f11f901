#include "parity/cuda/prefetch_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "engine/device_memory.h"
#include "model/scores/centering.h"
#include "parity/cuda/head_sequences.h"

namespace semicrf::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kLabels = 3;

ChainModel small_model() {
  ChainModel model;
  model.num_labels = kLabels;
  model.max_duration = 2;
  model.transition.assign(std::size_t{kLabels} * kLabels, 0);
  model.duration_bias.assign(std::size_t{kLabels} * 2, 0);
  return model;
}

std::uint64_t next_sequence() {
  static std::uint64_t last = 1 << 20;  // far from those of other cases
  return ++last;
}

// Emissions and start scores of a sequence, where windows with its number find them.
template <class Value>
struct Scores {
  std::int64_t length;
  std::vector<Value> emissions, starts;

  explicit Scores(std::int64_t positions) : length(positions) {
    std::mt19937_64 random(91);
    std::normal_distribution<double> normal(3, 10);
    emissions.resize(static_cast<std::size_t>(length) * kLabels);
    for (Value& value : emissions) value = static_cast<Value>(normal(random));
    starts.assign(emissions.size(), Value(-kInfinity));
  }
  ScoreWindow window() const {
    ScoreWindow window;
    window.end = window.length = length;
    set(window.emissions, emissions);
    set(window.start_scores, starts);
    window.sequence = next_sequence();
    return window;
  }

 private:
  static void set(ScoreArray& array, const std::vector<Value>& values) {
    if constexpr (sizeof(Value) == sizeof(float)) {
      array.f32 = values.data();
    } else {
      array.f64 = values.data();
    }
  }
};

template <class Value>
void check_sums(Engine& engine, std::int64_t length, std::vector<std::string>& problems) {
  Scores<Value> scores(length);
  std::vector<Value>& values = scores.emissions;
  values[values.size() / 2] = static_cast<Value>(-kInfinity);
  values[values.size() / 3] = static_cast<Value>(-2e6);
  values.back() = static_cast<Value>(-kInfinity);
  SequenceMean expected(kLabels), found(kLabels);
  expected.add(values.data(), 0, length);
  const auto prefetch = engine.own_memory()->prefetch(scores.window());
  const auto sums = prefetch ? prefetch->block_sums(kMaskScore) : std::nullopt;
  const std::string what = "sums of " + std::to_string(length) + " positions: ";
  if (!sums) {
    problems.push_back(what + "there are none");
    return;
  }
  found.add(*sums, length);
  if (found.mean() != expected.mean()) problems.push_back(what + "another mean");
  if (found.masked() != expected.masked()) problems.push_back(what + "other masked entries");
}

// One wrong score at a position: what ends before it is sound, what covers it is not.
template <class Value>
void check_bad(Engine& engine, double bad, bool in_starts, std::int64_t position, std::int64_t length,
               std::vector<std::string>& problems) {
  Scores<Value> scores(length);
  auto& array = in_starts ? scores.starts : scores.emissions;
  array[static_cast<std::size_t>(position * kLabels + position % kLabels)] = static_cast<Value>(bad);
  const ScoreWindow window = scores.window();
  const std::string what = std::to_string(bad) + " at " + std::to_string(position) + ": ";
  {
    const auto prefetch = engine.own_memory()->prefetch(window);
    if (!prefetch->sound(position)) problems.push_back(what + "positions before it refused");
    if (prefetch->sound(position + 1)) problems.push_back(what + "not seen");
    if (prefetch->sound(length)) problems.push_back(what + "forgotten");
  }
  if (engine.own_memory()->prefetch(window)->block_sums(kMaskScore)) problems.push_back(what + "added up");
  // What replaces a sequence is not held against it, and what was replaced is not known any more.
  const auto before = engine.own_memory()->prefetch(window);
  const Scores<Value> others(length);
  const auto next = engine.own_memory()->prefetch(others.window());
  if (before->sound(position)) problems.push_back(what + "known after it was replaced");
  if (!next->sound(length)) problems.push_back(what + "found in the next sequence");
}

// The states of a sequence whose features are copied ahead, window by window, against those of
// its scores. `missing`: a position without a value, after which features are given with each window; -1:
// none.
void check_features(const MakeEngine& make, std::int64_t missing, std::vector<std::string>& problems) {
  constexpr std::int64_t kLength = 100000;  // several slices of copies
  HeadCase<float> sample({3, 2, 0, false, {kLength}}, 92);
  const auto engine = make(sample.model(), Precision::kFloat);
  const auto other = make(sample.model(), Precision::kFloat);
  ScoreWindow whole = sample.projected(0);
  std::vector<float> features(whole.features.rows.f32, whole.features.rows.f32 + 2 * kLength);
  if (missing >= 0) features[static_cast<std::size_t>(2 * missing)] = std::nanf("");
  whole.features.rows.f32 = features.data();
  whole.sequence = next_sequence();
  const std::string what = "features ahead, missing " + std::to_string(missing) + ": ";
  auto prefetch = engine->own_memory()->prefetch(whole);
  if (!prefetch) {
    problems.push_back(what + "not copied");
    return;
  }
  if (missing < 0) {
    SequenceMean expected(2), found(2);
    expected.add(features.data(), 0, kLength);
    const auto sums = prefetch->block_sums(kMaskScore);
    if (sums) found.add(*sums, kLength);
    if (!sums || found.mean() != expected.mean()) problems.push_back(what + "another mean");
  }
  constexpr std::int64_t kAhead = 3;  // what heads see to the right
  std::optional<BoundaryState> left, expected_left;
  const ChunkGrid grid = engine->grid(kLength);
  for (std::int64_t begin = 0; begin < kLength; begin += 4 * grid.chunk) {
    const std::int64_t end = std::min(kLength, begin + 4 * grid.chunk);
    const bool sound = missing < 0 || std::min(kLength, end + kAhead) <= missing;
    if (prefetch && prefetch->sound(end) != sound)
      problems.push_back(what + "soundness of " + std::to_string(end));
    if (!sound) prefetch.reset();
    const std::int64_t read = std::max<std::int64_t>(0, begin - grid.warmup);
    ScoreWindow window = sample.projected(0, read, end), stored = sample.stored(0, read, end);
    window.sequence = whole.sequence;
    left = engine->viterbi(window, {begin, end}, left ? &*left : nullptr, false).right;
    expected_left =
        other->viterbi(stored, {begin, end}, expected_left ? &*expected_left : nullptr, false).right;
    if (left->message != expected_left->message || left->ring != expected_left->ring)
      problems.push_back(what + "another state at " + std::to_string(end));
  }
}

}  // namespace

std::vector<std::string> check_prefetch(const MakeEngine& make) {
  std::vector<std::string> problems;
  const auto engine = make(small_model(), Precision::kFloat);
  constexpr std::int64_t kBlock = BlockSums::kPositions;
  for (const std::int64_t length : {std::int64_t{1}, kBlock - 1, kBlock, 3 * kBlock + 77}) {
    check_sums<float>(*engine, length, problems);
    check_sums<double>(*engine, length, problems);
  }
  // Long enough that threads copy slices of a mebibyte.
  const std::int64_t length = 100 * kBlock + 5;
  for (const std::int64_t position : {std::int64_t{0}, std::int64_t{1}, length / 2, length - 1}) {
    check_bad<float>(*engine, std::nan(""), position % 2 == 1, position, length, problems);
    check_bad<double>(*engine, kInfinity, position % 2 == 0, position, length, problems);
  }
  for (const std::int64_t missing :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{50000}, std::int64_t{65538}})
    check_features(make, missing, problems);
  return problems;
}

}  // namespace semicrf::testing
