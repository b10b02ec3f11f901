#include "learn/cluster_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "core/sizes.h"
#include "pipeline/inputs/random_stream.h"

namespace semicrf {
namespace {

constexpr std::int64_t kSampleBins = 20'000;
constexpr int kLloydIterations = 25;
constexpr double kBlur = 0.1;

// Numbers that depend on the seed and on how many were drawn before.
class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : stream_(sequence_key(seed, "learn"), kDrawPurpose) {}
  double uniform() { return stream_.uniforms(next_++)[0]; }
  std::int64_t below(std::int64_t n) {
    return std::min(n - 1, static_cast<std::int64_t>(uniform() * static_cast<double>(n)));
  }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

using Rows = std::vector<double>;  // (n, F)

class Clustering {
 public:
  Clustering(const TrainingData& data, Drawing& draw) : data_(data), columns_(wide(data.num_tracks)) {
    fit_scales();
    const std::int64_t positions = data.positions(), count = std::min(positions, kSampleBins);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::span<const float> row = bin(count == positions ? i : draw.below(positions));
      for (std::size_t f = 0; f < columns_; ++f) sample_.push_back(static_cast<double>(row[f]) * scale_[f]);
    }
  }

  // Means of the bins with one known label, for labels below `known` that have such bins.
  void fix_centres(int labels, int known) {
    centres_.assign(wide(labels) * columns_, 0);
    is_fixed_.assign(wide(labels), false);
    std::vector<double> bins(wide(labels));
    for (const TrainingPiece& piece : data_.pieces)
      for (const LabelEvidence& one : piece.evidence) {
        if (one.labels.size() != 1 || one.labels.front() >= known) continue;
        const std::size_t c = wide(one.labels.front());
        bins[c] += static_cast<double>(one.end - one.begin);
        for (std::int64_t t = one.begin; t < one.end; ++t)
          for (std::size_t f = 0; f < columns_; ++f)
            centres_[c * columns_ + f] +=
                static_cast<double>(piece.features[static_cast<std::size_t>(t) * columns_ + f]) * scale_[f];
      }
    for (std::size_t c = 0; c < wide(labels); ++c) {
      if (bins[c] == 0) continue;
      is_fixed_[c] = true;
      for (std::size_t f = 0; f < columns_; ++f) centres_[c * columns_ + f] /= bins[c];
    }
  }

  // The others: bins of the sample, each with a probability as its squared distance from the centres so far
  // (k-means++).
  void choose_centres(LearnStart start, Drawing& draw) {
    const std::size_t count = sample_.size() / columns_;
    std::vector<double> distance(count, std::numeric_limits<double>::infinity());
    const auto see = [&](std::size_t c) {
      for (std::size_t i = 0; i < count; ++i)
        distance[i] = std::min(distance[i], squared_distance(sample_.data() + i * columns_, c));
    };
    bool first = true;
    for (std::size_t c = 0; c < is_fixed_.size(); ++c)
      if (is_fixed_[c]) {
        see(c);
        first = false;
      }
    for (std::size_t c = 0; c < is_fixed_.size(); ++c) {
      if (is_fixed_[c]) continue;
      if (first) std::ranges::fill(distance, 1.0);
      double total = 0;
      for (const double d : distance) total += d;
      std::size_t chosen = static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(count)));
      if (total > 0 && start == LearnStart::kKMeans) {
        double left = draw.uniform() * total;
        for (chosen = 0; chosen + 1 < count && left >= distance[chosen]; ++chosen) left -= distance[chosen];
      }
      std::copy_n(sample_.begin() + static_cast<std::ptrdiff_t>(chosen * columns_), columns_,
                  centres_.begin() + static_cast<std::ptrdiff_t>(c * columns_));
      if (first) std::ranges::fill(distance, std::numeric_limits<double>::infinity());
      first = false;
      see(c);
    }
  }

  void move_centres() {
    const std::size_t count = sample_.size() / columns_, labels = centres_.size() / columns_;
    for (int iteration = 0; iteration < kLloydIterations; ++iteration) {
      Rows sums(centres_.size());
      std::vector<double> sizes(labels);
      for (std::size_t i = 0; i < count; ++i) {
        const double* row = sample_.data() + i * columns_;
        const std::size_t c = nearest(row);
        sizes[c] += 1;
        for (std::size_t f = 0; f < columns_; ++f) sums[c * columns_ + f] += row[f];
      }
      for (std::size_t c = 0; c < labels; ++c)
        for (std::size_t f = 0; f < columns_ && sizes[c] > 0 && !is_fixed_[c]; ++f)
          centres_[c * columns_ + f] = sums[c * columns_ + f] / sizes[c];
    }
  }

  std::vector<int> label_all() const {
    std::vector<int> labels;
    Rows row(columns_);
    for (const TrainingPiece& piece : data_.pieces) {
      auto known = piece.evidence.begin();
      for (std::int64_t t = 0; t < piece.length; ++t) {
        while (known != piece.evidence.end() && known->end <= t) ++known;
        const bool is_free = known == piece.evidence.end() || known->is_free();
        for (std::size_t f = 0; f < columns_; ++f)
          row[f] =
              static_cast<double>(piece.features[static_cast<std::size_t>(t) * columns_ + f]) * scale_[f];
        labels.push_back(
            static_cast<int>(is_free ? nearest(row.data()) : nearest(row.data(), known->labels)));
      }
    }
    return labels;
  }

 private:
  // 1 / standard deviation; constant columns and absences do not count.
  void fit_scales() {
    std::vector<double> sum(columns_), squares(columns_);
    for (const TrainingPiece& piece : data_.pieces)
      for (std::size_t i = 0; i < piece.features.size(); ++i) {
        const auto value = static_cast<double>(piece.features[i]);
        sum[i % columns_] += value;
        squares[i % columns_] += value * value;
      }
    const auto bins = static_cast<double>(data_.positions());
    for (std::size_t f = 0; f < columns_; ++f) {
      const double mean = sum[f] / bins, variance = squares[f] / bins - mean * mean;
      scale_.push_back(variance > 1e-12 * mean * mean && variance > 0 ? 1 / std::sqrt(variance) : 0);
    }
    std::fill(scale_.end() - static_cast<std::ptrdiff_t>(data_.absence_of.size()), scale_.end(), 0.0);
  }

  std::span<const float> bin(std::int64_t number) const {
    for (const TrainingPiece& piece : data_.pieces) {
      if (number < piece.length)
        return std::span(piece.features).subspan(static_cast<std::size_t>(number) * columns_, columns_);
      number -= piece.length;
    }
    return {};
  }

  double squared_distance(const double* row, std::size_t centre) const {
    double sum = 0;
    for (std::size_t f = 0; f < columns_; ++f) {
      const double d = row[f] - centres_[centre * columns_ + f];
      sum += d * d;
    }
    return sum;
  }

  std::size_t nearest(const double* row) const {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c * columns_ < centres_.size(); ++c)
      if (const double d = squared_distance(row, c); d < least) {
        least = d;
        best = c;
      }
    return best;
  }

  std::size_t nearest(const double* row, const std::vector<int>& among) const {
    return wide(
        *std::ranges::min_element(among, {}, [&](int label) { return squared_distance(row, wide(label)); }));
  }

  const TrainingData& data_;
  std::size_t columns_;
  std::vector<double> scale_;
  Rows sample_, centres_;
  std::vector<bool> is_fixed_;  // of centres
};

}  // namespace

std::vector<int> cluster_bins(const TrainingData& data, int labels, int known, LearnStart start,
                              std::uint64_t seed) {
  Drawing draw(seed);
  Clustering clustering(data, draw);
  clustering.fix_centres(labels, known);
  clustering.choose_centres(start, draw);
  if (start == LearnStart::kKMeans) clustering.move_centres();
  return clustering.label_all();
}

FirstModel first_model(const TrainingData& data, int labels, const std::vector<int>& clusters,
                       const SegmentLaw& law, Emissions& emissions) {
  const std::size_t columns = wide(data.num_tracks), count = wide(labels);
  EmissionSums sums{std::vector<double>(count), std::vector<double>(count * columns)};
  std::vector<double> all(columns);
  std::size_t bin = 0, runs = 0;
  for (const TrainingPiece& piece : data.pieces)
    for (std::size_t t = 0; t < static_cast<std::size_t>(piece.length); ++t, ++bin) {
      const std::size_t c = wide(clusters[bin]);
      if (t == 0 || clusters[bin] != clusters[bin - 1]) ++runs;
      sums.bins[c] += 1;
      for (std::size_t f = 0; f < columns; ++f) {
        const auto value = static_cast<double>(piece.features[t * columns + f]);
        sums.features[c * columns + f] += value;
        all[f] += value;
      }
    }
  const auto bins = static_cast<double>(bin);
  for (std::size_t c = 0; c < count; ++c) {
    const double more = kBlur * std::max(1.0, sums.bins[c]);
    sums.bins[c] += more;
    for (std::size_t f = 0; f < columns; ++f) sums.features[c * columns + f] += more * all[f] / bins;
  }
  FirstModel model;
  model.chain = law.first(bins / static_cast<double>(runs));
  model.emission = {std::vector<double>(count * columns), std::vector<double>(count)};
  emissions.maximize(sums, model.emission);
  return model;
}

}  // namespace semicrf
