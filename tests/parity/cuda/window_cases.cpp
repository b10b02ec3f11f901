#include "parity/cuda/window_cases.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "engine/batch.h"
#include "parity/engine_parity.h"
#include "parity/same_results.h"
#include "reference/reference_engine.h"

namespace semicrf::testing {

std::vector<std::string> check_joined_windows(const MakeEngine& make) {
  std::vector<std::string> problems;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails}) {
    const ModelCase sample = make_case(kind, {8192 + 1037, 5, 3}, 811);
    const auto engine = make(sample.model, Precision::kFloat);
    const std::vector<Segment> whole = decode_case(*engine, sample, {0, sample.length}).path;
    const std::int64_t cut = engine->grid(sample.length).chunk;
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
    follow(*right.messages, cursor, path);
    TraceCursor at_edge = cursor;
    follow(*edge, at_edge, from_edge);
    follow(*left.messages, cursor, path);
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
    follow(*right.messages, cursor, results.path);
    follow(*left.messages, cursor, results.path);
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

}  // namespace

std::vector<std::string> check_spread(const MakeEngine& make, const MakeEngine& spread,
                                      const ModelCase& sample, const Precisions& precisions) {
  std::vector<std::string> problems;
  for (const Precision precision : precisions) {
    const auto one = make(sample.model, precision);
    const std::int64_t cut = one->grid(sample.length).chunk;
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
    // Values of a backward state are relative to what it began with. What stood there earlier is told apart.
    BoundaryState left_backward = expected.left_backward;
    left_backward.earlier.clear();
    check(agreement(left_backward, found.left_backward, one->info().grid.tolerance, precision).has_value(),
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
  ModelCase sample = make_case(CaseKind::kDyadic, {64000, 100, 5}, 831);  // three batches of pieces
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
  if (expected.size() > 640) problems.push_back(std::to_string(expected.size()) + " segments are short");
  for (const Precision precision : {Precision::kFloat, Precision::kDouble})
    if (decode_case(*make(model, precision), sample, whole).path != expected)
      problems.push_back("another path");
  return problems;
}

std::vector<std::string> check_path_of_lengths(const MakeEngine& make, std::span<const std::int64_t> lengths,
                                               const Precisions& precisions) {
  const std::int64_t length = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  ModelCase sample = make_case(CaseKind::kTails, {length, 2, 2}, 841);
  sample.model.log_tail.assign(2, -1e-5);
  sample.model.transition.assign(4, -1);
  sample.baseline.clear();
  sample.subtract_position_max = false;
  sample.start_scores = sample.end_scores = {};
  std::vector<Segment> expected;
  for (const std::int64_t segment : lengths) {
    const std::int64_t begin = expected.empty() ? 0 : expected.back().end;
    expected.push_back({begin, begin + segment, static_cast<int>(expected.size() % 2)});
  }
  const auto fill = [&](auto& scores) {
    std::fill(scores.begin(), scores.end(), 0);
    for (const Segment& segment : expected)
      for (std::int64_t i = segment.begin; i < segment.end && !scores.empty(); ++i)
        scores[static_cast<std::size_t>(2 * i + segment.label)] = 20;
  };
  fill(sample.emissions.f32);
  fill(sample.emissions.f64);
  std::vector<std::string> problems;
  for (const Precision precision : precisions) {
    const auto engine = make(sample.model, precision);
    if (decode_case(*engine, sample, {0, sample.length}).path != expected)
      problems.push_back("another path alone");
    ScoreWindow before = sample.window(0, 100), after = sample.window(0, 13);
    before.length = before.end;
    after.length = after.end;
    const ScoreWindow sequences[] = {before, sample.whole(), after};
    std::vector<Segment> reversed = engine->batches().viterbi_of(sequences)[1].reversed;
    std::reverse(reversed.begin(), reversed.end());
    if (reversed != expected) problems.push_back("another path among others");
  }
  return problems;
}

}  // namespace semicrf::testing
