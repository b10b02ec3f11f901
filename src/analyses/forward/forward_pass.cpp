#include "analyses/forward/forward_pass.h"

#include <algorithm>
#include <stdexcept>

#include "core/chain_model.h"

namespace semicrf {

namespace {

double add(Semiring semiring, double a, double b) {
  return semiring == Semiring::kLog ? log_add(a, b) : std::max(a, b);
}

// The messages of a label's segments that do not end at a cut: whole ones and, if there are any, first ones.
double fold_unless_last(const double* roles, RoleColumns columns, Semiring semiring) {
  return columns.first == 0 ? roles[0] : add(semiring, roles[0], roles[columns.first]);
}

// alpha of a label at T.
double fold_at_end(const double* roles, RoleColumns columns, Semiring semiring) {
  return columns.last != 0 ? roles[columns.last] : fold_unless_last(roles, columns, semiring);
}

}  // namespace

ForwardRows::ForwardRows(const ChainModel& model, const ForwardWish& wish, std::int64_t reach)
    : labels_(model.num_labels),
      semiring_(wish.semiring),
      has_ends_(wish.ends),
      has_tail_(wish.tails && model.has_tail()),
      reach_(reach) {}

std::size_t ForwardRows::bytes_per_position(const ChainModel& model) {
  const std::size_t labels = model.num_labels;
  return sizeof(double) * (2 + labels * (model.has_tail() ? 3 : 2));
}

ForwardArrays ForwardRows::prepare(PositionRange range, RoleColumns columns) {
  range_ = range;
  columns_ = columns;
  const std::size_t n = positions();
  const std::size_t reach = reach_;
  starts_.resize((reach + n) * labels_);
  start_levels_.resize(reach + n);
  ends_.resize(has_ends_ ? (1 + n) * labels_ : 0);
  tails_.resize(has_tail_ ? (1 + n) * labels_ : 0);
  end_levels_.resize(1 + n);
  ForwardArrays out;
  out.start_levels = start_levels_.data() + reach;
  if (has_ends_ || has_tail_) out.end_levels = end_levels_.data() + 1;
  if (columns.count == 1) {
    out.starts = starts_.data() + reach * labels_;
    if (has_ends_) out.ends = ends_.data() + labels_;
    if (has_tail_) out.tails = tails_.data() + labels_;
    return out;
  }
  const auto with_roles = [&](std::vector<double>& rows) {
    rows.resize(n * labels_ * columns.count);
    return rows.data();
  };
  out.starts = with_roles(role_starts_);
  if (has_ends_) out.ends = with_roles(role_ends_);
  if (has_tail_) out.tails = with_roles(role_tails_);
  return out;
}

void ForwardRows::fold(std::int64_t length) {
  const std::size_t count = columns_.count;
  double* starts = starts_.data() + reach_ * labels_;
  for (std::size_t i = 0; i < positions() * labels_; ++i) starts[i] = role_starts_[i * count];
  for (std::size_t c = 0; c < labels_ && range_.begin == 0; ++c)
    starts[c] = role_starts_[c * count + columns_.first];
  const auto fold_rows = [&](const std::vector<double>& roles, std::vector<double>& rows) {
    for (std::size_t i = 0; i < positions() * labels_; ++i)
      rows[labels_ + i] = fold_unless_last(roles.data() + i * count, columns_, semiring_);
  };
  if (has_tail_) fold_rows(role_tails_, tails_);
  if (!has_ends_) return;
  fold_rows(role_ends_, ends_);
  const std::size_t last = (positions() - 1) * labels_;
  for (std::size_t c = 0; c < labels_ && range_.end == length; ++c)
    ends_[labels_ + last + c] = fold_at_end(role_ends_.data() + (last + c) * count, columns_, semiring_);
}

void ForwardRows::finish(const ForwardWindow& window, std::int64_t length, const ForwardEdge* before) {
  if (columns_.count > 1) fold(length);
  for (auto level = start_levels_.begin() + reach_; level != start_levels_.end(); ++level)
    *level += window.whole;
  for (auto level = end_levels_.begin() + 1; level != end_levels_.end(); ++level) *level += window.whole;
  if (before != nullptr) {
    std::copy(before->starts.begin(), before->starts.end(), starts_.begin());
    std::copy(before->start_levels.begin(), before->start_levels.end(), start_levels_.begin());
    std::copy(before->tails.begin(), before->tails.end(), tails_.begin());
    end_levels_.front() = before->end_level;
    return;
  }
  std::fill_n(starts_.begin(), reach_ * labels_, kNegativeInfinity);
  std::fill_n(start_levels_.begin(), reach_, 0.0);
  std::fill_n(tails_.begin(), has_tail_ ? labels_ : 0, kNegativeInfinity);
  end_levels_.front() = 0;
}

// A window may be shorter than the reach: its rows begin that far before it.
ForwardEdge ForwardRows::edge() const {
  const auto labels = static_cast<std::ptrdiff_t>(labels_);
  ForwardEdge edge;
  edge.starts.assign(starts_.end() - reach_ * labels, starts_.end());
  edge.start_levels.assign(start_levels_.end() - reach_, start_levels_.end());
  if (has_tail_) edge.tails.assign(tails_.end() - labels, tails_.end());
  edge.end_level = end_levels_.back();
  return edge;
}

ForwardPass::ForwardPass(Engine& engine, ScoreSource& source, const WindowPlan& plan, const PieceChain& chain,
                         const ForwardWish& wish, const ProgressCallback& progress)
    : model_(chain.model(engine)),
      plan_(plan),
      chain_(chain),
      wish_(wish),
      loop_(engine, source, plan, WindowLoop::Scores::kNoFeatures, progress, chain.edges, wish.semiring),
      rows_(model_, wish, wish.traces_back && plan.count() > 1 ? model_.max_duration : 0),
      edges_(wish.traces_back ? plan.count() : 0) {
  if (wish.traces_back && plan.count() > 1 && plan.left_halo <= model_.max_duration)
    throw std::logic_error("the windows of a traceback see too little to their left");
}

RoleColumns ForwardPass::columns(std::int64_t n) const {
  const EdgeRoles* const roles = chain_.roles != nullptr ? chain_.roles : loop_.roles(n);
  if (roles == nullptr) return {};
  return chain_.mirrored ? roles->columns().mirrored() : roles->columns();
}

ForwardWindow ForwardPass::compute(std::int64_t n) {
  window_ = n;
  Engine& engine = loop_.engine(n);
  const ForwardArrays arrays = rows_.prepare(range(), columns(n));
  ForwardWindow window = wish_.semiring == Semiring::kLog
                             ? engine.forward(scores_, range(), loop_.left(n), arrays)
                             : engine.best_forward(scores_, range(), loop_.left(n), arrays);
  rows_.finish(window, plan_.length, wish_.traces_back && n > 0 ? &edges_[n] : nullptr);
  return window;
}

LabelScores ForwardPass::scores() const { return {loop_.engine(window_).model(), scores_, columns(window_)}; }

std::vector<double> ForwardPass::last_messages() const {
  const RoleColumns columns = this->columns(loop_.last());
  std::vector<double> messages;
  for (std::size_t i = 0; i < at_end_.message.size(); i += columns.count)
    messages.push_back(fold_at_end(at_end_.message.data() + i, columns, wish_.semiring));
  return messages;
}

}  // namespace semicrf
