#include "analyses/posteriors/posterior_summing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/row_view.h"
#include "core/sizes.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"

namespace semicrf {

PosteriorSumming::PosteriorSumming(const ChainModel& model, Precision precision, ScoreSource* scored,
                                   const EdgeRoles* roles, int threads)
    : labels_(model.num_labels),
      base_labels_(labels_ / (roles != nullptr ? roles->count() : 1)),
      roles_(roles),
      threads_(threads),
      score_(model, model, precision, threads),
      in_blocks_(std::vector<double>(2 * labels_ + base_labels_)) {
  constexpr std::size_t kSlabBytes = std::size_t{1} << 20;
  if (scored != nullptr) cross_.emplace(model, model, *scored, precision, threads, kSlabBytes);
  sums_.counts.shape_for(model);
  sums_.label_bins.resize(labels_);
  sums_.label_segments.resize(labels_);
  sums_.label_entropies.resize(base_labels_);
}

void PosteriorSumming::add(const PosteriorBlock& block, const ScoreWindow& scores) {
  if (cross_) {
    cross_->add(block, scores);
  } else {
    score_.add(block, scores, scores);
  }
  const auto visit = [&](std::int64_t from, std::int64_t to, std::vector<double>& sums) {
    double *const bins = sums.data(), *const segments = bins + labels_, *const entropies = segments + labels_;
    for (std::int64_t t = from; t < to; ++t) {
      const std::span<const double> labels = RowView(block.labels, labels_).row(t - block.range.begin);
      const std::span<const double> starts = RowView(block.starts, labels_).row(t - block.range.begin);
      for (std::size_t c = 0; c < labels_; ++c) {
        bins[c] += labels[c];
        segments[c] += starts[c];
      }
      for (std::size_t c = 0; c < base_labels_; ++c) {
        const double p = roles_ == nullptr ? labels[c] : roles_->of_label(labels, c);
        if (p > 0) entropies[c] -= p * std::log(p);
      }
    }
  };
  in_blocks_.add(block.range.begin, block.range.end, threads_, visit,
                 [&](const std::vector<double>& sums) { add_positions(sums); });
  const std::span<const double> last = block.labels.last(labels_);
  sums_.last_bin.assign(last.begin(), last.end());
}

void PosteriorSumming::add_positions(std::span<const double> sums) {
  for (std::vector<double>* row : {&sums_.label_bins, &sums_.label_segments, &sums_.label_entropies}) {
    for (std::size_t c = 0; c < row->size(); ++c) (*row)[c] += sums[c];
    sums = sums.subspan(row->size());
  }
}

PosteriorSums PosteriorSumming::finish(double log_partition) {
  add_positions(in_blocks_.open());
  const ExpectedScore& score = cross_ ? cross_->score() : score_;
  sums_.entropy = score.minus_expectation(log_partition, sums_.counts);
  sums_.entropy_uncertainty = score.uncertainty(sums_.counts);
  return std::move(sums_);
}

SumsWithEdges::SumsWithEdges(const Engine& engine, const PosteriorSelection& selection,
                             const WindowLoop& loop)
    : selection_(selection), loop_(loop) {
  const auto begin = [&](std::size_t place, const Engine& by, ScoreSource* scored, const EdgeRoles* roles) {
    parts_[place].emplace(by.model(), by.precision(), scored, roles, selection.threads);
  };
  const auto begin_edge = [&](std::size_t place, const EdgeWindow& edge) {
    begin(place, *edge.engine, edge.unconstrained.get(), edge.roles);
  };
  begin(1, engine, selection.scored, selection.roles);
  if (loop.first_inner() > 0) begin_edge(0, *loop.edge(0));
  if (loop.last_inner() < loop.last()) begin_edge(2, *loop.edge(loop.last()));
}

std::size_t SumsWithEdges::place(std::int64_t n) const {
  return n < loop_.first_inner() ? 0 : n <= loop_.last_inner() ? 1 : 2;
}

void SumsWithEdges::add(std::int64_t n, const PosteriorBlock& block, const ScoreWindow& scores) {
  part(n).add(block, scores);
  const std::size_t labels = block.labels.size() / block.range.size();
  if (selection_.roles != nullptr && n == 0) {
    const std::span<const double> first = block.labels.first(labels);
    first_labels_.assign(first.begin(), first.end());
  }
  if (place(n) != 2) return;
  const EdgeRoles& roles = *part(n).roles();
  into_last_.clear();
  for (std::size_t c = roles.role_of_last(); c < labels; c += roles.count())
    into_last_.push_back(std::max(0.0, block.labels[c] - block.starts[c]));
}

PosteriorSums SumsWithEdges::finish(double log_partition, std::int64_t length) {
  PosteriorSums sums = parts_[1]->finish(log_partition);
  if (selection_.roles != nullptr) {
    sums.counts = selection_.roles->fold(sums.counts);
    selection_.roles->add_whole_piece(length, first_labels_, sums.counts);
    for (std::vector<double>* rows : {&sums.label_bins, &sums.label_segments, &sums.last_bin})
      selection_.roles->fold_rows(*rows);
  }
  for (const std::size_t place : {std::size_t{0}, std::size_t{2}})
    if (parts_[place]) add_part(*parts_[place], sums);
  if (parts_[2]) add_last_segments(*parts_[2]->roles(), sums);
  // One segmentation alone has no entropy; rounding may leave less than nothing.
  sums.entropy = std::max(0.0, sums.entropy);
  return sums;
}

void SumsWithEdges::add_part(PosteriorSumming& part, PosteriorSums& sums) const {
  const EdgeRoles& roles = *part.roles();
  PosteriorSums more = part.finish(0);
  sums.counts.add(roles.fold(more.counts));
  sums.entropy += more.entropy;
  sums.entropy_uncertainty += more.entropy_uncertainty;
  for (std::vector<double>* rows : {&more.label_bins, &more.label_segments, &more.last_bin})
    roles.fold_rows(*rows);
  for (std::size_t c = 0; c < sums.label_bins.size(); ++c) {
    sums.label_bins[c] += more.label_bins[c];
    sums.label_segments[c] += more.label_segments[c];
    sums.label_entropies[c] += more.label_entropies[c];
  }
  if (&part == &*parts_[2]) sums.last_bin = std::move(more.last_bin);
}

// A last segment that began before the window at the right edge is counted there, as one that is longer than
// K. What its survival scores beyond that, -log(1-q), it gets where it enters the window.
void SumsWithEdges::add_last_segments(const EdgeRoles& roles, PosteriorSums& sums) const {
  const ChainModel& base = roles.base();
  for (std::size_t c = 0; c < into_last_.size(); ++c) {
    if (!base.has_tail() || base.log_tail[c] == kNegativeInfinity) continue;
    const double beyond = -std::log1p(-std::exp(base.log_tail[c]));
    sums.entropy -= into_last_[c] * beyond;
    sums.counts.tail[c] += into_last_[c] * std::expm1(beyond);
  }
}

bool is_certain(double entropy, double uncertainty) {
  constexpr double kNegligible = 1e-5;  // nats
  return uncertainty <= kNegligible || uncertainty <= kCertainShare * entropy;
}

Warning uncertain_entropy_warning(const std::string& what, std::int64_t pieces, double uncertainty) {
  return {"uncertain-entropy", fmt::format("{} of {} may be wrong by {:.3g} nats, because the scores are too "
                                           "large for the digits of posteriors",
                                           what, plural(pieces, "piece"), uncertainty)};
}

EngineOptions options_in_double(EngineOptions options, int threads, std::int64_t positions) {
  constexpr std::int64_t kWorthADevice = 1 << 20;  // positions
  options.precision = Precision::kDouble;
  options.threads = threads;
  options.spread_windows = false;
  if (options.backend == EngineOptions::Backend::kCuda && positions < kWorthADevice)
    options.backend = EngineOptions::Backend::kCpu;
  return options;
}

WindowPlan plan_at_least(const Engine& engine, const ScoreSource& source, const PosteriorSelection& selection,
                         std::size_t budget, EdgeLengths edges) {
  const WindowNeeds needs = posterior_needs(engine, source, selection);
  constexpr int kTries = 8;
  for (int tries = 1;; ++tries, budget *= 2) {
    try {
      return plan_windows(source.length(), engine.grid(source.length()), needs, budget, edges);
    } catch (const MemoryError&) {
      if (tries == kTries) throw;
    }
  }
}

namespace {

// The windows at the edges of a piece for an engine in double precision.
struct CertainEdges {
  EdgeWindows windows;
  std::unique_ptr<Engine> left, right;
};

// Null: the piece is too short for them.
std::unique_ptr<CertainEdges> certain_edges(const EdgeWindows& edges, EngineOptions options,
                                            const Engine& inner, std::int64_t length) {
  const EdgeLengths lengths = edge_lengths(inner, edges.roles->cut(), length);
  if (!lengths.any()) return nullptr;
  options.backend = EngineOptions::Backend::kCpu;
  auto certain = std::make_unique<CertainEdges>();
  certain->windows = resized(edges, lengths);
  const auto open = [&](EdgeWindow& window, std::unique_ptr<Engine>& engine) {
    if (!window.exists()) return;
    engine = make_engine(options, window.roles->chain());
    window.engine = engine.get();
  };
  open(certain->windows.left, certain->left);
  open(certain->windows.right, certain->right);
  return certain;
}

}  // namespace

void make_entropy_certain(const EngineOptions& options, const ChainModel& model, ScoreSource& source,
                          const PosteriorSelection& selection, std::size_t budget, PosteriorResult& result) {
  PosteriorSums& sums = *result.sums;
  if (options.precision == Precision::kDouble || is_certain(sums.entropy, sums.entropy_uncertainty)) return;
  PosteriorSelection only_sums;
  only_sums.sums = true;
  only_sums.scored = selection.scored;
  only_sums.threads = selection.threads;
  only_sums.roles = selection.roles;
  const EngineOptions in_double = options_in_double(options, selection.threads, source.length());
  const std::unique_ptr<Engine> engine = make_engine(in_double, model);
  std::unique_ptr<CertainEdges> edges;
  if (selection.edges != nullptr) {
    edges = certain_edges(*selection.edges, in_double, *engine, source.length());
    if (edges == nullptr) return;
    only_sums.edges = &edges->windows;
  }
  const WindowPlan plan = plan_at_least(*engine, source, only_sums, budget, lengths_of(only_sums.edges));
  const PosteriorResult again =
      sweep_posteriors(*engine, source, plan, only_sums, [](const PosteriorBlock&) {});
  sums.entropy = again.sums->entropy;
  sums.entropy_uncertainty = again.sums->entropy_uncertainty;
}

}  // namespace semicrf
