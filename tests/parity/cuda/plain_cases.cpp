#include "parity/cuda/plain_cases.h"

#include <algorithm>
#include <iterator>

#include "model/scores/edge_roles.h"
#include "parity/engine_parity.h"
#include "parity/gradient_case.h"
#include "parity/same_results.h"
#include "reference/reference_engine.h"

namespace semicrf::testing {
namespace {

constexpr CutEdges kCuts[] = {{true, false}, {false, true}, {true, true}};

// Messages of the max semiring in all rows, with their levels, and the state at the end.
std::vector<double> best_messages(Engine& engine, const ModelCase& sample) {
  const auto length = static_cast<std::size_t>(sample.length);
  const std::size_t rows = length * static_cast<std::size_t>(sample.model.num_labels);
  std::vector<double> all(3 * rows + 2 * length);
  double* const at = all.data();
  const ForwardArrays out{at, at + rows, at + 2 * rows, at + 3 * rows, at + 3 * rows + length};
  const BoundaryState right = engine.best_forward(sample.whole(), {0, sample.length}, nullptr, out).right;
  for (const auto* part : {&right.ring, &right.message, &right.tail})
    all.insert(all.end(), part->begin(), part->end());
  all.push_back(right.whole);
  all.push_back(right.offset);
  return all;
}

ModelCase case_of_roles(const ModelCase& sample, CutEdges cut) {
  const EdgeRoles roles(sample.model, cut);
  ScoreBuffers buffers;
  ModelCase chain = sample;
  const ScoreWindow window = with_edge_roles(sample.whole(), roles, buffers, chain.baseline);
  chain.model = roles.chain();
  const auto entries = static_cast<std::size_t>(sample.length * chain.model.num_labels);
  const auto copy = [&](const ScoreArray& from, ScoreTable& to) {
    to = {};
    for (std::size_t i = 0; !from.empty() && i < entries; ++i) to.f64.push_back(from.at(i));
  };
  copy(window.emissions, chain.emissions);
  copy(window.start_scores, chain.start_scores);
  copy(window.end_scores, chain.end_scores);
  chain.description +=
      std::string(", roles of a cut") + (cut.left ? " left" : "") + (cut.right ? " right" : "");
  return chain;
}

}  // namespace

std::vector<std::string> check_plain(const MakeOne& make, const ModelCase& sample) {
  std::vector<std::string> problems = check_engines({make}, sample);
  const auto plain = make(sample.model);
  const auto reference = make_reference_engine(sample.model);
  const std::vector<std::int64_t> whole{0, sample.length};
  const DecodedCase found = decode_case(*plain, sample, whole);
  const DecodedCase expected = decode_case(*reference, sample, whole);
  if (found.path != expected.path)
    problems.push_back(sample.description + ": another path than the reference's");
  if (found.score != expected.score) problems.push_back(sample.description + ": another score of the path");
  if (!same_numbers(best_messages(*plain, sample), best_messages(*reference, sample)))
    problems.push_back(sample.description + ": other messages of the max semiring than the reference's");
  return problems;
}

std::vector<std::string> check_plain_cut_edges(const MakeOne& make, const ModelCase& sample) {
  std::vector<std::string> problems;
  for (const CutEdges cut : kCuts) append(problems, check_plain(make, case_of_roles(sample, cut)));
  return problems;
}

std::vector<CaseShape> plain_shapes() {
  return {{1, 1, 1},     {1, 2, 2},    {2, 1, 2},   {2, 2, 1},   {1, 5, 33},  {3, 7, 2},
          {16, 1, 3},    {16, 2, 2},   {17, 16, 5}, {31, 40, 1}, {33, 3, 31}, {40, 17, 32},
          {17, 300, 33}, {100, 33, 4}, {9, 4, 70},  {5, 3, 260}, {200, 12, 3}};
}

ModelCase shortest_duration_case(const CaseShape& shape, int least, double score, std::uint64_t seed) {
  ModelCase sample = make_case(CaseKind::kBoundaryScores, shape, seed);
  const auto rows = static_cast<std::size_t>(least - 1);
  std::fill_n(sample.model.duration_bias.begin(), rows * static_cast<std::size_t>(shape.num_labels), score);
  sample.description += "; durations below " + std::to_string(least) + " score " + std::to_string(score);
  return sample;
}

ModelCase tied_tails_case(const CaseShape& shape, std::uint64_t seed) {
  ModelCase sample = make_case(CaseKind::kTies, shape, seed);
  sample.model.log_tail.assign(static_cast<std::size_t>(shape.num_labels), -1.0);
  sample.description += "; tails of -1";
  return sample;
}

std::vector<std::string> check_plain_long_path(const MakeOne& make) {
  ModelCase sample = make_case(CaseKind::kDyadic, {70'000, 1, 1}, 77);
  sample.model.log_tail.clear();
  std::vector<std::string> problems;
  const std::vector<std::int64_t> whole{0, sample.length};
  const auto plain = make(sample.model);
  const DecodedCase found = decode_case(*plain, sample, whole);
  if (found.path != decode_case(*make_reference_engine(sample.model), sample, whole).path)
    problems.push_back(sample.description + ": another path than the reference's");
  if (std::ssize(found.path) != sample.length)
    problems.push_back(sample.description + ": the path is too short to need two launches");
  return problems;
}

}  // namespace semicrf::testing
