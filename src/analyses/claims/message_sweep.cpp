#include "analyses/claims/message_sweep.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "analyses/forward/forward_pass.h"
#include "core/chain_model.h"
#include "core/sizes.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "windows/memory_budget.h"

namespace semicrf {

std::vector<PositionRange> merged(std::vector<PositionRange> ranges) {
  std::ranges::sort(ranges, {}, &PositionRange::begin);
  std::vector<PositionRange> joined;
  for (const PositionRange& range : ranges) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

MessageRows::MessageRows(std::vector<PositionRange> wanted, std::size_t width)
    : wanted_(std::move(wanted)), width_(width), open_(width * kBlock), blocks_(kSpoolMemory, "") {
  std::int64_t rows = 0;
  for (const PositionRange& range : wanted_) {
    first_rows_.push_back(rows);
    rows += range.size();
  }
}

void MessageRows::finish() {
  if (rows_ == 0) return;
  const std::span<const double> rows(open_.data(), rows_ * width_);
  blocks_.append(std::as_bytes(rows));
  rows_ = 0;
}

std::vector<double> MessageRows::read(std::int64_t begin, std::int64_t end) const {
  const auto after = std::ranges::upper_bound(wanted_, begin, {}, &PositionRange::begin);
  if (after == wanted_.begin() || end > std::prev(after)->end)
    throw std::logic_error("MessageRows::read: rows that were not kept");
  const auto range = std::prev(after);
  const std::int64_t first = first_rows_[range - wanted_.begin()] + (begin - range->begin);
  const std::int64_t last = first + (end - begin);  // one past it
  std::vector<double> rows;
  rows.reserve((end - begin) * width_);
  std::vector<double> block;
  for (std::int64_t b = first / kBlock; b * kBlock < last; ++b) {
    const std::size_t index = b;
    block.resize(blocks_.blob_size(index) / sizeof(double));
    blocks_.read(index, std::as_writable_bytes(std::span<double>(block)));
    const std::size_t from = std::max<std::int64_t>(first - b * kBlock, 0) * width_;
    const std::size_t to = std::min(last - b * kBlock, kBlock) * width_;
    rows.insert(rows.end(), block.data() + from, block.data() + to);
  }
  return rows;
}

namespace {

// Writes the scores of one label into rows [begin, end).
void keep_scores(const LabelScores& scores, const RowShape& shape, int label, std::int64_t begin,
                 std::int64_t end, double* rows) {
  const std::size_t c = label;
  const auto each = [&](std::size_t column, auto score) {
    double* to = rows + column + c;
    for (std::int64_t t = begin; t < end; ++t, to += shape.width) *to = score(t);
  };
  if (shape.has_scores) scores.of_label(label, [&](auto score) { each(shape.emissions, score); });
  if (!shape.has_boundary) return;
  each(shape.boundary, [&](std::int64_t t) { return scores.start(t, label); });
  each(shape.boundary + shape.labels, [&](std::int64_t t) { return scores.end(t, label); });
}

void keep_window(const ForwardPass& pass, const RowShape& shape, MessageRows& kept) {
  const LabelScores scores = pass.scores();
  kept.take(pass.range(), [&](std::int64_t begin, std::int64_t end, double* rows) {
    const int labels = static_cast<int>(shape.labels);
    for (std::int64_t t = begin; t < end; ++t) {
      double* row = rows + (t - begin) * shape.width;
      row[0] = pass.rows().start(t, 0).level;
      for (int c = 0; c < labels; ++c) row[shape.starts + c] = pass.rows().start(t, c).value;
      if (!shape.has_tail) continue;
      row[shape.tails - 1] = pass.rows().tail(t + 1, 0).level;
      for (int c = 0; c < labels; ++c) row[shape.tails + c] = pass.rows().tail(t + 1, c).value;
    }
    for (int c = 0; c < labels; ++c) keep_scores(scores, shape, c, begin, end, rows);
  });
}

}  // namespace

RowShape::RowShape(const ChainModel& model, const Parts& parts)
    : labels(model.num_labels),
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

std::optional<BoundaryState> keep_messages(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                                           const PieceChain& chain, const RowShape& shape, MessageRows& rows,
                                           ChunkTotals& totals, const ProgressCallback& progress) {
  ForwardPass pass(engine, source, plan, chain, {.ends = false, .tails = shape.has_tail}, progress);
  const bool possible = pass.left_to_right(totals, [&] { keep_window(pass, shape, rows); });
  rows.finish();
  if (!possible || log_sum(pass.at_end()) == kNegativeInfinity) return std::nullopt;
  return pass.at_end();
}

namespace {

// Copies the rows in the opposite order into `memory`.
template <class Real>
const Real* reversed_rows(const Real* rows, std::size_t count, std::size_t labels,
                          std::vector<Real>& memory) {
  memory.resize(count * labels);
  for (std::size_t row = 0; row < count; ++row)
    std::copy_n(rows + (count - 1 - row) * labels, labels, memory.data() + row * labels);
  return memory.data();
}

ScoreArray reversed_array(const ScoreArray& array, std::size_t count, std::size_t labels, RowBuffer& memory) {
  ScoreArray result;
  if (array.f32 != nullptr) result.f32 = reversed_rows(array.f32, count, labels, memory.f32);
  if (array.f64 != nullptr) result.f64 = reversed_rows(array.f64, count, labels, memory.f64);
  return result;
}

}  // namespace

ChainModel reversed(const ChainModel& model) {
  ChainModel mirror = model;
  const std::size_t labels = model.num_labels;
  for (std::size_t from = 0; from < labels; ++from)
    for (std::size_t to = 0; to < labels; ++to)
      mirror.transition[to * labels + from] = model.transition[from * labels + to];
  mirror.start_scores = model.end_scores;
  mirror.end_scores = model.start_scores;
  if (model.initial == InitialTerm::kUniform) {
    mirror.end_scores.resize(labels);
    for (int c = 0; c < model.num_labels; ++c) mirror.end_scores[c] += initial_term(model, c);
  }
  mirror.initial = InitialTerm::kNone;
  return mirror;
}

ScoreWindow ReversedSource::read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) {
  const std::int64_t total = source_.length();
  const ScoreWindow there = projected_.read(total - end, total - begin, forward_);
  const std::size_t count = end - begin;
  ScoreWindow window = there;
  window.begin = begin;
  window.end = end;
  window.sequence = 0;
  window.emissions = reversed_array(there.emissions, count, labels_, buffers.emissions);
  window.start_scores = reversed_array(there.end_scores, count, labels_, buffers.start);
  window.end_scores = reversed_array(there.start_scores, count, labels_, buffers.end);
  return window;
}

ReversedPiece::ReversedPiece(const EngineOptions& options, const Engine& engine, ScoreSource& source,
                             const PieceChain& chain)
    : engine_(make_engine(options, reversed(engine.model()))),
      source_(std::make_unique<ReversedSource>(source, engine.model().num_labels)),
      chain_{chain.roles, nullptr, true} {
  if (chain.edges == nullptr) return;
  const CutEdges cut = chain.edges->roles->cut();
  const EdgeLengths lengths = edge_lengths(*engine_, {cut.right, cut.left}, source.length());
  if (!lengths.any()) {
    use_roles_everywhere(options, *chain.edges);
    return;
  }
  EngineOptions host = options;
  host.backend = EngineOptions::Backend::kCpu;
  const auto reverse = [&](const EdgeWindow& window, std::int64_t positions, std::unique_ptr<Engine>& by) {
    EdgeWindow mirror;
    if (!window.exists()) return mirror;
    const ChainModel& with_roles = window.engine->model();
    by = make_engine(host, reversed(with_roles));
    mirror.positions = positions;
    mirror.roles = window.roles;
    mirror.engine = by.get();
    mirror.scores = std::make_shared<ReversedSource>(*window.scores, with_roles.num_labels);
    mirror.plain = std::make_shared<ReversedSource>(*window.plain, engine.model().num_labels);
    return mirror;
  };
  edges_.left = reverse(chain.edges->right, lengths.left, right_engine_);
  edges_.right = reverse(chain.edges->left, lengths.right, left_engine_);
  edges_.roles = chain.edges->roles;
  chain_.edges = &edges_;
}

// A piece that is just long enough for windows of their own may be too short for them from the other side.
void ReversedPiece::use_roles_everywhere(const EngineOptions& options, const EdgeWindows& edges) {
  const EdgeRoles& roles = *edges.roles;
  ChainModel base = roles.base();
  if (roles.cut().left) base.initial = InitialTerm::kNone;
  roles_.emplace(reversed(base), CutEdges{roles.cut().right, roles.cut().left});
  ScoreSource& plain = edges.left.exists() ? *edges.left.plain : *edges.right.plain;
  engine_ = make_engine(options, roles_->chain());
  source_ = with_edge_roles(std::make_unique<ReversedSource>(plain, base.num_labels), &*roles_);
  chain_ = {&*roles_, nullptr, false};
}

}  // namespace semicrf
