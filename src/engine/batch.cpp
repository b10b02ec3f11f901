#include "engine/batch.h"

#include <utility>

#include "engine/cut_edges.h"

namespace semicrf {
std::vector<SequenceResult> OneByOne::log_partitions(std::span<const ScoreWindow> sequences) {
  std::vector<SequenceResult> results;
  for (const ScoreWindow& sequence : sequences) {
    ForwardWindow window = engine_.forward(sequence, {0, sequence.length}, nullptr, {});
    results.push_back({log_partition(engine_.model(), window.right), std::move(window.chunks)});
  }
  return results;
}

std::vector<SequencePath> OneByOne::viterbi_of(std::span<const ScoreWindow> sequences) {
  std::vector<SequencePath> paths;
  for (const ScoreWindow& sequence : sequences) {
    ViterbiWindow window = engine_.viterbi(sequence, {0, sequence.length}, nullptr, true);
    SequencePath& path = paths.emplace_back();
    path.chunks = std::move(window.chunks);
    TraceCursor cursor{TraceCursor::Phase::kFindStart, sequence.length, sequence.length, 0};
    path.feasible = best_final_score(window.right, &cursor.label) > kNegativeInfinity;
    while (path.feasible && window.messages->trace(cursor, path.reversed)) {
    }
  }
  return paths;
}

std::vector<SequenceResult> OneByOne::posteriors_of(std::span<const ScoreWindow> sequences,
                                                    std::span<const PosteriorArrays> out,
                                                    ExpectedCounts* counts) {
  std::vector<SequenceResult> results;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    PosteriorArrays wanted = out[i];
    if (counts != nullptr) wanted.counts = counts;
    PosteriorWindow window =
        engine_.posteriors(sequences[i], {0, sequences[i].length}, nullptr, nullptr, wanted);
    results.push_back({log_partition(engine_.model(), window.right_forward), std::move(window.chunks)});
  }
  return results;
}

}  // namespace semicrf
