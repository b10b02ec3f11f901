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

  // Bins of the sample, each with a probability as its squared distance from those taken before (k-means++).
  void choose_centres(int labels, LearnStart start, Drawing& draw) {
    const std::size_t count = sample_.size() / columns_;
    std::vector<double> distance(count, 1.0);
    for (int c = 0; c < labels; ++c) {
      double total = 0;
      for (const double d : distance) total += d;
      std::size_t chosen = static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(count)));
      if (total > 0 && start == LearnStart::kKMeans) {
        double left = draw.uniform() * total;
        for (chosen = 0; chosen + 1 < count && left >= distance[chosen]; ++chosen) left -= distance[chosen];
      }
      centres_.insert(centres_.end(), sample_.begin() + static_cast<std::ptrdiff_t>(chosen * columns_),
                      sample_.begin() + static_cast<std::ptrdiff_t>((chosen + 1) * columns_));
      for (std::size_t i = 0; i < count; ++i) {
        const double d = squared_distance(sample_.data() + i * columns_, wide(c));
        distance[i] = c == 0 ? d : std::min(distance[i], d);
      }
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
        for (std::size_t f = 0; f < columns_ && sizes[c] > 0; ++f)
          centres_[c * columns_ + f] = sums[c * columns_ + f] / sizes[c];
    }
  }

  std::vector<int> label_all() const {
    std::vector<int> labels;
    Rows row(columns_);
    for (const TrainingPiece& piece : data_.pieces)
      for (std::size_t t = 0; t < static_cast<std::size_t>(piece.length); ++t) {
        for (std::size_t f = 0; f < columns_; ++f)
          row[f] = static_cast<double>(piece.features[t * columns_ + f]) * scale_[f];
        labels.push_back(static_cast<int>(nearest(row.data())));
      }
    return labels;
  }

 private:
  // 1 / standard deviation; constant columns do not count.
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

  const TrainingData& data_;
  std::size_t columns_;
  std::vector<double> scale_;
  Rows sample_, centres_;
};

}  // namespace

std::vector<int> cluster_bins(const TrainingData& data, int labels, LearnStart start, std::uint64_t seed) {
  Drawing draw(seed);
  Clustering clustering(data, draw);
  clustering.choose_centres(labels, start, draw);
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
