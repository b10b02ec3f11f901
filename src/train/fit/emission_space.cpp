#include "train/fit/emission_space.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/scores/density_slopes.h"

namespace semicrf {
namespace {

// A bin tells something about the numbers of a label only where the label is in doubt, as of weights
// (parameter_space.cpp).
constexpr double kInDoubt = 0.05;
constexpr double kRoom = 0.01;       // beyond a number that begins at an end of its range
constexpr double kFarMean = 30;      // units of the penalty between which a mean of Student's stays
constexpr double kFarLogarithm = 7;  // a thousand times more or less

// Where a number may be, as the logistic function of a coordinate that may be anywhere: scores stay finite
// however far a line search looks.
class FreeRange {
 public:
  FreeRange(CoordinateRange range, double first, double far)
      : low_(std::min(std::max(range.low, first - far), first - kRoom * far)),
        high_(std::max(std::min(range.high, first + far), first + kRoom * far)) {}

  double coordinate(double number) const { return std::log(number - low_) - std::log(high_ - number); }
  double number(double coordinate) const { return low_ + (high_ - low_) / (1 + std::exp(-coordinate)); }
  // Derivative of the number by its coordinate.
  double slope(double number) const { return (number - low_) * (high_ - number) / (high_ - low_); }

 private:
  double low_, high_;
};

std::size_t first_density(const Parameters& parameters) {
  return std::ranges::count_if(parameters.tracks, &Track::is_input);
}

class Densities : public EmissionSpace {
 public:
  Densities(const Parameters& first, std::vector<FreeNumber> numbers, double l2)
      : numbers_(std::move(numbers)), first_(first_density(first)) {
    for (const FreeNumber& one : numbers_) {
      const Density& density = first.tracks[first_ + one.densities.front()].density;
      const double number = coordinate(density, one.part);
      const double unit = penalty_unit(density, one.part);
      const bool is_mean = one.part == DensityPart::kMean && density.family == DensityFamily::kStudent;
      const FreeRange& range =
          ranges_.emplace_back(one.range, number, is_mean ? kFarMean * unit : kFarLogarithm);
      double curvature = kInDoubt * one.information;
      for (const std::size_t i : one.densities)
        curvature += l2 / std::pow(penalty_unit(first.tracks[first_ + i].density, one.part), 2);
      scale_.push_back(curvature > 0 ? 1 / (std::sqrt(curvature) * range.slope(number)) : 1);
    }
  }

  std::size_t size() const override { return numbers_.size(); }
  void pack(const Parameters& parameters, std::span<double> coordinates) const override {
    for (std::size_t k = 0; k < numbers_.size(); ++k)
      coordinates[k] = ranges_[k].coordinate(number(parameters, k)) / scale_[k];
  }
  void unpack(std::span<const double> coordinates, Parameters& parameters) const override {
    for (std::size_t k = 0; k < numbers_.size(); ++k)
      for (const std::size_t i : numbers_[k].densities)
        set_coordinate(parameters.tracks[first_ + i].density, numbers_[k].part,
                       ranges_[k].number(coordinates[k] * scale_[k]));
  }
  void chain(const Parameters& parameters, const ParameterGradient& derivatives,
             std::span<double> gradient) const override {
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      double sum = 0;
      for (const std::size_t i : numbers_[k].densities)
        sum += derivatives.densities[i * kPartCount + place_of(numbers_[k].part)];
      gradient[k] = sum * ranges_[k].slope(number(parameters, k)) * scale_[k];
    }
  }

 private:
  double number(const Parameters& parameters, std::size_t k) const {
    return coordinate(parameters.tracks[first_ + numbers_[k].densities.front()].density, numbers_[k].part);
  }

  std::vector<FreeNumber> numbers_;
  std::size_t first_;
  std::vector<FreeRange> ranges_;  // by number
  std::vector<double> scale_;
};

// The columns of one track in the heads.
struct TrackColumns {
  std::size_t track;
  std::optional<std::size_t> absence;   // 1 where the track has no value
  std::vector<std::size_t> indicators;  // kCategorical
};

class Probabilities : public EmissionSpace {
 public:
  Probabilities(const Parameters& first, std::vector<TrackColumns> tracks, const PathCounts& counts)
      : tracks_(std::move(tracks)), columns_(first.tracks.size()) {
    for (const TrackColumns& track : tracks_) of_label_ += std::max<std::size_t>(1, track.indicators.size());
    for (const double bins : counts.positions) scale_.push_back(1 / std::sqrt(kInDoubt * bins + 1));
  }

  std::size_t size() const override { return of_label_ * scale_.size(); }
  void pack(const Parameters& parameters, std::span<double> coordinates) const override {
    std::size_t next = 0;
    for (std::size_t c = 0; c < scale_.size(); ++c)
      for (const TrackColumns& track : tracks_)
        for (const std::size_t column : free_columns(track))
          coordinates[next++] = parameters.emission->weights[c * columns_ + column] / scale_[c];
  }
  void unpack(std::span<const double> coordinates, Parameters& parameters) const override {
    std::size_t next = 0;
    for (std::size_t c = 0; c < scale_.size(); ++c) {
      double* weights = parameters.emission->weights.data() + c * columns_;
      double bias = 0;
      for (const TrackColumns& track : tracks_) {
        const std::vector<std::size_t> columns = free_columns(track);
        for (const std::size_t column : columns) weights[column] = coordinates[next++] * scale_[c];
        double norm = 0;  // -log of the sum over the values that a bin may have; 0 has the weight 0
        if (track.indicators.empty()) {
          norm = -log_add(0, weights[track.track]);
        } else {
          norm = kNegativeInfinity;
          for (const std::size_t column : columns) norm = log_add(norm, weights[column]);
          for (const std::size_t column : columns) weights[column] -= norm;
          norm = 0;
        }
        if (track.absence) weights[*track.absence] = -norm;
        bias += norm;
      }
      parameters.emission->bias[c] = bias;
    }
  }
  void chain(const Parameters& parameters, const ParameterGradient& derivatives,
             std::span<double> gradient) const override {
    std::size_t next = 0;
    for (std::size_t c = 0; c < scale_.size(); ++c) {
      const double* weights = parameters.emission->weights.data() + c * columns_;
      const double* by = derivatives.weights.data() + c * columns_;
      for (const TrackColumns& track : tracks_) {
        if (track.indicators.empty()) {
          const double p = 1 / (1 + std::exp(-weights[track.track]));
          const double by_norm = derivatives.bias[c] - (track.absence ? by[*track.absence] : 0);
          gradient[next++] = (by[track.track] - p * by_norm) * scale_[c];
          continue;
        }
        double all = 0;
        for (const std::size_t column : track.indicators) all += by[column];
        for (const std::size_t column : track.indicators)
          gradient[next++] = (by[column] - std::exp(weights[column]) * all) * scale_[c];
      }
    }
  }

 private:
  static std::vector<std::size_t> free_columns(const TrackColumns& track) {
    return track.indicators.empty() ? std::vector{track.track} : track.indicators;
  }

  std::vector<TrackColumns> tracks_;
  std::size_t columns_, of_label_ = 0;
  std::vector<double> scale_;  // by label
};

}  // namespace

double penalty_unit(const Density& first, DensityPart part) {
  return part == DensityPart::kMean && first.family == DensityFamily::kStudent ? first.scale : 1;
}

std::unique_ptr<EmissionSpace> density_space(const Parameters& first, std::vector<FreeNumber> numbers,
                                             double l2) {
  return std::make_unique<Densities>(first, std::move(numbers), l2);
}

std::unique_ptr<EmissionSpace> probability_space(const Parameters& first, const TrainingData& data,
                                                 const PathCounts& counts) {
  std::vector<TrackColumns> tracks;
  const auto inputs = first_density(first);
  for (std::size_t f = 0; f < inputs; ++f) {
    TrackColumns& track = tracks.emplace_back(TrackColumns{f, {}, {}});
    for (std::size_t i = 0; i < data.indicator_of.size(); ++i)
      if (data.indicator_of[i] == f) track.indicators.push_back(inputs + i);
    for (std::size_t i = 0; i < data.absence_of.size(); ++i)
      if (data.absence_of[i] == f) track.absence = first.tracks.size() - data.absence_of.size() + i;
  }
  return std::make_unique<Probabilities>(first, std::move(tracks), counts);
}

}  // namespace semicrf
