#include "train/objective/piece_batch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/threads/parallel.h"
#include "model/scores/densities.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "train/data/true_path.h"
#include "train/objective/allowed_scores.h"
#include "train/objective/density_gradient.h"

namespace semicrf {
namespace {

constexpr std::int64_t kScoredTogether = 1 << 12;  // positions per task of a thread

}  // namespace

PieceBatch::PieceBatch(Setup setup) : setup_(std::move(setup)), works_(setup_.pieces.size()) {
  if (setup_.project && setup_.with_gradient) make_groups();
}

WantedHeads PieceBatch::wanted_heads() const {
  const bool boundary = setup_.options.boundary;
  return {setup_.options.emissions, boundary && setup_.heads.has_start(), boundary && setup_.heads.has_end()};
}

void PieceBatch::make_groups() {
  ExpectedFeatures empty;
  const FeatureRows heads = setup_.heads.rows_for(0, 0, 0);
  const WantedHeads wanted = wanted_heads();
  if (wanted.emission) empty.emission.shape_for(*heads.emission);
  if (wanted.start) empty.start.shape_for(*heads.start);
  if (wanted.finish) empty.finish.shape_for(*heads.finish);
  empty.first.resize(heads.emission->bias.size());
  empty.last = empty.first;
  for (std::size_t shard = 0; shard < setup_.shard_ends.size(); ++shard) {
    const std::size_t begin = setup_.shard_begin(shard);
    for (std::size_t i = begin; i < setup_.shard_ends[shard]; ++i) {
      const TrainingPiece* const piece = setup_.pieces[i];
      if (i == begin || (is_centred() && piece->feature_mean != groups_.back().first->feature_mean))
        groups_.push_back({empty, piece});
      works_[i].group = groups_.size() - 1;
    }
  }
}

double PieceBatch::prepare(std::size_t i, int threads) {
  Work& work = works_[i];
  const TrainingPiece& piece = *setup_.pieces[i];
  if (is_centred()) work.baseline = setup_.heads.mean_emissions(piece.feature_mean);
  ScoreWindow& window = work.window;
  window.end = window.length = piece.length;
  window.baseline = work.baseline;
  window.subtract_position_max = setup_.parameters.centering == Centering::kPositionMax;
  if (setup_.densities != nullptr) {
    score_densities(piece, threads, work);
  } else {
    project(piece, threads, work);
  }
  if (!setup_.project) {
    if (!piece.start_scores.empty()) window.start_scores.f32 = piece.start_scores.data();
    if (!piece.end_scores.empty()) window.end_scores.f32 = piece.end_scores.data();
  }
  const ChainModel& base = setup_.parameters.chain;
  if (setup_.sum == Sum::kAllowed) {
    window = allowed_scores(window, base, piece.evidence, threads, setup_.penalty, work.allowed);
    work.scores = {};
  }
  if (setup_.has_role_chain) {
    window = with_edge_roles(window, *setup_.roles, work.with_roles, work.roles_baseline);
    work.scores = {};
    work.allowed = {};
  }
  if (!takes_truth(piece)) return 0;
  if (setup_.roles == nullptr) return true_score(base, window, piece, threads);
  return true_score(*setup_.roles, window, setup_.has_role_chain, piece, threads);
}

// Scores of the log densities of the tracks.
void PieceBatch::score_densities(const TrainingPiece& piece, int threads, Work& work) const {
  const DensityScores& densities = *setup_.densities;
  const std::size_t labels = setup_.parameters.num_labels();
  const auto fill = [&](auto& scores) {
    resize_large(scores, piece.length * labels);
    parallel_ranges(threads, 0, piece.length, kScoredTogether, [&](std::int64_t from, std::int64_t to) {
      std::vector<double> features;
      for (std::int64_t t = from; t < to; ++t)
        densities.score(piece.features.data() + t * densities.inputs(), features, scores.data() + t * labels);
    });
  };
  if (setup_.precision == Precision::kDouble) {
    fill(work.scores.emissions.f64);
    work.window.emissions.f64 = work.scores.emissions.f64.data();
  } else {
    fill(work.scores.emissions.f32);
    work.window.emissions.f32 = work.scores.emissions.f32.data();
  }
}

// Features for the heads, or scores that the heads make of them.
void PieceBatch::project(const TrainingPiece& piece, int threads, Work& work) const {
  ScoreWindow& window = work.window;
  window.features = setup_.heads.rows_for(0, piece.length, piece.length);
  window.features.rows.f32 = piece.features.data();
  window.features.wide = setup_.precision == Precision::kDouble;
  if (setup_.options.margin != 0) {
    work.true_labels.assign(piece.length, kNoLabel);
    for (const Segment& segment : piece.segments)
      std::fill(work.true_labels.begin() + segment.begin, work.true_labels.begin() + segment.end,
                segment.label);
    window.features.margin = setup_.options.margin;
    window.features.true_labels = work.true_labels.data();
  }
  if (!setup_.project) {
    const bool repeats =
        piece.repeats() && setup_.options.margin == 0 && !setup_.heads.has_start() && !setup_.heads.has_end();
    window = repeats
                 ? project_repeated(
                       window, {piece.patterns->rows.data(), piece.patterns->count, piece.pattern_of.data()},
                       threads, work.scores)
                 : project_on_host(window, threads, work.scores);
    work.true_labels = {};  // the scores have the margin; posteriors need the room
  }
}

PosteriorArrays PieceBatch::wanted(Work& work) {
  PosteriorArrays arrays;
  arrays.sums = false;
  if (setup_.project) {
    arrays.features = &groups_[work.group].sums;
    return arrays;
  }
  const WantedHeads heads = wanted_heads();
  const auto room = [&](std::vector<double>& rows, bool is_wanted) -> double* {
    if (!is_wanted) return nullptr;
    rows.resize(work.window.length * setup_.parameters.num_labels() *
                (setup_.has_role_chain ? setup_.roles->count() : 1));
    return rows.data();
  };
  arrays.labels = room(work.cover, true);
  arrays.starts = room(work.starts, heads.start);
  arrays.ends = room(work.ends, heads.finish);
  return arrays;
}

std::vector<SequenceResult> PieceBatch::ask(Engine& engine, ExpectedCounts& counts) {
  std::vector<ScoreWindow> windows;
  std::vector<PosteriorArrays> out;
  for (Work& work : works_) {
    windows.push_back(work.window);
    if (setup_.with_gradient) out.push_back(wanted(work));
  }
  return setup_.with_gradient ? engine.batches().posteriors_of(windows, out, &counts)
                              : engine.batches().log_partitions(windows);
}

std::vector<SequencePath> PieceBatch::paths(Engine& engine) {
  std::vector<ScoreWindow> windows;
  windows.reserve(works_.size());
  for (const Work& work : works_) windows.push_back(work.window);
  std::vector<SequencePath> paths = engine.batches().viterbi_of(windows);
  for (SequencePath& path : paths)
    for (Segment& segment : path.reversed)
      if (setup_.roles != nullptr) segment.label = setup_.roles->label_of(segment.label);
  return paths;
}

void PieceBatch::add_gradient(std::size_t shard, int threads, ParameterGradient& gradient) {
  if (setup_.roles != nullptr) add_edges(shard, gradient);
  std::optional<std::size_t> added;
  for (std::size_t i = setup_.shard_begin(shard); i < setup_.shard_ends[shard]; ++i) {
    const TrainingPiece& piece = *setup_.pieces[i];
    Work& work = works_[i];
    if (!setup_.project) {
      add_posteriors(piece, work, threads, gradient);
      if (!setup_.posteriors.empty()) setup_.posteriors[i]->assign(work.cover.begin(), work.cover.end());
      continue;
    }
    if (added != work.group) add_sums(groups_[work.group], gradient);
    added = work.group;
    if (!takes_truth(piece)) continue;
    take_true_counts(piece, gradient);
    take_true_features(setup_.parameters, piece, wanted_heads(), threads, gradient);
  }
}

// Pieces that were cut: less what their true segments count. An engine with the chain of roles also gives
// what its expected counts lack; and its posteriors become those of the model's labels.
void PieceBatch::add_edges(std::size_t shard, ParameterGradient& gradient) {
  const EdgeRoles& roles = *setup_.roles;
  const std::size_t width = roles.chain().num_labels;
  ExpectedCounts truth, lacking;
  truth.shape_for(roles.chain());
  lacking.shape_for(roles.base());
  for (std::size_t i = setup_.shard_begin(shard); i < setup_.shard_ends[shard]; ++i) {
    const TrainingPiece& piece = *setup_.pieces[i];
    Work& work = works_[i];
    std::vector<double> whole(width);
    if (setup_.has_role_chain) {
      std::copy_n(work.cover.begin(), width, whole.begin());
      hide_starts_and_ends(piece, work, width);
      for (std::vector<double>* rows : {&work.cover, &work.starts, &work.ends}) roles.fold_rows(*rows);
    }
    if (takes_truth(piece)) {
      add_true_counts(roles, piece, -1, truth);
      if (piece.segments.size() == 1) whole[roles.with_role(piece.segments.front(), piece.length)] -= 1;
    }
    roles.add_whole_piece(piece.length, whole, lacking);
  }
  add_counts(roles.fold(truth), gradient);
  add_counts(lacking, gradient);
}

// No head scores what a cut hides. Rows have `width` entries.
void PieceBatch::hide_starts_and_ends(const TrainingPiece& piece, Work& work, std::size_t width) {
  const auto row = static_cast<std::ptrdiff_t>(width);
  if (piece.cut.left && !work.starts.empty()) std::fill_n(work.starts.begin(), row, 0.0);
  if (piece.cut.right && !work.ends.empty()) std::fill_n(work.ends.end() - row, row, 0.0);
}

// Whatever covers the first position of a piece starts there.
void PieceBatch::add_sums(const Group& group, ParameterGradient& gradient) const {
  for (std::size_t c = 0; c < gradient.start.size(); ++c) {
    gradient.start[c] += group.sums.first[c];
    gradient.end[c] += group.sums.last[c];
  }
  add_expected_features(setup_.parameters, group.sums, group.first->feature_mean, gradient);
}

// What the true segments count, but for the roles of cut pieces, which have counts of their own.
void PieceBatch::take_true_counts(const TrainingPiece& piece, ParameterGradient& gradient) const {
  if (setup_.roles == nullptr) {
    add_true_counts(setup_.parameters.chain, piece, -1, gradient);
  } else {
    gradient.start[piece.segments.front().label] -= 1;
    gradient.end[piece.segments.back().label] -= 1;
  }
}

// The true segments are taken from the posteriors before these are multiplied with features: most derivatives
// are small then, and skipped.
void PieceBatch::add_posteriors(const TrainingPiece& piece, Work& work, int threads,
                                ParameterGradient& gradient) const {
  const std::size_t labels = gradient.start.size();
  for (std::size_t c = 0; c < labels; ++c) {
    gradient.start[c] += work.cover[c];
    gradient.end[c] += work.cover[work.cover.size() - labels + c];
  }
  if (!setup_.posteriors.empty()) {
    for (std::size_t i = 0; i < work.cover.size(); ++i) gradient.bias[i % labels] += work.cover[i];
    return;
  }
  if (takes_truth(piece)) take_truth(piece, work, gradient);
  if (setup_.densities != nullptr) {
    if (setup_.density_gradient != nullptr)
      setup_.density_gradient->add(piece, work.cover.data(), threads, gradient);
    return;
  }
  const auto rows = [](const std::vector<double>& list) { return list.empty() ? nullptr : list.data(); };
  add_head_gradient(
      setup_.parameters, piece,
      {setup_.options.emissions ? work.cover.data() : nullptr, rows(work.starts), rows(work.ends)}, threads,
      gradient);
}

// What the true segments count, and what they add to the rows of posteriors.
void PieceBatch::take_truth(const TrainingPiece& piece, Work& work, ParameterGradient& gradient) const {
  const std::size_t labels = gradient.start.size();
  take_true_counts(piece, gradient);
  for (const Segment& segment : piece.segments) {
    const std::size_t c = segment.label;
    const std::size_t first = segment.begin * labels + c;
    const std::size_t last = (segment.end - 1) * labels + c;
    for (std::size_t i = first; i <= last; i += labels) work.cover[i] -= 1;
    const bool starts_here = !piece.cut.left || segment.begin > 0;
    const bool ends_here = !piece.cut.right || segment.end < piece.length;
    if (!work.starts.empty() && starts_here) work.starts[first] -= 1;
    if (!work.ends.empty() && ends_here) work.ends[last] -= 1;
  }
}

}  // namespace semicrf
