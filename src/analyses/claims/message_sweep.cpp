#include "analyses/claims/message_sweep.h"

#include <algorithm>
#include <utility>

#include "model/scores/linear_heads.h"
#include "model/scores/score_source.h"

namespace semicrf {
namespace {

// Writes the scores of one label into rows [begin, end).
void keep_scores(const CentredScores& centred, const RowShape& shape, int label, std::int64_t begin,
                 std::int64_t end, double* rows) {
  const auto c = static_cast<std::size_t>(label);
  const auto each = [&](std::size_t column, auto score) {
    double* to = rows + column + c;
    for (std::int64_t t = begin; t < end; ++t, to += shape.width) *to = score(t);
  };
  if (shape.has_scores) centred.of_label(label, [&](auto score) { each(shape.emissions, score); });
  if (!shape.has_boundary) return;
  each(shape.boundary, [&](std::int64_t t) { return centred.start(t, label); });
  each(shape.boundary + shape.labels, [&](std::int64_t t) { return centred.end(t, label); });
}

}  // namespace

RowShape::RowShape(const ChainModel& model, const Parts& parts)
    : labels(static_cast<std::size_t>(model.num_labels)),
      has_tail(parts.tails && model.has_tail()),
      has_scores(parts.scores),
      has_boundary(parts.boundary) {
  starts = 1;
  tails = starts + labels + 1;
  emissions = has_tail ? tails + labels : starts + labels;
  boundary = emissions + (has_scores ? labels : 0);
  width = boundary + (has_boundary ? 2 * labels : 0);
}

bool has_boundary_scores(const ChainModel& model, ScoreSource& source) {
  if (!model.start_scores.empty() || !model.end_scores.empty()) return true;
  ScoreBuffers buffers;
  const ScoreWindow window = HostProjection(source).read(0, 1, buffers);
  return !window.start_scores.empty() || !window.end_scores.empty();
}

std::optional<BoundaryState> MessageSweep::run(ChunkTotals& totals, const ProgressCallback& progress) {
  WindowLoop loop(engine_, source_, plan_, WindowLoop::Scores::kNoFeatures, progress);
  std::optional<BoundaryState> last;
  const bool possible =
      loop.left_to_right(WindowLoop::States::kLatest, [&](std::int64_t n, const ScoreWindow& scores) {
        const PositionRange range = plan_.range(n);
        ForwardWindow window = engine_.forward(scores, range, loop.left(n), prepare(range));
        keep(range, scores, window.whole);
        totals.add(window.chunks);
        if (n == loop.last()) last = window.right;
        return std::move(window.right);
      });
  rows_.finish();
  return possible && log_sum(*last) > kNegativeInfinity ? last : std::nullopt;
}

ForwardArrays MessageSweep::prepare(PositionRange range) {
  const auto n = static_cast<std::size_t>(range.size());
  starts_.resize(n * shape_.labels);
  start_levels_.resize(n);
  ForwardArrays out;
  out.starts = starts_.data();
  out.start_levels = start_levels_.data();
  if (!shape_.has_tail) return out;
  tails_.resize(n * shape_.labels);
  end_levels_.resize(n);
  out.tails = tails_.data();
  out.end_levels = end_levels_.data();
  return out;
}

void MessageSweep::keep(PositionRange range, const ScoreWindow& scores, double whole) {
  const CentredScores centred(engine_.model(), scores);
  rows_.take(range, [&](std::int64_t begin, std::int64_t end, double* rows) {
    for (std::int64_t t = begin; t < end; ++t) {
      const auto i = static_cast<std::size_t>(t - range.begin);
      double* row = rows + static_cast<std::size_t>(t - begin) * shape_.width;
      row[0] = start_levels_[i] + whole;
      std::copy_n(starts_.data() + i * shape_.labels, shape_.labels, row + shape_.starts);
      if (!shape_.has_tail) continue;
      row[shape_.tails - 1] = end_levels_[i] + whole;
      std::copy_n(tails_.data() + i * shape_.labels, shape_.labels, row + shape_.tails);
    }
    for (std::size_t c = 0; c < shape_.labels; ++c)
      keep_scores(centred, shape_, static_cast<int>(c), begin, end, rows);
  });
}

}  // namespace semicrf
