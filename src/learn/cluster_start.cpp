#include "learn/cluster_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/counts.h"
#include "core/sizes.h"
#include "inputs/rows/random_stream.h"

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

// The features of all bins as clusters see them: scaled, and means over the bins around.
class ClusterRows {
 public:
  ClusterRows(const TrainingData& data, EmissionFamily family, int reach)
      : data_(data), family_(family), columns_(data.num_tracks) {
    settle_absences();
    fit_scales();
    for (const TrainingPiece& piece : data.pieces) add_means(piece, reach);
  }

  std::size_t columns() const { return columns_; }
  std::size_t bins() const { return rows_.size() / columns_; }
  const float* row(std::size_t bin) const { return rows_.data() + bin * columns_; }

 private:
  // The column that says where a column has no value: a track's, its square's and its indicators'.
  void settle_absences() {
    values_ = columns_ - data_.absence_of.size();
    absence_.assign(columns_, columns_);
    const std::size_t own = values_ - data_.indicator_of.size();
    const std::size_t inputs = family_ == EmissionFamily::kGaussian ? own / 2 : own;
    first_ = data_.indicator_of.empty() ? 0 : inputs;
    for (std::size_t i = 0; i < data_.absence_of.size(); ++i)
      for (std::size_t f = 0; f < values_; ++f)
        if (data_.absence_of[i] == (f < own ? f % inputs : data_.indicator_of[f - own]))
          absence_[f] = values_ + i;
  }

  bool has_value(const float* features, std::size_t f) const {
    return !std::isnan(features[f]) && (absence_[f] == columns_ || features[absence_[f]] == 0);
  }
  double seen(float feature) const {
    const double value = feature;
    return is_count_family(family_) ? std::log1p(value) : value;
  }

  // Mean and 1 / standard deviation of each column; 0 of constant ones and of absences.
  void fit_scales() {
    mean_.assign(columns_, 0);
    scale_.assign(columns_, 0);
    std::vector<double> squares(columns_), bins(columns_);
    const auto visit = [&](auto&& see) {
      for (const TrainingPiece& piece : data_.pieces)
        for (std::size_t i = 0; i < piece.features.size(); i += columns_)
          for (std::size_t f = 0; f < values_; ++f)
            if (has_value(piece.features.data() + i, f)) see(f, seen(piece.features[i + f]));
    };
    visit([&](std::size_t f, double value) {
      mean_[f] += value;
      bins[f] += 1;
    });
    for (std::size_t f = 0; f < values_; ++f) mean_[f] /= std::max(1.0, bins[f]);
    visit([&](std::size_t f, double value) { squares[f] += (value - mean_[f]) * (value - mean_[f]); });
    for (std::size_t f = first_; f < values_; ++f) {
      const double variance = squares[f] / std::max(1.0, bins[f]);
      if (variance > 1e-12 * mean_[f] * mean_[f] && variance > 0) scale_[f] = 1 / std::sqrt(variance);
    }
  }

  void add_means(const TrainingPiece& piece, int reach) {
    const std::size_t length = piece.length, around = reach;
    const std::size_t first = rows_.size();
    rows_.resize(first + length * columns_);
    std::vector<double> sums(length + 1), counts(length + 1);
    for (std::size_t f = 0; f < values_; ++f) {
      for (std::size_t t = 0; t < length; ++t) {
        const float* features = piece.features.data() + t * columns_;
        const bool has = has_value(features, f);
        sums[t + 1] = sums[t] + (has ? (seen(features[f]) - mean_[f]) * scale_[f] : 0);
        counts[t + 1] = counts[t] + (has ? 1 : 0);
      }
      for (std::size_t t = 0; t < length; ++t) {
        const std::size_t begin = t - std::min(t, around), end = std::min(length, t + around + 1);
        const double bins = counts[end] - counts[begin];
        if (bins > 0) rows_[first + t * columns_ + f] = static_cast<float>((sums[end] - sums[begin]) / bins);
      }
    }
  }

  const TrainingData& data_;
  EmissionFamily family_;
  std::size_t columns_, values_ = 0;
  std::size_t first_ = 0;             // that counts: numbers of categories have no distances
  std::vector<std::size_t> absence_;  // by column; columns_: it always has a value
  std::vector<double> mean_, scale_;
  std::vector<float> rows_;  // (bins, columns)
};

class Clustering {
 public:
  Clustering(const TrainingData& data, const ClusterRows& rows, Drawing& draw)
      : data_(data), rows_(rows), columns_(rows.columns()) {
    const auto bins = static_cast<std::int64_t>(rows.bins()), count = std::min(bins, kSampleBins);
    for (std::int64_t i = 0; i < count; ++i) {
      const float* row = rows.row(count == bins ? i : draw.below(bins));
      sample_.insert(sample_.end(), row, row + columns_);
    }
  }

  // Means of the bins with one known label, for labels below `known` that have such bins.
  void fix_centres(int labels, int known) {
    centres_.assign(labels * columns_, 0);
    is_fixed_.assign(labels, false);
    std::vector<double> bins(labels);
    std::size_t first = 0;
    for (const TrainingPiece& piece : data_.pieces) {
      for (const LabelEvidence& one : piece.evidence) {
        if (one.labels.size() != 1 || one.labels.front() >= known) continue;
        const std::size_t c = one.labels.front();
        bins[c] += static_cast<double>(one.end - one.begin);
        for (std::int64_t t = one.begin; t < one.end; ++t) {
          const float* row = rows_.row(first + t);
          for (std::size_t f = 0; f < columns_; ++f) centres_[c * columns_ + f] += row[f];
        }
      }
      first += piece.length;
    }
    for (std::size_t c = 0; c < is_fixed_.size(); ++c) {
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
      std::size_t chosen = draw.below(static_cast<std::int64_t>(count));
      if (total > 0 && start == LearnStart::kKMeans) {
        double left = draw.uniform() * total;
        for (chosen = 0; chosen + 1 < count && left >= distance[chosen]; ++chosen) left -= distance[chosen];
      }
      std::copy_n(&sample_[chosen * columns_], columns_, &centres_[c * columns_]);
      if (first) std::ranges::fill(distance, std::numeric_limits<double>::infinity());
      first = false;
      see(c);
    }
  }

  void move_centres() {
    const std::size_t count = sample_.size() / columns_, labels = centres_.size() / columns_;
    for (int iteration = 0; iteration < kLloydIterations; ++iteration) {
      std::vector<double> sums(centres_.size());
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
    std::vector<double> row(columns_);
    for (const TrainingPiece& piece : data_.pieces) {
      auto known = piece.evidence.begin();
      for (std::int64_t t = 0; t < piece.length; ++t) {
        while (known != piece.evidence.end() && known->end <= t) ++known;
        const bool is_free = known == piece.evidence.end() || known->is_free();
        std::copy_n(rows_.row(labels.size()), columns_, row.begin());
        labels.push_back(
            static_cast<int>(is_free ? nearest(row.data()) : nearest(row.data(), known->labels)));
      }
    }
    return labels;
  }

 private:
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
    return *std::ranges::min_element(among, {}, [&](int label) { return squared_distance(row, label); });
  }

  const TrainingData& data_;
  const ClusterRows& rows_;
  std::size_t columns_;
  std::vector<double> sample_, centres_;  // rows of columns_
  std::vector<bool> is_fixed_;            // centres that do not move
};

}  // namespace

std::vector<int> cluster_bins(const TrainingData& data, EmissionFamily family,
                              const ClusterOptions& options) {
  Drawing draw(options.seed);
  const ClusterRows rows(data, family, options.reach);
  Clustering clustering(data, rows, draw);
  clustering.fix_centres(options.labels, options.known);
  clustering.choose_centres(options.start, draw);
  if (options.start == LearnStart::kKMeans) clustering.move_centres();
  return clustering.label_all();
}

ChainModel first_chain(const TrainingData& data, const std::vector<int>& clusters, const SegmentLaw& law) {
  std::size_t bin = 0, runs = 0;
  std::int64_t positions = 0;
  for (const TrainingPiece& piece : data.pieces) {
    for (std::int64_t t = 0; t < piece.length; ++t, ++bin)
      if (t == 0 || clusters[bin] != clusters[bin - 1]) ++runs;
    positions += piece.positions();
  }
  return law.first(ratio(positions, runs));
}

EmissionHead first_head(const TrainingData& data, int labels, const std::vector<int>& clusters,
                        Emissions& emissions) {
  const std::size_t columns = data.num_tracks, count = labels;
  EmissionSums sums{std::vector<double>(count), std::vector<double>(count * columns)};
  std::vector<double> all(columns);
  std::size_t bin = 0;
  for (const TrainingPiece& piece : data.pieces)
    for (std::size_t t = 0; t < wide(piece.length); ++t, ++bin) {
      const std::size_t c = clusters[bin];
      sums.bins[c] += 1;
      for (std::size_t f = 0; f < columns; ++f) {
        const double value = piece.features[t * columns + f];
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
  EmissionHead head{std::vector<double>(count * columns), std::vector<double>(count)};
  emissions.maximize(sums, head);
  return head;
}

PosteriorRows cluster_shares(const TrainingData& data, int labels, const std::vector<int>& clusters) {
  const std::size_t count = labels;
  std::vector<double> bins(count);
  for (const int cluster : clusters) bins[cluster] += 1;
  std::vector<float> blur;
  for (const double one : bins)
    blur.push_back(static_cast<float>(kBlur * std::max(1.0, one) / static_cast<double>(clusters.size())));
  PosteriorRows rows;
  std::size_t bin = 0;
  for (const TrainingPiece& piece : data.pieces) {
    std::vector<float>& shares = rows.emplace_back();
    for (std::int64_t t = 0; t < piece.length; ++t, ++bin) {
      shares.insert(shares.end(), blur.begin(), blur.end());
      shares[shares.size() - count + clusters[bin]] += 1;
    }
  }
  return rows;
}

}  // namespace semicrf
