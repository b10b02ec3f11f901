#include "parity/cuda/cuda_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>

#include "cuda/tables/tile_config.h"
#include "engine/batch.h"
#include "model/centred_scores.h"
#include "model/linear_heads.h"
#include "parity/gradient_case.h"
#include "reference/reference_engine.h"

namespace semicrf::testing {

std::vector<std::string> check_case(const MakeEngine& make, const ModelCase& sample) {
  const auto reference = make_reference_engine(sample.model);
  const ExpectedCase expected = expected_case(*reference, sample);
  const ExpectedGradient gradient = expected_gradient(*reference, sample);
  const bool feasible = expected.posteriors.log_partition != kNegativeInfinity;
  std::vector<std::string> problems;
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    const auto engine = make(sample.model, precision);
    for (std::string& problem : compare_with(expected, *engine, sample, tolerances_of(precision)))
      problems.push_back(std::move(problem));
    if (!feasible) continue;
    for (std::string& problem : compare_gradient(gradient, *engine, sample))
      problems.push_back(std::move(problem));
  }
  return problems;
}

std::vector<std::string> check_gradient(const MakeEngine& make, const ModelCase& sample) {
  const auto reference = make_reference_engine(sample.model);
  const ExpectedGradient gradient = expected_gradient(*reference, sample);
  std::vector<std::string> problems;
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    const auto engine = make(sample.model, precision);
    for (std::string& problem : compare_gradient(gradient, *engine, sample))
      problems.push_back(std::move(problem));
  }
  return problems;
}

namespace {

// What came out of some sequences.
struct BatchOutcome {
  std::vector<double> log_partitions;  // with the posteriors, and by themselves
  std::vector<std::vector<double>> rows;
  ExpectedCounts counts;
  std::vector<ChunkReport> chunks;

  void add(const std::vector<SequenceResult>& results) {
    for (const SequenceResult& result : results) {
      log_partitions.push_back(result.log_partition);
      chunks.insert(chunks.end(), result.chunks.begin(), result.chunks.end());
    }
  }
};

// `baselines`: of every stretch its own, which the windows point to.
std::vector<ScoreWindow> stretches(const ModelCase& sample, const std::vector<std::int64_t>& lengths,
                                   std::vector<std::vector<double>>& baselines) {
  std::vector<ScoreWindow> sequences;
  baselines.assign(lengths.size(), sample.baseline);
  std::int64_t begin = 0;
  for (const std::int64_t length : lengths) {
    ScoreWindow window = sample.window(begin, begin + length);
    window.begin = 0;
    window.end = window.length = length;
    window.sequence = 0;
    std::vector<double>& baseline = baselines[sequences.size()];
    for (std::size_t c = 0; c < baseline.size(); ++c)
      baseline[c] += 0.5 * static_cast<double>((sequences.size() + c) % 3);
    if (sequences.size() % 5 == 4) baseline.clear();
    window.baseline = baseline;
    sequences.push_back(window);
    begin += length;
  }
  return sequences;
}

// `together`: in one call; else one call per sequence.
BatchOutcome batch_outcome(Engine& engine, const std::vector<ScoreWindow>& sequences, int labels,
                           bool together) {
  BatchOutcome outcome;
  std::vector<PosteriorArrays> out(sequences.size());
  outcome.rows.resize(4 * sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto n = static_cast<std::size_t>(sequences[i].length);
    const auto room = [&](std::size_t which, std::size_t columns) {
      outcome.rows[4 * i + which].assign(n * columns, -1);
      return outcome.rows[4 * i + which].data();
    };
    out[i].labels = room(0, static_cast<std::size_t>(labels));
    if (i % 3 == 2) continue;
    out[i].boundary = room(1, 1);
    out[i].starts = room(2, static_cast<std::size_t>(labels));
    out[i].ends = room(3, static_cast<std::size_t>(labels));
  }
  const std::span<const ScoreWindow> all = sequences;
  const std::span<const PosteriorArrays> arrays = out;
  const std::size_t step = together ? all.size() : 1;
  for (std::size_t i = 0; i < all.size(); i += step)
    outcome.add(
        engine.batches().posteriors_of(all.subspan(i, step), arrays.subspan(i, step), &outcome.counts));
  for (std::size_t i = 0; i < all.size(); i += step)
    outcome.add(engine.batches().log_partitions(all.subspan(i, step)));
  return outcome;
}

// The same bits; which NaN it is does not matter.
bool same_number(double a, double b) {
  return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
}
bool same_report(const ChunkReport& a, const ChunkReport& b) {
  return a.fallbacks == b.fallbacks && a.repaired == b.repaired &&
         same_number(a.label_entropy, b.label_entropy) && same_number(a.boundary_mass, b.boundary_mass) &&
         same_number(a.boundary_plogp, b.boundary_plogp) &&
         same_number(a.max_normalization_error, b.max_normalization_error);
}
bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_number);
}

}  // namespace

std::vector<std::string> check_batch(const MakeEngine& make, const ModelCase& sample,
                                     const std::vector<std::int64_t>& lengths) {
  std::vector<std::vector<double>> baselines;
  const std::vector<ScoreWindow> sequences = stretches(sample, lengths, baselines);
  std::vector<std::string> problems;
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    const auto alone = make(sample.model, precision);
    const auto batched = make(sample.model, precision);
    const BatchOutcome expected = batch_outcome(*alone, sequences, sample.model.num_labels, false);
    for (int turn = 0; turn < 2; ++turn) {
      const BatchOutcome found = batch_outcome(*batched, sequences, sample.model.num_labels, true);
      const auto check = [&](bool same, const std::string& what) {
        if (!same)
          problems.push_back(batched->description() + ", " + sample.description + ", turn " +
                             std::to_string(turn) + ": " + what +
                             " is not what one sequence at a time gives");
      };
      check(same_numbers(found.log_partitions, expected.log_partitions), "log Z");
      check(same_numbers(found.counts.transition, expected.counts.transition), "a transition count");
      check(same_numbers(found.counts.duration, expected.counts.duration), "a duration count");
      check(same_numbers(found.counts.tail, expected.counts.tail), "a tail count");
      for (std::size_t i = 0; i < found.rows.size(); ++i)
        check(same_numbers(found.rows[i], expected.rows[i]),
              "array " + std::to_string(i % 4) + " of sequence " + std::to_string(i / 4));
      check(std::equal(found.chunks.begin(), found.chunks.end(), expected.chunks.begin(),
                       expected.chunks.end(), same_report),
            "a chunk's report");
    }
  }
  return problems;
}

namespace {

// A position of every fourth stretch.
void forbid_some_stretches(ModelCase& sample, const std::vector<std::int64_t>& lengths) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < lengths.size(); begin += lengths[i], ++i) {
    if (i % 4 != 2) continue;
    const auto row = static_cast<std::size_t>(begin + lengths[i] / 2) * labels;
    for (std::size_t c = 0; c < labels; ++c) {
      if (!sample.emissions.f32.empty())
        sample.emissions.f32[row + c] = -std::numeric_limits<float>::infinity();
      if (!sample.emissions.f64.empty()) sample.emissions.f64[row + c] = kNegativeInfinity;
    }
  }
}

}  // namespace

std::vector<std::string> check_batch_paths(const MakeEngine& make, ModelCase sample,
                                           const std::vector<std::int64_t>& lengths, bool forbidden) {
  if (forbidden) forbid_some_stretches(sample, lengths);
  std::vector<std::vector<double>> baselines;
  const std::vector<ScoreWindow> sequences = stretches(sample, lengths, baselines);
  std::vector<std::string> problems;
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    const auto alone = make(sample.model, precision);
    const auto batched = make(sample.model, precision);
    const std::vector<SequencePath> paths = OneByOne(*alone).viterbi_of(sequences);
    for (int turn = 0; turn < 2; ++turn) {
      const std::vector<SequencePath> found = batched->batches().viterbi_of(sequences);
      for (std::size_t i = 0; i < sequences.size(); ++i) {
        const SequencePath& expected = paths[i];
        const auto check = [&](bool same, const std::string& what) {
          if (!same)
            problems.push_back(batched->description() + ", " + sample.description + ", turn " +
                               std::to_string(turn) + ", sequence " + std::to_string(i) + ": " + what);
        };
        check(found[i].feasible == expected.feasible, "there is a path, or there is none");
        check(found[i].reversed == expected.reversed, "another path than by itself");
        check(std::equal(found[i].chunks.begin(), found[i].chunks.end(), expected.chunks.begin(),
                         expected.chunks.end(), same_report),
              "another report than by itself");
        check(!forbidden || i % 4 != 2 || !found[i].feasible, "a path through a forbidden position");
      }
    }
  }
  return problems;
}

ModelCase opposed_blocks_case(std::int64_t length, std::uint64_t seed) {
  constexpr std::size_t kLabels = 2, kBlock = 16, kShortest = 40;
  ModelCase sample = make_case(CaseKind::kPlain, {length, 150, static_cast<int>(kLabels)}, seed);
  sample.description += " opposed blocks";
  for (std::size_t k = 0; k + 1 < kShortest; ++k)
    sample.model.duration_bias[k * kLabels + 1] = kNegativeInfinity;
  for (std::size_t t = 0; t < static_cast<std::size_t>(length); ++t) {
    const double slope = t / kBlock % 3 == 1 ? 30 : -10;
    const std::size_t at = t * kLabels + 1;
    if (!sample.emissions.f32.empty()) sample.emissions.f32[at] += static_cast<float>(slope);
    if (!sample.emissions.f64.empty()) sample.emissions.f64[at] += slope;
  }
  return sample;
}

ModelCase long_segments_case(const CaseShape& shape, std::uint64_t seed) {
  ModelCase sample = make_case(CaseKind::kPlain, shape, seed);
  sample.description += " long segments";
  const auto labels = static_cast<std::size_t>(shape.num_labels);
  for (double& score : sample.model.transition) score -= 8;
  sample.model.log_tail.assign(labels, -0.002);
  const auto adapt = [&](auto& scores) {
    for (auto& score : scores) score *= 0.05f;
    for (std::size_t t = 60, i = 0; t * labels < scores.size(); t += 397, ++i)
      scores[t * labels + i % labels] = -std::numeric_limits<float>::infinity();
  };
  adapt(sample.emissions.f32);
  adapt(sample.emissions.f64);
  sample.baseline.clear();
  return sample;
}

namespace {

ModelCase late_repair_of(std::int64_t run, std::int64_t warmup, std::uint64_t seed) {
  constexpr std::size_t kLabels = 4;
  const std::int64_t middle = (2 * warmup / run + 4) * run;  // where the run between the two begins
  ModelCase sample = make_case(CaseKind::kPlain, {middle + 5 * run, 1, static_cast<int>(kLabels)}, seed);
  sample.description += " late repair";
  sample.model.transition.assign(kLabels * kLabels, kNegativeInfinity);
  for (std::size_t c = 0; c < kLabels; ++c) sample.model.transition[c * kLabels + (c + 1) % kLabels] = 0;
  sample.model.duration_bias.assign(kLabels, 0);
  sample.baseline.clear();
  sample.subtract_position_max = false;
  const auto tell = [&](auto& scores, std::int64_t position, std::size_t cycle) {
    for (std::size_t c = 0; c < kLabels && !scores.empty(); ++c) {
      const bool fits = c % cycle == static_cast<std::size_t>(position) % cycle;
      scores[static_cast<std::size_t>(position) * kLabels + c] = fits ? 8 : 0;
    }
  };
  const auto fill = [&](auto& scores) {
    std::fill(scores.begin(), scores.end(), 0);
    tell(scores, middle - run - warmup - run / 2, 4);  // too early for the first of the two
    tell(scores, middle - warmup + run / 4, 2);        // too early for the second
  };
  fill(sample.emissions.f32);
  fill(sample.emissions.f64);
  return sample;
}

}  // namespace

ModelCase late_repair_case(std::size_t real_bytes, std::uint64_t seed) {
  const cuda::RunGrid grid = cuda::run_grid(1);
  const cuda::Teams teams = cuda::teams_of(cuda::choose_tile(4, 1, real_bytes, 227 * 1024));
  for (std::int64_t run = grid.unit; run <= grid.chunk; run *= 2) {
    ModelCase sample = late_repair_of(run, cuda::run_warmup(grid, real_bytes), seed);
    if (cuda::run_length(grid, sample.length, teams) == run) return sample;
  }
  throw std::logic_error("no length is cut into the runs that it was made for");
}

std::vector<CaseShape> tile_shapes(std::size_t count, std::uint64_t seed) {
  constexpr std::array<std::int64_t, 12> kLengths{1, 2, 3, 15, 16, 17, 31, 32, 33, 100, 257, 600};
  constexpr std::array<int, 10> kDurations{1, 2, 3, 15, 16, 17, 31, 33, 64, 100};
  constexpr std::array<int, 16> kLabels{1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40};
  std::mt19937_64 random(seed);
  std::vector<CaseShape> shapes;
  std::vector<std::int64_t> lengths;
  std::vector<int> durations, labels;
  // Every value of each list in a random order, so that a small sample covers all of them.
  const auto draw = [&](auto& left, const auto& all) {
    if (left.empty()) {
      left.assign(all.begin(), all.end());
      std::shuffle(left.begin(), left.end(), random);
    }
    const auto value = left.back();
    left.pop_back();
    return value;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t length = draw(lengths, kLengths);
    const int duration = draw(durations, kDurations);
    shapes.push_back({length, duration, draw(labels, kLabels)});
  }
  return shapes;
}

std::vector<std::string> check_joined_windows(const MakeEngine& make) {
  std::vector<std::string> problems;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails}) {
    const ModelCase sample = make_case(kind, {8192 + 1037, 5, 3}, 811);
    const auto engine = make(sample.model, Precision::kFloat);
    const std::vector<Segment> whole = decode_case(*engine, sample, {0, sample.length}).path;
    const std::int64_t cut = engine->grid().chunk;
    const auto problem = [&](const char* what) { problems.push_back(sample.description + ": " + what); };

    const ScoreWindow scores = sample.whole();
    const ViterbiWindow left = engine->viterbi(scores, {0, cut}, nullptr, true);
    const auto edge = left.messages->right_edge(2048);
    if (!edge) {
      problem("there is no edge");
      continue;
    }
    // The true path enters the window from here.
    TraceCursor cursor{TraceCursor::Phase::kFindStart, sample.length, sample.length, 0};
    const ViterbiWindow right = engine->viterbi(scores, {cut, sample.length}, &left.right, true);
    best_final_score(right.right, &cursor.label);
    std::vector<Segment> path, from_edge;
    while (right.messages->trace(cursor, path)) {
    }
    TraceCursor at_edge = cursor;
    while (edge->trace(at_edge, from_edge)) {
    }
    while (left.messages->trace(cursor, path)) {
    }
    std::reverse(path.begin(), path.end());
    if (path != whole) problem("another path");
    if (from_edge.size() < 50) problem("the edge is short");
    const auto first = std::find(whole.rbegin(), whole.rend(), from_edge.front());
    if (!std::equal(from_edge.begin(), from_edge.end(), first)) problem("another path through the edge");
    if (from_edge.back().begin > cut - 2048 + 5 + 32) problem("the edge ends early");
  }
  return problems;
}

namespace {

struct WindowResults {
  std::vector<Segment> path;
  BoundaryState right, right_forward, left_backward;
  std::vector<double> boundary, labels;
  std::vector<ChunkReport> chunks;
};

// Of two windows, the second of them within the sequence.
WindowResults compute_windows(Engine& engine, const ModelCase& sample, std::int64_t cut) {
  const ScoreWindow scores = sample.whole();
  const auto rows = static_cast<std::size_t>(sample.length);
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  WindowResults results;
  const ViterbiWindow left = engine.viterbi(scores, {0, cut}, nullptr, true);
  std::vector<Segment> left_path;
  {
    const ViterbiWindow right = engine.viterbi(scores, {cut, sample.length}, &left.right, true);
    results.right = right.right;
    TraceCursor cursor{TraceCursor::Phase::kFindStart, sample.length, sample.length, 0};
    best_final_score(right.right, &cursor.label);
    while (right.messages->trace(cursor, results.path)) {
    }
    while (left.messages->trace(cursor, results.path)) {
    }
    results.chunks = right.chunks;
  }
  results.boundary.resize(rows);
  results.labels.resize(rows * labels);
  PosteriorArrays out;
  out.boundary = results.boundary.data();
  out.labels = results.labels.data();
  const PosteriorWindow before = engine.posteriors(scores, {0, cut}, nullptr, nullptr, out);
  out.boundary += cut;
  out.labels += static_cast<std::size_t>(cut) * labels;
  PosteriorWindow after =
      engine.posteriors(scores, {cut, sample.length}, &before.right_forward, nullptr, out);
  results.right_forward = std::move(after.right_forward);
  results.left_backward = std::move(after.left_backward);
  results.chunks.insert(results.chunks.end(), after.chunks.begin(), after.chunks.end());
  return results;
}

bool same_state(const BoundaryState& a, const BoundaryState& b) {
  return a.boundary == b.boundary && a.whole == b.whole && same_number(a.offset, b.offset) &&
         same_numbers(a.ring, b.ring) && same_numbers(a.message, b.message) && same_numbers(a.tail, b.tail);
}

}  // namespace

ModelCase silent_case(std::int64_t length, std::int64_t silent, std::uint64_t seed) {
  ModelCase sample = make_case(CaseKind::kPlain, {length, 3, 2}, seed);
  sample.description += ", silent around " + std::to_string(silent);
  sample.model.transition = {0, -50, -50, 0};
  std::mt19937_64 random(seed);
  for (std::int64_t t = 0; t < length; ++t) {
    const bool speaks = t % 40 == 0 && (t < silent - 300 || t >= silent + 300);
    const std::size_t label = random() % 2;
    for (std::size_t c = 0; c < 2; ++c) {
      const std::size_t at = static_cast<std::size_t>(t) * 2 + c;
      const float score = speaks && c == label ? 150.0F : 0.0F;
      if (!sample.emissions.f32.empty()) sample.emissions.f32[at] = score;
      if (!sample.emissions.f64.empty()) sample.emissions.f64[at] = score;
    }
  }
  return sample;
}

std::vector<std::string> check_spread(const MakeEngine& make, const MakeEngine& spread,
                                      const ModelCase& sample) {
  std::vector<std::string> problems;
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    const auto one = make(sample.model, precision);
    const std::int64_t cut = one->grid().chunk;
    const WindowResults expected = compute_windows(*one, sample, cut);
    const WindowResults found = compute_windows(*spread(sample.model, precision), sample, cut);
    const auto check = [&](bool good, const char* what) {
      if (good) return;
      problems.push_back(sample.description + (precision == Precision::kFloat ? ", float: " : ", double: ") +
                         what);
    };
    check(!expected.path.empty() && found.path == expected.path, "another path");
    check(same_state(found.right, expected.right), "another Viterbi state");
    check(same_state(found.right_forward, expected.right_forward), "another forward state");
    // Values of a backward state are relative to what it began with.
    check(
        agreement(expected.left_backward, found.left_backward, one->grid().tolerance, precision).has_value(),
        "another backward state");
    check(same_numbers(found.boundary, expected.boundary), "other boundary posteriors");
    check(same_numbers(found.labels, expected.labels), "other label posteriors");
    bool same_chunks = found.chunks.size() == expected.chunks.size();
    for (std::size_t i = 0; same_chunks && i < found.chunks.size(); ++i)
      same_chunks = found.chunks[i].repaired == expected.chunks[i].repaired &&
                    same_number(found.chunks[i].boundary_mass, expected.chunks[i].boundary_mass) &&
                    same_number(found.chunks[i].label_entropy, expected.chunks[i].label_entropy);
    check(same_chunks, "other reports");
  }
  return problems;
}

std::vector<std::string> check_long_segments_path(const MakeEngine& make) {
  ModelCase sample = make_case(CaseKind::kDyadic, {20000, 100, 5}, 831);
  std::mt19937_64 random(832);
  std::normal_distribution<double> normal;
  const auto eighths = [&](double size) { return std::round(8 * size * normal(random)) / 8; };
  ChainModel& model = sample.model;
  for (double& score : model.transition) score = eighths(1) - 8;
  for (double& score : model.duration_bias) score = eighths(1);
  model.log_tail.assign(5, -1.0 / 64);
  sample.baseline.clear();
  sample.subtract_position_max = false;
  sample.start_scores = sample.end_scores = {};
  for (float& score : sample.emissions.f32) score = static_cast<float>(eighths(0.1));
  for (double& score : sample.emissions.f64) score = eighths(0.1);
  const std::vector<std::int64_t> whole{0, sample.length};
  const std::vector<Segment> expected = decode_case(*make_reference_engine(model), sample, whole).path;
  std::vector<std::string> problems;
  if (expected.size() > 200) problems.push_back(std::to_string(expected.size()) + " segments are short");
  for (const Precision precision : {Precision::kFloat, Precision::kDouble})
    if (decode_case(*make(model, precision), sample, whole).path != expected)
      problems.push_back("another path");
  return problems;
}

namespace {

// Heads over three tracks, the boundary's over seven bins.
Parameters random_heads(int labels, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const auto numbers = [&](int count, double size) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = size * normal(random);
    return values;
  };
  constexpr int kTracks = 3, kFirst = -2, kLast = 4;
  Parameters parameters;
  parameters.labels.resize(static_cast<std::size_t>(labels));
  parameters.tracks.resize(kTracks);
  parameters.emission = EmissionHead{numbers(labels * kTracks, 0.4), numbers(labels, 0.2)};
  parameters.boundary = BoundaryHead{kFirst, kLast, numbers(labels * kTracks * (kLast - kFirst + 1), 0.1),
                                     {},     {},    numbers(labels, 0.3)};
  return parameters;
}

template <class Value>
std::vector<std::string> check_projection_of(const MakeEngine& make, Precision precision) {
  constexpr std::int64_t kLength = 8192 + 700;
  const ModelCase sample = make_case(CaseKind::kPlain, {kLength, 5, 4}, 851);
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  std::mt19937_64 random(852);
  const LinearHeads heads(random_heads(sample.model.num_labels, random));
  std::normal_distribution<Value> normal;
  std::vector<Value> features(static_cast<std::size_t>(kLength) * 3);
  for (Value& value : features) value = normal(random);
  const std::size_t count = static_cast<std::size_t>(kLength) * labels;
  std::vector<Value> emissions(count), starts(count), ends(count);
  const auto point = [&](ScoreArray& array, const Value* values) {
    if constexpr (sizeof(Value) == sizeof(float)) {
      array.f32 = values;
    } else {
      array.f64 = values;
    }
  };
  FeatureRows all = heads.rows_for(0, kLength, kLength);
  point(all.rows, features.data());
  project_head(all, *all.emission, 0, kLength, kLength, emissions.data());
  project_head(all, *all.start, 0, kLength, kLength, starts.data());
  project_head(all, *all.finish, 0, kLength, kLength, ends.data());

  // Both kinds of windows, of a sequence that stays on the device.
  const auto window = [&](bool projected, std::int64_t begin, std::int64_t end) {
    ScoreWindow scores;
    scores.begin = begin;
    scores.end = end;
    scores.length = kLength;
    scores.subtract_position_max = true;
    scores.sequence = 7;
    if (projected) {
      FeatureRows& rows = scores.features;
      rows = heads.rows_for(begin, end, kLength);
      point(rows.rows, features.data() + rows.begin * 3);
      rows.wide = sizeof(Value) == sizeof(double);
    } else {
      const std::size_t skip = static_cast<std::size_t>(begin) * labels;
      point(scores.emissions, emissions.data() + skip);
      point(scores.start_scores, starts.data() + skip);
      point(scores.end_scores, ends.data() + skip);
    }
    return scores;
  };
  struct Outcome {
    std::vector<Segment> path;
    BoundaryState state;
    std::vector<double> boundary;
  };
  const auto compute = [&](bool projected) {
    Outcome outcome;
    const auto engine = make(sample.model, precision);
    const std::int64_t cut = engine->grid().chunk, halo = engine->grid().warmup;
    const ViterbiWindow left = engine->viterbi(window(projected, 0, cut), {0, cut}, nullptr, false);
    const ViterbiWindow right =
        engine->viterbi(window(projected, cut - halo, kLength), {cut, kLength}, &left.right, true);
    outcome.state = right.right;
    TraceCursor cursor{TraceCursor::Phase::kFindStart, kLength, kLength, 0};
    best_final_score(right.right, &cursor.label);
    while (right.messages->trace(cursor, outcome.path)) {
    }
    outcome.boundary.resize(static_cast<std::size_t>(kLength));
    PosteriorArrays wanted;
    wanted.boundary = outcome.boundary.data();
    engine->posteriors(window(projected, 0, kLength), {0, kLength}, nullptr, nullptr, wanted);
    return outcome;
  };
  const Outcome expected = compute(false), found = compute(true);
  std::vector<std::string> problems;
  const std::string name = std::to_string(sizeof(Value)) + " bytes: ";
  if (found.path != expected.path || expected.path.empty()) problems.push_back(name + "another path");
  if (!same_numbers(found.state.message, expected.state.message) ||
      !same_number(found.state.offset, expected.state.offset))
    problems.push_back(name + "another state");
  if (!same_numbers(found.boundary, expected.boundary)) problems.push_back(name + "other posteriors");
  // What the host says of single positions.
  const ScoreWindow whole = window(true, 0, kLength);
  const CentredScores scores(sample.model, whole);
  for (std::int64_t t = 0; t < kLength; t = t < 10 || t > kLength - 12 ? t + 1 : t + 97) {
    const auto row = static_cast<std::size_t>(t) * labels;
    const Value most = *std::max_element(emissions.begin() + t * sample.model.num_labels,
                                         emissions.begin() + (t + 1) * sample.model.num_labels);
    for (std::size_t c = 0; c < labels; ++c) {
      const int label = static_cast<int>(c);
      const double centred = static_cast<double>(emissions[row + c]) - static_cast<double>(most);
      if (scores.emission(t, label) != centred ||
          scores.start_score(t, label) != static_cast<double>(starts[row + c]) ||
          scores.end_score(t, label) != static_cast<double>(ends[row + c]))
        problems.push_back(name + "another score at " + std::to_string(t));
    }
  }
  return problems;
}

}  // namespace

std::vector<std::string> check_projection(const MakeEngine& make) {
  std::vector<std::string> problems = check_projection_of<float>(make, Precision::kFloat);
  for (std::string& problem : check_projection_of<double>(make, Precision::kDouble))
    problems.push_back(std::move(problem));
  return problems;
}

}  // namespace semicrf::testing
