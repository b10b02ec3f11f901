#include "train/objective/piece_batch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/host_projection.h"
#include "train/data/true_path.h"

namespace semicrf {

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
  empty.first.resize(static_cast<std::size_t>(setup_.parameters.num_labels()));
  empty.last = empty.first;
  for (std::size_t shard = 0; shard < setup_.shard_ends.size(); ++shard) {
    const std::size_t begin = setup_.shard_begin(shard);
    for (std::size_t i = begin; i < setup_.shard_ends[shard]; ++i) {
      const std::vector<double>& mean = setup_.pieces[i]->feature_mean;
      if (i == begin || (is_centred() && mean != *groups_.back().feature_mean))
        groups_.push_back({empty, &mean});
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
  window.features = setup_.heads.rows_for(0, piece.length, piece.length);
  window.features.rows.f32 = piece.features.data();
  window.features.wide = setup_.precision == Precision::kDouble;
  if (setup_.options.margin != 0) {
    work.true_labels.resize(static_cast<std::size_t>(piece.length));
    for (const Segment& segment : piece.segments)
      std::fill(work.true_labels.begin() + segment.begin, work.true_labels.begin() + segment.end,
                segment.label);
    window.features.margin = setup_.options.margin;
    window.features.true_labels = work.true_labels.data();
  }
  if (!setup_.project) {
    window = project_on_host(window, threads, work.scores);
    work.true_labels = {};  // the scores have the margin; posteriors need the room
  }
  return true_score(setup_.parameters.chain, window, piece, threads);
}

PosteriorArrays PieceBatch::wanted(Work& work) {
  PosteriorArrays arrays;
  if (setup_.project) {
    arrays.features = &groups_[work.group].sums;
    return arrays;
  }
  const WantedHeads heads = wanted_heads();
  const auto room = [&](std::vector<double>& rows, bool is_wanted) {
    if (!is_wanted) return static_cast<double*>(nullptr);
    rows.resize(static_cast<std::size_t>(work.window.length) *
                static_cast<std::size_t>(setup_.parameters.num_labels()));
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
  for (const Work& work : works_) windows.push_back(work.window);
  return engine.batches().viterbi_of(windows);
}

void PieceBatch::add_gradient(std::size_t shard, int threads, ParameterGradient& gradient) {
  std::optional<std::size_t> added;
  for (std::size_t i = setup_.shard_begin(shard); i < setup_.shard_ends[shard]; ++i) {
    const TrainingPiece& piece = *setup_.pieces[i];
    Work& work = works_[i];
    if (!setup_.project) {
      add_posteriors(piece, work, threads, gradient);
      continue;
    }
    if (added != work.group) add_sums(groups_[work.group], gradient);
    added = work.group;
    add_true_counts(setup_.parameters.chain, piece, -1, gradient);
    take_true_features(setup_.parameters, piece, wanted_heads(), threads, gradient);
  }
}

// Whatever covers the first position of a piece starts there.
void PieceBatch::add_sums(const Group& group, ParameterGradient& gradient) const {
  for (std::size_t c = 0; c < gradient.start.size(); ++c) {
    gradient.start[c] += group.sums.first[c];
    gradient.end[c] += group.sums.last[c];
  }
  add_expected_features(setup_.parameters, group.sums, *group.feature_mean, gradient);
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
  add_true_counts(setup_.parameters.chain, piece, -1, gradient);
  for (const Segment& segment : piece.segments) {
    const auto c = static_cast<std::size_t>(segment.label);
    const std::size_t first = static_cast<std::size_t>(segment.begin) * labels + c;
    const std::size_t last = static_cast<std::size_t>(segment.end - 1) * labels + c;
    for (std::size_t i = first; i <= last; i += labels) work.cover[i] -= 1;
    if (!work.starts.empty()) work.starts[first] -= 1;
    if (!work.ends.empty()) work.ends[last] -= 1;
  }
  const auto rows = [](const std::vector<double>& list) { return list.empty() ? nullptr : list.data(); };
  add_head_gradient(
      setup_.parameters, piece,
      {setup_.options.emissions ? work.cover.data() : nullptr, rows(work.starts), rows(work.ends)}, threads,
      gradient);
}

}  // namespace semicrf
