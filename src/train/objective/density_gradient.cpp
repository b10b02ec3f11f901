#include "train/objective/density_gradient.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/sizes.h"
#include "core/threads/parallel.h"

namespace semicrf {
namespace {

constexpr std::int64_t kBinsTogether = 1 << 12;
// Smaller derivatives are probabilities of nothing, as in head_gradient.cpp.
constexpr double kNothing = 1e-13;

}  // namespace

DensityGradient::DensityGradient(const Parameters& parameters) : labels_(parameters.labels.size()) {
  const std::vector<Track>& tracks = parameters.tracks;
  const auto column_of = [&](const std::string& name) {
    return std::ranges::find(tracks, name, &Track::name) - tracks.begin();
  };
  for (std::size_t f = 0; f < tracks.size(); ++f) {
    if (tracks[f].is_input()) ++inputs_;
    if (!tracks[f].is_density()) continue;
    const std::size_t of = column_of(tracks[f].density_of);
    const std::string& beside = tracks[f].density.beside;
    Column column{of, beside.empty() ? of : column_of(beside), DensitySlopes(tracks[f].density), {}};
    for (std::size_t c = 0; c < labels_; ++c)
      if (const double weight = parameters.emission->weights[c * tracks.size() + f]; weight != 0)
        column.terms.push_back({c, weight});
    columns_.push_back(std::move(column));
  }
}

void DensityGradient::add(const TrainingPiece& piece, const double* derivatives, int threads,
                          ParameterGradient& gradient) const {
  const std::size_t size = columns_.size() * kPartCount;
  const std::size_t stretches = ceil_div(piece.length, kBinsTogether);
  std::vector<double> sums(stretches * size);
  parallel_for(threads, stretches, [&](std::size_t i, int) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * kBinsTogether;
    add_bins(piece, derivatives, begin, std::min(begin + kBinsTogether, piece.length), &sums[i * size]);
  });
  for (std::size_t i = 0; i < sums.size(); ++i) gradient.densities[i % size] += sums[i];
}

void DensityGradient::add_bins(const TrainingPiece& piece, const double* derivatives, std::int64_t begin,
                               std::int64_t end, double* sums) const {
  for (std::int64_t t = begin; t < end; ++t) {
    const float* row = piece.features.data() + t * inputs_;
    const double* by = derivatives + t * labels_;
    double* sum = sums;
    for (const Column& column : columns_) {
      double factor = 0;
      for (const Term& term : column.terms) factor += term.weight * by[term.label];
      if (!(std::fabs(factor) < kNothing)) {
        const DensitySlopes::Slopes slopes = column.slopes(row[column.of], row[column.beside]);
        for (std::size_t part = 0; part < kPartCount; ++part) sum[part] += factor * slopes.by[part];
      }
      sum += kPartCount;
    }
  }
}

}  // namespace semicrf
