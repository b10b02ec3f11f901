#include "analyses/constraints/constrained_source.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyses/posteriors/posteriors.h"
#include "core/row_view.h"
#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "model/scores/linear_heads.h"

namespace semicrf {

namespace {

constexpr std::int64_t kSlab = 1 << 14;  // positions of the source that are in memory at a time
constexpr std::int64_t kTask = 1 << 10;  // positions per task of a thread

}  // namespace

ConstrainedSource::ConstrainedSource(ScoreSource& source, const ChainModel& model,
                                     std::span<const Constraint> constraints, int threads, double penalty)
    : source_(source),
      projected_(source),
      model_(model),
      constraints_(constraints),
      threads_(threads),
      penalty_(penalty) {}

// Finds out once whether windows have start and end scores: all windows get the same arrays, whatever
// constraints lie in them.
void ConstrainedSource::look_for_edges() {
  if (looked_) return;
  looked_ = true;
  const ScoreWindow first = projected_.read(0, 1, plain_);
  has_starts_ = !first.start_scores.empty() || std::ranges::any_of(constraints_, [](const Constraint& one) {
    return one.kind != Constraint::Kind::kForbidden;
  });
  has_ends_ = !first.end_scores.empty();
}

ScoreWindow ConstrainedSource::read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) {
  look_for_edges();
  const std::size_t size = (end - begin) * model_.num_labels;
  ScoreWindow window;
  window.begin = begin;
  window.end = end;
  window.length = length();
  buffers.emissions.f64.resize(size);
  if (has_starts_) buffers.start.f64.resize(size);
  if (has_ends_) buffers.end.f64.resize(size);
  for (std::int64_t from = begin; from < end; from += kSlab)
    fill(projected_.read(from, std::min(end, from + kSlab), plain_), buffers, begin);
  for (const Constraint& constraint : constraints_) {
    const std::int64_t first = std::max(begin, constraint.begin), last = std::min(end, constraint.end);
    if (first < last) apply(constraint, first - begin, last - begin, buffers);
  }
  window.emissions.f64 = buffers.emissions.f64.data();
  if (has_starts_) window.start_scores.f64 = buffers.start.f64.data();
  if (has_ends_) window.end_scores.f64 = buffers.end.f64.data();
  return window;
}

// Writes the positions of `plain` into the buffers, which begin with position `begin`.
void ConstrainedSource::fill(const ScoreWindow& plain, ScoreBuffers& buffers, std::int64_t begin) const {
  const CentredScores scores(model_, plain);
  parallel_ranges(threads_, plain.begin, plain.end, kTask, [&](std::int64_t from, std::int64_t to) {
    for (int c = 0; c < model_.num_labels; ++c) {
      const auto each = [&](std::vector<double>& values, auto score) {
        for (std::int64_t t = from; t < to; ++t) RowView(values, model_.num_labels)(t - begin, c) = score(t);
      };
      scores.of_label(c, [&](const auto& score) { each(buffers.emissions.f64, score); });
      if (has_starts_) each(buffers.start.f64, [&](std::int64_t t) { return scores.start_score(t, c); });
      if (has_ends_) each(buffers.end.f64, [&](std::int64_t t) { return scores.end_score(t, c); });
    }
  });
}

// Applies the constraint to rows [begin, end) of the buffers.
void ConstrainedSource::apply(const Constraint& constraint, std::int64_t begin, std::int64_t end,
                              ScoreBuffers& buffers) const {
  const int labels = model_.num_labels;
  const std::int64_t first = begin * labels, last = end * labels;
  std::vector<double>&emissions = buffers.emissions.f64, &starts = buffers.start.f64;
  switch (constraint.kind) {
    case Constraint::Kind::kForbidden:
      for (auto row = first; row < last; row += labels)
        for (const int c : constraint.forbidden) emissions[row + c] = kNegativeInfinity;
      break;
    case Constraint::Kind::kBoundary:
      for (auto entry = first; entry < last; ++entry) {
        emissions[entry] -= penalty_;
        starts[entry] += penalty_;
      }
      break;
    case Constraint::Kind::kNoBoundary:
      std::fill(starts.begin() + first, starts.begin() + last, kNegativeInfinity);
      break;
  }
}

namespace {

// Replaces the forbidden labels by all their roles.
std::vector<Constraint> with_all_roles(std::span<const Constraint> constraints, const EdgeRoles& roles) {
  std::vector<Constraint> result(constraints.begin(), constraints.end());
  for (Constraint& one : result) {
    std::vector<int> all;
    for (const int label : one.forbidden)
      for (int role = 0; role < roles.count(); ++role) all.push_back(label * roles.count() + role);
    one.forbidden = std::move(all);
  }
  return result;
}

}  // namespace

ConstrainedPiece::ConstrainedPiece(const ChainModel& model, ScoreSource& source, const PieceChain& chain,
                                   std::span<const Constraint> constraints, int threads, double penalty)
    : constraints_(constraints),
      threads_(threads),
      penalty_(penalty),
      source_(constrained(source, model, chain.roles)),
      chain_(chain) {
  if (chain.edges == nullptr) return;
  edges_.left = constrained(chain.edges->left);
  edges_.right = constrained(chain.edges->right);
  edges_.roles = chain.edges->roles;
  chain_.edges = &edges_;
}

EdgeWindow ConstrainedPiece::constrained(const EdgeWindow& window) {
  EdgeWindow result = window;
  if (!window.exists()) return result;
  result.scores = constrained(*window.scores, window.roles->chain(), window.roles);
  result.plain = constrained(*window.plain, window.roles->base(), nullptr);
  result.unconstrained = window.scores;
  return result;
}

std::shared_ptr<ScoreSource> ConstrainedPiece::constrained(ScoreSource& source, const ChainModel& model,
                                                           const EdgeRoles* roles) {
  std::span<const Constraint> own = constraints_;
  if (roles != nullptr) own = with_roles_.emplace_back(with_all_roles(constraints_, *roles));
  return std::make_shared<ConstrainedSource>(source, model, own, threads_, penalty_);
}

namespace {

// The penalties that are tried in turn. The smaller a penalty, the more digits are left of the scores at the
// boundary: they are known to 4e-13, 6e-11, 7e-9 and 1e-6. The first is enough where constraints have a
// probability of e^-4000 or more; the last is for scores of -1e9 that mean "impossible".
constexpr std::array kPenalties = {0x1p12, 0x1p19, 0x1p26, kLargestPenalty};
constexpr double kMargin = 45;  // nats; e^-45 is negligible against 1

}  // namespace

bool require_boundaries(Constraints constraints) {
  return std::ranges::find(constraints, Constraint::Kind::kBoundary, &Constraint::kind) != constraints.end();
}

// Segmentations that lack a boundary have, together, at most e^-penalty of the probability without
// constraints.
bool ConstraintFindings::may_lack_boundary(double log, double with_penalty) const {
  return log > kNegativeInfinity && log < kMargin - with_penalty - log_probability;
}

double ConstraintPasses::log_partition(Constraints constraints, double penalty,
                                       const ProgressCallback& progress) {
  ConstrainedPiece piece(engine_.model(), source_, chain_, constraints, threads_, penalty);
  return semicrf::log_partition(engine_, piece.source(), plan_, piece.chain(), progress);
}

double ConstraintPasses::unconstrained(const ProgressCallback& progress) {
  if (!unconstrained_) unconstrained_ = log_partition({}, 0, progress);
  return *unconstrained_;
}

// Segmentations that lack a boundary have at most e^-penalty of the probability without constraints. That is
// negligible where the probability of the constraints is larger by a factor of e^kMargin.
std::optional<ConstraintFindings> ConstraintPasses::find(Constraints constraints,
                                                         const ProgressCallback& progress) {
  const double all = unconstrained(progress);
  if (all == kNegativeInfinity) return std::nullopt;
  const bool required = require_boundaries(constraints);
  for (const double penalty : kPenalties) {
    const double found =
        log_partition(constraints, penalty, penalty == kPenalties.front() ? progress : nullptr);
    if (found == kNegativeInfinity) return std::nullopt;
    if (!required || all - found < penalty - kMargin)
      return ConstraintFindings{std::min(0.0, found - all), penalty};
  }
  return std::nullopt;
}

std::optional<std::size_t> ConstraintPasses::first_impossible(Constraints constraints) {
  if (unconstrained({}) == kNegativeInfinity) return std::nullopt;
  std::size_t possible = 0, impossible = constraints.size();
  while (impossible - possible > 1) {
    const std::size_t middle = (possible + impossible) / 2;
    (find(constraints.first(middle)) ? possible : impossible) = middle;
  }
  return impossible - 1;
}

}  // namespace semicrf
