#include "model/scores/densities.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace semicrf {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr int kTable = 512;

// As std::lgamma, which also writes a variable of the whole program.
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

double log_sum(double a, double b) {
  const double most = std::max(a, b), least = std::min(a, b);
  return least == kNone ? most : most + std::log1p(std::exp(least - most));
}

}  // namespace

double DensityFunction::Parts::inlier() const { return log_sum(straight, mirror); }
double DensityFunction::Parts::total() const { return log_sum(inlier(), outlier); }

void DensityFunction::RisingFactorial::prepare(double first) {
  start = first;
  log_gamma_start = log_gamma(start);
  table.assign(kTable, 0);
  for (int i = 1; i < kTable; ++i) table[i] = table[i - 1] + std::log(start + (i - 1));
}

double DensityFunction::RisingFactorial::operator()(double x) const {
  if (x < kTable) {
    const auto place = static_cast<std::size_t>(x);
    if (static_cast<double>(place) == x) return table[place];
  }
  return log_gamma(x + start) - log_gamma_start;
}

DensityFunction::DensityFunction(const Density& density)
    : density_(density),
      log_inlier_(std::log1p(-density.outliers) - (density.mirrored ? std::numbers::ln2 : 0)),
      log_outlier_(density.outliers > 0 ? std::log(density.outliers) : kNone) {
  if (density.family == DensityFamily::kStudent) {
    if (density.outliers > 0) log_outlier_ += std::log(density.outlier_density);
    inverse_scale_ = 1 / density.scale;
    log_norm_ = -std::log(density.scale);
    if (std::isinf(density.degrees)) {
      log_norm_ -= 0.5 * std::log(2 * std::numbers::pi);
    } else {
      log_norm_ += log_gamma((density.degrees + 1) / 2) - log_gamma(density.degrees / 2) -
                   0.5 * std::log(density.degrees * std::numbers::pi);
    }
    return;
  }
  factorial_.prepare(1);
  if (std::isinf(density.size)) return;
  if (density.family == DensityFamily::kNegativeBinomial) {
    successes_.prepare(density.size);
    return;
  }
  successes_.prepare(density.mean * density.size);
  failures_.prepare((1 - density.mean) * density.size);
  trials_.prepare(density.size);
}

double DensityFunction::log_student(double x) const {
  const double z = (x - density_.mean) * inverse_scale_;
  if (std::isinf(density_.degrees)) return log_norm_ - 0.5 * z * z;
  return log_norm_ - 0.5 * (density_.degrees + 1) * std::log1p(z * z / density_.degrees);
}

double DensityFunction::log_beta_binomial(double successes, double trials) const {
  const double failures = trials - successes;
  const double ways = factorial_(trials) - factorial_(successes) - factorial_(failures);
  if (std::isinf(density_.size))
    return ways + successes * std::log(density_.mean) + failures * std::log1p(-density_.mean);
  return ways + successes_(successes) + failures_(failures) - trials_(trials);
}

double DensityFunction::log_negative_binomial(double count, double exposure) const {
  const double mean = density_.mean * exposure, size = density_.size;
  if (std::isinf(size)) return count * std::log(mean) - mean - factorial_(count);
  const double beyond = std::log1p(mean / size);
  return successes_(count) - factorial_(count) + count * (std::log(mean / size) - beyond) - size * beyond;
}

DensityFunction::Parts DensityFunction::parts(double x, double beside) const {
  Parts found{kNone, kNone, log_outlier_};
  if (density_.family == DensityFamily::kStudent) {
    found.straight = log_inlier_ + log_student(x);
    if (density_.mirrored) found.mirror = log_inlier_ + log_student(-x);
    return found;
  }
  if (density_.family == DensityFamily::kNegativeBinomial) {
    found.straight = log_negative_binomial(std::max(x, 0.0), density_.beside.empty() ? 1 : beside);
    return found;
  }
  const double trials = beside, successes = std::clamp(x, 0.0, trials);
  found.straight = log_inlier_ + log_beta_binomial(successes, trials);
  if (density_.mirrored) found.mirror = log_inlier_ + log_beta_binomial(trials - successes, trials);
  if (density_.outliers > 0) found.outlier -= std::log1p(trials);
  return found;
}

double DensityFunction::operator()(double x, double beside) const {
  if (std::isnan(x)) return 0;
  if (!density_.beside.empty() && !(beside > 0)) return 0;
  return parts(x, beside).total();
}

DensityScores::DensityScores(const Parameters& parameters) {
  const std::vector<Track>& tracks = parameters.tracks;
  const auto column_of = [&](const std::string& name) {
    return std::ranges::find(tracks, name, &Track::name) - tracks.begin();
  };
  std::vector<std::size_t> number(tracks.size());
  for (std::size_t f = 0; f < tracks.size(); ++f) {
    const Track& track = tracks[f];
    if (track.is_input()) ++inputs_;
    if (!track.is_density()) continue;
    number[f] = functions_.size();
    const std::size_t of = column_of(track.density_of);
    functions_.push_back({of, track.density.beside.empty() ? of : column_of(track.density.beside),
                          DensityFunction(track.density)});
  }
  ends_.push_back(0);
  for (std::size_t c = 0; c < parameters.labels.size(); ++c) {
    for (std::size_t f = 0; f < tracks.size(); ++f)
      if (const double weight = parameters.emission->weights[c * tracks.size() + f];
          tracks[f].is_density() && weight != 0)
        terms_.push_back({number[f], weight});
    ends_.push_back(terms_.size());
  }
}

bool has_only_densities(const Parameters& parameters) {
  if (!parameters.emission || parameters.boundary) return false;
  const EmissionHead& head = *parameters.emission;
  if (std::ranges::any_of(head.bias, [](double bias) { return bias != 0; })) return false;
  const std::vector<Track>& tracks = parameters.tracks;
  if (std::ranges::none_of(tracks, &Track::is_density)) return false;
  for (std::size_t i = 0; i < head.weights.size(); ++i)
    if (!tracks[i % tracks.size()].is_density() && head.weights[i] != 0) return false;
  return true;
}

}  // namespace semicrf
