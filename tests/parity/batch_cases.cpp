#include "parity/batch_cases.h"

#include <limits>
#include <span>

#include "engine/batch.h"
#include "parity/same_results.h"

namespace semicrf::testing {
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

}  // namespace

std::vector<std::string> check_batch(const MakeEngine& make, const ModelCase& sample,
                                     const std::vector<std::int64_t>& lengths, const Precisions& precisions) {
  std::vector<std::vector<double>> baselines;
  const std::vector<ScoreWindow> sequences = stretches(sample, lengths, baselines);
  std::vector<std::string> problems;
  for (const Precision precision : precisions) {
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
      check(same_reports(found.chunks, expected.chunks), "a chunk's report");
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
                                           const std::vector<std::int64_t>& lengths, bool forbidden,
                                           const Precisions& precisions) {
  if (forbidden) forbid_some_stretches(sample, lengths);
  std::vector<std::vector<double>> baselines;
  const std::vector<ScoreWindow> sequences = stretches(sample, lengths, baselines);
  std::vector<std::string> problems;
  for (const Precision precision : precisions) {
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
        check(same_reports(found[i].chunks, expected.chunks), "another report than by itself");
        check(!forbidden || i % 4 != 2 || !found[i].feasible, "a path through a forbidden position");
      }
    }
  }
  return problems;
}

}  // namespace semicrf::testing
