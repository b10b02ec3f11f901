// Features in place of scores, and a gradient made of sums over positions.
#include <algorithm>
#include <optional>

#include "train/objective/head_gradient.h"
#include "train/objective/piece_batch.h"
#include "train/data/true_path.h"

namespace semicrf {
namespace {

class DeviceHeads final : public PieceBatch {
 public:
  explicit DeviceHeads(BatchSetup setup) : setup_(std::move(setup)), works_(setup_.pieces.size()) {
    if (setup_.with_gradient) make_groups();
  }

  void prepare(std::size_t i, int) override {
    Work& work = works_[i];
    const TrainingPiece& piece = *setup_.pieces[i];
    const Parameters& parameters = setup_.parameters;
    if (is_centred()) work.baseline = setup_.heads.mean_emissions(piece.feature_mean);
    ScoreWindow& window = work.window;
    window.end = window.length = piece.length;
    window.baseline = work.baseline;
    window.subtract_position_max = parameters.centering == Centering::kPositionMax;
    FeatureRows& features = window.features;
    features.rows.f32 = piece.features.data();
    features.end = piece.length;
    features.tracks = setup_.heads.num_tracks();
    features.wide = setup_.precision == Precision::kDouble;
    features.emission = setup_.heads.emission_table();
    features.start = setup_.heads.start_table();
    features.finish = setup_.heads.end_table();
    if (setup_.options.margin == 0) return;
    work.true_labels.resize(static_cast<std::size_t>(piece.length));
    for (const Segment& segment : piece.segments)
      std::fill(work.true_labels.begin() + segment.begin, work.true_labels.begin() + segment.end,
                segment.label);
    features.margin = setup_.options.margin;
    features.true_labels = work.true_labels.data();
  }

  const ScoreWindow& window(std::size_t i) const override { return works_[i].window; }

  PosteriorArrays wanted(std::size_t i) override {
    PosteriorArrays arrays;
    arrays.features = &groups_[works_[i].group].sums;
    return arrays;
  }

  void add_gradient(std::size_t shard, int threads, ParameterGradient& gradient) override {
    std::optional<std::size_t> added;
    for (std::size_t i = setup_.shard_begin(shard); i < setup_.shard_ends[shard]; ++i) {
      const std::size_t group = works_[i].group;
      if (added != group) add_sums(groups_[group], gradient);
      added = group;
      add_true_counts(setup_.parameters.chain, *setup_.pieces[i], -1, gradient);
      take_true_features(setup_.parameters, *setup_.pieces[i], wanted_heads(), threads, gradient);
    }
  }

 private:
  struct Work {
    std::vector<double> baseline;
    std::vector<int> true_labels;  // (T)
    ScoreWindow window;
    std::size_t group = 0;
  };
  // Consecutive pieces of a shard with the same mean of the features: what centring takes from a feature is
  // the same for all of them.
  struct Group {
    ExpectedFeatures sums;
    const std::vector<double>* feature_mean;
  };

  bool is_centred() const { return setup_.parameters.centering == Centering::kMean; }
  WantedHeads wanted_heads() const {
    const bool boundary = setup_.options.boundary;
    return {setup_.options.emissions, boundary && setup_.heads.has_start(),
            boundary && setup_.heads.has_end()};
  }

  void make_groups() {
    for (std::size_t shard = 0; shard < setup_.shard_ends.size(); ++shard) {
      const std::size_t begin = setup_.shard_begin(shard);
      for (std::size_t i = begin; i < setup_.shard_ends[shard]; ++i) {
        const std::vector<double>& mean = setup_.pieces[i]->feature_mean;
        if (i == begin || (is_centred() && mean != *groups_.back().feature_mean))
          groups_.push_back({empty_sums(), &mean});
        works_[i].group = groups_.size() - 1;
      }
    }
  }

  ExpectedFeatures empty_sums() const {
    const WantedHeads wanted = wanted_heads();
    ExpectedFeatures sums;
    if (wanted.emission) sums.emission.shape_for(*setup_.heads.emission_table());
    if (wanted.start) sums.start.shape_for(*setup_.heads.start_table());
    if (wanted.finish) sums.finish.shape_for(*setup_.heads.end_table());
    sums.first.resize(static_cast<std::size_t>(setup_.parameters.num_labels()));
    sums.last = sums.first;
    return sums;
  }

  // Whatever covers the first position of a piece starts there.
  void add_sums(const Group& group, ParameterGradient& gradient) const {
    for (std::size_t c = 0; c < gradient.start.size(); ++c) {
      gradient.start[c] += group.sums.first[c];
      gradient.end[c] += group.sums.last[c];
    }
    add_expected_features(setup_.parameters, group.sums, *group.feature_mean, gradient);
  }

  BatchSetup setup_;
  std::vector<Work> works_;
  std::vector<Group> groups_;
};

}  // namespace

std::unique_ptr<PieceBatch> batch_with_device_heads(BatchSetup setup) {
  return std::make_unique<DeviceHeads>(std::move(setup));
}

}  // namespace semicrf
