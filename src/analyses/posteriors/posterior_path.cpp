#include "analyses/posteriors/posterior_path.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "analyses/posteriors/posteriors.h"
#include "analyses/sequence_report.h"
#include "core/sizes.h"
#include "windows/memory_budget.h"

namespace semicrf {

namespace {

constexpr std::int64_t kBlock = 4096;  // positions of a blob

bool may_be_first(const ChainModel& model, int label) {
  if (!model.start_scores.empty() && model.start_scores[label] == kNegativeInfinity) return false;
  if (model.initial != InitialTerm::kUniform) return true;
  for (int from = 0; from < model.num_labels; ++from)
    if (model.transition_at(from, label) > kNegativeInfinity) return true;
  return false;
}

bool may_be_last(const ChainModel& model, int label) {
  return model.end_scores.empty() || model.end_scores[label] > kNegativeInfinity;
}

}  // namespace

PosteriorPathFinder::PosteriorPathFinder(const ChainModel& model, double gamma, LabelThresholds thresholds)
    : model_(model),
      gamma_(gamma),
      thresholds_(std::move(thresholds)),
      labels_(model.num_labels),
      choice_bytes_(model.num_labels <= 256 ? 1 : 2),
      best_(labels_),
      next_(best_.size()),
      ranked_(best_.size()),
      spool_(kSpoolMemory, "") {}

void PosteriorPathFinder::add(const PosteriorBlock& block) {
  for (std::int64_t t = block.range.begin; t < block.range.end; ++t) {
    const std::size_t row = (t - block.range.begin) * labels_;
    const double* const labels = block.labels.data() + row;
    const double* const gained = rewards(labels);
    if (t == 0) {
      begin(labels, gained);
    } else {
      step(labels, gained, block.starts.data() + row);
    }
    centre();
    if (++positions_ % kBlock == 0) close_block();
  }
}

// What every label adds to the path's value at a position.
const double* PosteriorPathFinder::rewards(const double* labels) {
  if (thresholds_.empty()) return labels;
  rewards_.assign(labels, labels + labels_);
  for (const auto& [label, least] : thresholds_) rewards_[label] += labels[label] >= least ? 1 : -1;
  return rewards_.data();
}

void PosteriorPathFinder::begin(const double* labels, const double* rewards) {
  for (int c = 0; c < labels_; ++c) {
    best_[c] = {may_be_first(model_, c) ? rewards[c] : kNegativeInfinity, labels[c], 0};
    keep(c);  // never asked for
  }
}

void PosteriorPathFinder::step(const double* labels, const double* rewards, const double* starts) {
  rank();
  for (int c = 0; c < labels_; ++c) {
    const double reward = gamma_ * starts[c];
    const int before = best_before(c, reward);
    const Best& from = best_[before];
    Best& to = next_[c];
    to = {from.value + rewards[c], from.bins + labels[c], from.starts};
    if (before != c) {
      to.value = (from.value + reward) + rewards[c];
      to.starts += starts[c];
    }
    keep(before);
  }
  std::swap(best_, next_);
}

void PosteriorPathFinder::rank() {
  std::iota(ranked_.begin(), ranked_.end(), 0);
  std::ranges::sort(ranked_, [&](int a, int b) {
    const double of_a = best_[a].value;
    const double of_b = best_[b].value;
    return of_a != of_b ? of_a > of_b : a < b;
  });
}

// The best label before `label`, mostly one of the first two ranks. `reward`: what a boundary between them
// adds.
int PosteriorPathFinder::best_before(int label, double reward) const {
  const auto other = std::ranges::find_if(ranked_, [&](int from) {
    return from != label && model_.transition_at(from, label) > kNegativeInfinity;
  });
  if (other == ranked_.end()) return label;
  const double stay = best_[label].value;
  const double change = best_[*other].value + reward;
  if (stay == change) return std::min(label, *other);
  return stay > change ? label : *other;
}

// Values stay small, and keep their digits, however long the sequence is.
void PosteriorPathFinder::centre() {
  const double most = std::ranges::max_element(best_, {}, &Best::value)->value;
  for (Best& best : best_) best.value -= most;
}

void PosteriorPathFinder::keep(int label) {
  choices_.push_back(static_cast<std::byte>(label & 0xff));
  if (choice_bytes_ > 1) choices_.push_back(static_cast<std::byte>(label >> 8));
}

void PosteriorPathFinder::close_block() {
  spool_.append(choices_);
  choices_.clear();
}

// The label before `position` of the best labels that end with `label` there.
int PosteriorPathFinder::choice(std::int64_t position, int label) {
  const std::int64_t block = position / kBlock;
  if (block != loaded_) {
    loaded_ = block;
    choices_.resize(spool_.blob_size(block));
    spool_.read(block, choices_);
  }
  const std::size_t at = (position % kBlock * labels_ + label) * choice_bytes_;
  const int low = std::to_integer<int>(choices_[at]);
  return choice_bytes_ == 1 ? low : low | std::to_integer<int>(choices_[at + 1]) << 8;
}

PosteriorPath PosteriorPathFinder::finish() {
  if (!choices_.empty()) close_block();
  int label = -1;
  for (int c = 0; c < labels_; ++c) {
    if (!may_be_last(model_, c)) continue;
    if (label < 0 || best_[c].value > best_[label].value) label = c;
  }
  PosteriorPath path;
  path.expected_correct_bins = best_[label].bins;
  path.expected_correct_boundaries = best_[label].starts;
  std::int64_t end = positions_;
  for (std::int64_t t = positions_ - 1; t >= 0; --t) {
    const int before = t > 0 ? choice(t, label) : -1;
    if (before == label) continue;
    const Segment segment{t, end, label};
    path.segments.append_reversed({&segment, 1});
    end = t;
    label = before;
  }
  return path;
}

PosteriorSelection PosteriorDecoding::selection(const PieceChain& chain, int threads) const {
  PosteriorSelection selection;
  selection.labels = selection.starts = true;
  selection.sums = sums_;
  selection.threads = threads;
  selection.roles = chain.roles;
  selection.edges = chain.edges;
  return selection;
}

WindowNeeds PosteriorDecoding::needs(const Engine& engine, const ScoreSource& source,
                                     const PieceChain& chain) const {
  return posterior_needs(engine, source, selection(chain, 1));
}

void PosteriorDecoding::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                            const BlockSink&) const {
  PosteriorPathFinder finder(context.model(), gamma_, thresholds_);
  PosteriorResult posteriors = sweep_certainly(context, plan, selection(context.chain, context.threads),
                                               [&](const PosteriorBlock& block) { finder.add(block); });
  result.feasible = posteriors.feasible;
  if (!posteriors.feasible) return;
  const auto& found = result.put(PosteriorDecodingResult{std::move(posteriors), finder.finish()});
  result.set_path(found.decoded.segments);
}

void PosteriorDecoding::run_together(const PiecesContext& context, std::span<PieceResult> results) const {
  std::vector<std::unique_ptr<PosteriorPathFinder>> finders;
  finders.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    finders.push_back(std::make_unique<PosteriorPathFinder>(context.engine.model(), gamma_, thresholds_));
  const std::vector<PosteriorSelection> selections(results.size(), selection({}, 1));
  const IndexedPosteriorSink find = [&](std::size_t i, const PosteriorBlock& block) {
    finders[i]->add(block);
    auto& found = results[i].put(PosteriorDecodingResult{{}, finders[i]->finish()});
    results[i].set_path(found.decoded.segments);
    finders[i].reset();
  };
  std::vector<PosteriorResult> swept =
      posteriors_together(context.engine, context.pieces, selections, find, context.threads);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].feasible = swept[i].feasible;
    if (auto* const found = results[i].find<PosteriorDecodingResult>())
      found->posteriors = std::move(swept[i]);
  }
}

void PosteriorDecoding::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto& found = piece.result.get<PosteriorDecodingResult>();
  accumulate(report.stats.expected_correct_bins, found.decoded.expected_correct_bins);
  accumulate(report.stats.expected_correct_boundaries, found.decoded.expected_correct_boundaries);
  report.add_totals(found.posteriors, 2, piece);
  // Posteriors for the outputs have a sweep of their own, which says the same.
  if (piece.result.find<PosteriorResult>() == nullptr) report.add_posteriors(found.posteriors, piece);
}

void PosteriorDecoding::record_infeasible(SequenceReport& report) const { report.add_no_log_partition(); }

}  // namespace semicrf
