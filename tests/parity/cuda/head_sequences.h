// Sequences whose scores linear heads make of features, with the scores that the host makes of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "engine/engine.h"
#include "model/scores/linear_heads.h"
#include "support/models/random_heads.h"
#include "support/models/random_models.h"

namespace semicrf::testing {

struct HeadShape {
  int labels, tracks;
  double margin;
  bool subtract_position_max;
  std::vector<std::int64_t> lengths;
  bool start_weights = true;  // else the head of starts is a bias
  int max_duration = 5;
};

// One sequence: features, true labels, and the scores that the host makes of them.
template <class Score, class Feature>
struct Sequence {
  std::int64_t length = 0;
  std::vector<Feature> features;
  std::vector<int> true_labels;
  std::vector<Score> emissions, starts, ends;
};

template <class Score, class Feature = float>
class HeadCase {
 public:
  HeadCase(const HeadShape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {
    heads_.emplace(random_heads({shape.labels, shape.tracks, -2, 3, shape.start_weights}, random_));
    model_ = make_case(CaseKind::kPlain, {10, shape.max_duration, shape.labels}, seed).model;
    for (const std::int64_t length : shape.lengths) add(length);
    baseline_.assign(static_cast<std::size_t>(shape.labels), 0.125);
  }

  const ChainModel& model() const { return model_; }
  const std::vector<Sequence<Score, Feature>>& sequences() const { return sequences_; }
  const LinearHeads& heads() const { return *heads_; }
  const HeadShape& shape() const { return shape_; }

  // Windows with the host's scores, and with features in place of them.
  ScoreWindow stored(std::size_t i) const { return stored(i, 0, sequences_[i].length); }
  ScoreWindow stored(std::size_t i, std::int64_t begin, std::int64_t end) const {
    const Sequence<Score, Feature>& sequence = sequences_[i];
    ScoreWindow window = bare(begin, end, sequence.length);
    point(window.emissions, sequence.emissions, begin * shape_.labels);
    point(window.start_scores, sequence.starts, begin * shape_.labels);
    point(window.end_scores, sequence.ends, begin * shape_.labels);
    return window;
  }
  ScoreWindow projected(std::size_t i) const { return projected(i, 0, sequences_[i].length); }
  ScoreWindow projected(std::size_t i, std::int64_t begin, std::int64_t end) const {
    const Sequence<Score, Feature>& sequence = sequences_[i];
    ScoreWindow window = bare(begin, end, sequence.length);
    FeatureRows& rows = window.features;
    rows = heads_->rows_for(begin, end, sequence.length);
    point(rows.rows, sequence.features, rows.begin * shape_.tracks);
    rows.wide = sizeof(Score) == sizeof(double);
    rows.margin = shape_.margin;
    if (shape_.margin != 0) rows.true_labels = sequence.true_labels.data() + rows.begin;
    return window;
  }
  ExpectedFeatures no_sums() const {
    ExpectedFeatures sums;
    const FeatureRows tables = heads_->rows_for(0, 0, 0);
    sums.emission.shape_for(*tables.emission);
    sums.start.shape_for(*tables.start);
    sums.finish.shape_for(*tables.finish);
    sums.first.resize(static_cast<std::size_t>(shape_.labels));
    sums.last = sums.first;
    return sums;
  }

 private:
  ScoreWindow bare(std::int64_t begin, std::int64_t end, std::int64_t length) const {
    ScoreWindow window;
    window.begin = begin;
    window.end = end;
    window.length = length;
    window.baseline = baseline_;
    window.subtract_position_max = shape_.subtract_position_max;
    return window;
  }
  static void point(ScoreArray& array, const std::vector<float>& values, std::int64_t skip = 0) {
    array.f32 = values.data() + skip;
  }
  static void point(ScoreArray& array, const std::vector<double>& values, std::int64_t skip = 0) {
    array.f64 = values.data() + skip;
  }

  void add(std::int64_t length) {
    std::normal_distribution<Feature> normal;
    Sequence<Score, Feature>& sequence = sequences_.emplace_back();
    sequence.length = length;
    sequence.features.resize(static_cast<std::size_t>(length * shape_.tracks));
    // What leaks from one sequence into the next is not small.
    for (Feature& x : sequence.features) x = normal(random_) + static_cast<Feature>(sequences_.size() % 3);
    for (std::int64_t t = 0; t < length; ++t)
      sequence.true_labels.push_back(static_cast<int>(random_() % static_cast<std::uint64_t>(shape_.labels)));
    const auto labels = static_cast<std::size_t>(shape_.labels);
    const std::size_t count = static_cast<std::size_t>(length) * labels;
    for (auto* scores : {&sequence.emissions, &sequence.starts, &sequence.ends}) scores->resize(count);
    FeatureRows all = heads_->rows_for(0, length, length);
    point(all.rows, sequence.features);
    project_head(all, *all.emission, 0, length, length, sequence.emissions.data());
    project_head(all, *all.start, 0, length, length, sequence.starts.data());
    project_head(all, *all.finish, 0, length, length, sequence.ends.data());
    for (std::size_t t = 0; t < static_cast<std::size_t>(length); ++t)
      sequence.emissions[t * labels + static_cast<std::size_t>(sequence.true_labels[t])] -=
          static_cast<Score>(shape_.margin);
  }

  HeadShape shape_;
  std::mt19937_64 random_;
  std::optional<LinearHeads> heads_;
  ChainModel model_;
  std::vector<Sequence<Score, Feature>> sequences_;
  std::vector<double> baseline_;
};

}  // namespace semicrf::testing
