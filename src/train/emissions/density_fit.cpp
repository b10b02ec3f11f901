#include "train/emissions/density_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/cholesky.h"
#include "core/counts.h"
#include "core/threads/parallel.h"

namespace semicrf {
namespace {

constexpr double kLeastWeight = 1e-6;  // the values' in all
constexpr double kArmijo = 1e-4;
constexpr int kHalvings = 20;
constexpr double kStraight = 0.75;  // part of a line's gain; a parabola with its top there gains half
constexpr double kMostSteps = 64;
constexpr double kRidge = 1e-9;
constexpr int kLawSteps = 2;
constexpr double kDifference = 1e-5;  // between numbers of a law, for derivatives

// Sums of slopes, and of their products, over the values of one density.
struct SlopeSums {
  double value = 0;
  std::array<double, kPartCount> by{};
  std::array<double, kPartCount * kPartCount> products{};
};

SlopeSums sum_slopes(const Density& density, std::span<const WeightedValue> values) {
  const DensitySlopes slopes(density);
  SlopeSums sums;
  for (const WeightedValue& one : values) {
    const DensitySlopes::Slopes here = slopes(one.x, one.beside);
    sums.value += one.weight * here.log_density;
    for (std::size_t i = 0; i < kPartCount; ++i) {
      sums.by[i] += one.weight * here.by[i];
      for (std::size_t j = 0; j <= i; ++j)
        sums.products[i * kPartCount + j] += one.weight * here.by[i] * here.by[j];
    }
  }
  return sums;
}

double value_of(std::span<const SlopeSums> sums) {
  double value = 0;
  for (const SlopeSums& one : sums) value += one.value;
  return value;
}

// The step of n coordinates towards the maximum of a parabola, from the gradient and the (n, n) sums of
// products of slopes, of which the lower half is read. Where held(k) says so, coordinate k stays, and its
// gradient becomes 0. Nothing where there is no such maximum.
template <class Held>
std::optional<std::vector<double>> step_to_top(std::vector<double>& gradient, std::vector<double> products,
                                               Held held) {
  const std::size_t n = gradient.size();
  for (std::size_t k = 0; k < n; ++k) {
    products[k * n + k] = products[k * n + k] * (1 + kRidge) + std::numeric_limits<double>::min();
    if (!held(k)) continue;
    gradient[k] = 0;
    for (std::size_t other = 0; other < n; ++other)
      products[std::max(k, other) * n + std::min(k, other)] = k == other ? 1 : 0;
  }
  if (!cholesky_factor(products, n)) return std::nullopt;
  std::vector<double> step = gradient;
  solve_by_factor(products, n, step.data());
  return step;
}

// The longest step of a coordinate.
double longest_step(const Density& density, DensityPart part) {
  const bool own_unit = part == DensityPart::kMean && density.family == DensityFamily::kStudent;
  return own_unit ? 3 * density.scale : 1.5;
}

// Densities whose numbers are looked for together.
class Climb {
 public:
  Climb(std::vector<Density*> densities, std::vector<std::span<const WeightedValue>> values,
        const DensityFitOptions& options, int threads)
      : densities_(std::move(densities)), values_(std::move(values)), options_(options), threads_(threads) {
    for (const std::span<const WeightedValue> one : values_)
      for (const WeightedValue& value : one) weight_ += value.weight;
    number_coordinates();
  }

  void run() {
    if (places_.empty() || weight_ < kLeastWeight) return;
    SumsOfAll now = sums(numbers());
    for (int step = 0; step < options_.max_steps; ++step) {
      const std::optional<Direction> direction = direction_from(now);
      if (!direction || !(direction->promise > options_.tolerance * weight_)) return;
      if (!climb(*direction, now)) return;
    }
  }

 private:
  using SumsOfAll = std::vector<SlopeSums>;  // by density
  struct Direction {
    std::vector<double> step;
    double promise = 0;  // gradient times step
    double longest = 1;  // that many steps at once are the most
  };
  // Where a coordinate is: its first density, and the part.
  struct Place {
    std::size_t density;
    DensityPart part;
  };

  void number_coordinates() {
    index_.assign(densities_.size(), {});
    for (const DensityPart part : kDensityParts) {
      std::optional<std::size_t> shared;
      for (std::size_t i = 0; i < densities_.size(); ++i) {
        if (options_.frozen[part] || !has_part(*densities_[i], part)) continue;
        if (!shared || !options_.tied[part]) {
          shared = places_.size();
          places_.push_back({i, part});
        }
        index_[i][place_of(part)] = shared;
      }
    }
  }

  std::vector<double> numbers() const {
    std::vector<double> found;
    for (const Place& place : places_) found.push_back(coordinate(*densities_[place.density], place.part));
    return found;
  }

  Density moved(std::size_t i, const std::vector<double>& numbers) const {
    Density density = *densities_[i];
    for (const DensityPart part : kDensityParts)
      if (const auto at = index_[i][place_of(part)]) set_coordinate(density, part, numbers[*at]);
    return density;
  }

  SumsOfAll sums(const std::vector<double>& numbers) const {
    SumsOfAll found(densities_.size());
    parallel_for(threads_, densities_.size(),
                 [&](std::size_t i, int) { found[i] = sum_slopes(moved(i, numbers), values_[i]); });
    return found;
  }

  CoordinateRange range_of(const Place& place) const {
    return coordinate_range(*densities_[place.density], place.part, options_.least_scale);
  }

  // What is at its end and wants beyond stays.
  std::optional<Direction> direction_from(const SumsOfAll& now) const {
    const std::size_t n = places_.size();
    const std::vector<double> at = numbers();
    std::vector<double> gradient(n);
    std::vector<double> products(n * n);
    for (std::size_t i = 0; i < densities_.size(); ++i)
      for (std::size_t a = 0; a < kPartCount; ++a) {
        if (!index_[i][a]) continue;
        gradient[*index_[i][a]] += now[i].by[a];
        for (std::size_t b = 0; b <= a; ++b) {
          if (!index_[i][b]) continue;
          const auto [less, more] = std::minmax(*index_[i][a], *index_[i][b]);
          products[more * n + less] += now[i].products[a * kPartCount + b];
        }
      }
    std::optional<std::vector<double>> found = step_to_top(gradient, std::move(products), [&](std::size_t k) {
      const CoordinateRange range = range_of(places_[k]);
      return (at[k] <= range.low && gradient[k] < 0) || (at[k] >= range.high && gradient[k] > 0);
    });
    if (!found) return std::nullopt;
    std::vector<double>& step = *found;
    double part_of_longest = 1 / kMostSteps;
    for (std::size_t k = 0; k < n; ++k)
      part_of_longest =
          std::max(part_of_longest,
                   std::fabs(step[k]) / longest_step(*densities_[places_[k].density], places_[k].part));
    for (double& value : step) value /= std::max(1.0, part_of_longest);
    const double promise = std::inner_product(step.begin(), step.end(), gradient.begin(), 0.0);
    return Direction{std::move(step), promise, std::max(1.0, 1 / part_of_longest)};
  }

  std::vector<double> along(const std::vector<double>& from, const Direction& direction,
                            double length) const {
    std::vector<double> to = from;
    for (std::size_t k = 0; k < to.size(); ++k) {
      const CoordinateRange range = range_of(places_[k]);
      to[k] = std::clamp(from[k] + length * direction.step[k], std::min(range.low, from[k]),
                         std::max(range.high, from[k]));
    }
    return to;
  }

  // Whether a point that is likelier was found, which the densities then have. Products of slopes bend more
  // than the likelihood does where values are far from what is expected: then there are longer steps.
  bool climb(const Direction& direction, SumsOfAll& now) {
    const std::vector<double> from = numbers();
    const double start = value_of(now);
    double length = 1;
    std::vector<double> best;
    const auto gains = [&](double least) {
      std::vector<double> to = along(from, direction, length);
      SumsOfAll there = sums(to);
      if (!(value_of(there) > least)) return false;
      best = std::move(to);
      now = std::move(there);
      return true;
    };
    for (int halving = 0; best.empty() && halving < kHalvings; ++halving) {
      if (!gains(start + kArmijo * length * direction.promise)) length /= 2;
    }
    if (best.empty()) return false;
    while (length >= 1 && 2 * length <= direction.longest &&
           value_of(now) - start > kStraight * length * direction.promise) {
      length *= 2;
      if (!gains(value_of(now))) break;
    }
    for (std::size_t i = 0; i < densities_.size(); ++i) *densities_[i] = moved(i, best);
    return true;
  }

  std::vector<Density*> densities_;
  std::vector<std::span<const WeightedValue>> values_;
  const DensityFitOptions& options_;
  int threads_;
  double weight_ = 0;
  std::vector<Place> places_;                                              // by coordinate
  std::vector<std::array<std::optional<std::size_t>, kPartCount>> index_;  // by density and part
};

}  // namespace

CoordinateRange coordinate_range(const Density& density, DensityPart part, double least_scale) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  constexpr double kMostOdds = 13.8;  // 1e6 to 1
  if (part == DensityPart::kScale) return {std::log(least_scale), kAny};
  if (part == DensityPart::kSize && density.family == DensityFamily::kStudent) return {0, std::log(1e3)};
  if (part == DensityPart::kSize) return {std::log(1e-3), std::log(1e6)};
  if (density.family == DensityFamily::kStudent) return {-kAny, kAny};
  if (density.family == DensityFamily::kBetaBinomial) return {-kMostOdds, kMostOdds};
  return {-kMostOdds, kAny};
}

double weighted_log_density(const Density& density, std::span<const WeightedValue> values) {
  const DensityFunction function(density);
  double sum = 0;
  for (const WeightedValue& one : values) sum += one.weight * function(one.x, one.beside);
  return sum;
}

namespace {

// The numbers that grow and are the likeliest, by pooling adjacent violators: best(first, last) is the
// likeliest number that [first, last) can have in common.
template <class Best>
std::vector<double> pooled(std::size_t count, Best best) {
  struct Block {
    std::size_t first;
    double number;
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    Block block{i, best(i, i + 1)};
    while (!blocks.empty() && blocks.back().number > block.number) {
      block.first = blocks.back().first;
      blocks.pop_back();
      block.number = best(block.first, i + 1);
    }
    blocks.push_back(block);
  }
  std::vector<double> numbers(count);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    std::fill(&numbers[blocks[b].first],
              numbers.data() + (b + 1 < blocks.size() ? blocks[b + 1].first : count), blocks[b].number);
  return numbers;
}

double weight_of(std::span<const WeightedValue> values) {
  double weight = 0;
  for (const WeightedValue& one : values) weight += one.weight;
  return weight;
}

// Means that grow, given the other numbers.
class OrderedMeans {
 public:
  OrderedMeans(std::span<Density* const> densities, std::span<const std::vector<WeightedValue>> values,
               const DensityFitOptions& options)
      : densities_(densities), values_(values), options_(options) {
    for (std::size_t i = 0; i < densities.size(); ++i)
      if (weight_of(values[i]) >= kLeastWeight) seen_.push_back(i);
  }

  double value() const {
    double sum = 0;
    for (const std::size_t i : seen_) sum += weighted_log_density(*densities_[i], values_[i]);
    return sum;
  }

  // Where the means were in order, the value does not fall.
  void improve() {
    const std::vector<double> from = numbers();
    const double before = value();
    std::vector<double> to =
        pooled(seen_.size(), [&](std::size_t first, std::size_t last) { return likeliest_of(first, last); });
    set(to);
    if (!std::ranges::is_sorted(from)) return;
    double length = 1;
    for (int halving = 0; halving < kHalvings && value() < before; ++halving) {
      length /= 2;
      std::vector<double> between = from;
      for (std::size_t i = 0; i < to.size(); ++i) between[i] += length * (to[i] - from[i]);
      set(between);
    }
    if (value() < before) set(from);
  }

 private:
  std::vector<double> numbers() const {
    std::vector<double> found;
    for (const std::size_t i : seen_) found.push_back(coordinate(*densities_[i], DensityPart::kMean));
    return found;
  }
  // What has no values is moved between its neighbours.
  void set(const std::vector<double>& numbers) const {
    double low = -std::numeric_limits<double>::infinity();
    std::size_t next = 0;
    for (std::size_t i = 0; i < densities_.size(); ++i) {
      double number = coordinate(*densities_[i], DensityPart::kMean);
      if (next < seen_.size() && seen_[next] == i) {
        number = numbers[next++];
      } else {
        if (next < numbers.size()) number = std::min(number, numbers[next]);
        number = std::max(number, low);
      }
      set_coordinate(*densities_[i], DensityPart::kMean, number);
      low = number;
    }
  }

  double likeliest_of(std::size_t first, std::size_t last) const {
    double sum = 0, all = 0;
    bool is_normal = true;
    for (std::size_t k = first; k < last; ++k) {
      const Density& density = *densities_[seen_[k]];
      is_normal = is_normal && density.family == DensityFamily::kStudent && std::isinf(density.degrees) &&
                  density.outliers == 0 && !density.mirrored;
      for (const WeightedValue& one : values_[seen_[k]]) {
        sum += one.weight * one.x / (density.scale * density.scale);
        all += one.weight / (density.scale * density.scale);
      }
    }
    if (is_normal) return sum / all;
    std::vector<Density> copies;
    std::vector<std::span<const WeightedValue>> values;
    std::vector<double> weights;
    for (std::size_t k = first; k < last; ++k) {
      copies.push_back(*densities_[seen_[k]]);
      values.emplace_back(values_[seen_[k]]);
      weights.push_back(weight_of(values.back()));
    }
    std::vector<Density*> members;
    for (Density& copy : copies) members.push_back(&copy);
    DensityFitOptions options = options_;
    options.tied = {};
    options.tied[DensityPart::kMean] = true;
    options.frozen.parts.fill(true);
    options.frozen[DensityPart::kMean] = false;
    tie_parts(members, weights, options.tied);
    Climb(members, values, options, options.threads).run();
    return coordinate(copies.front(), DensityPart::kMean);
  }

  std::span<Density* const> densities_;
  std::span<const std::vector<WeightedValue>> values_;
  const DensityFitOptions& options_;
  std::vector<std::size_t> seen_;  // densities with values
};

void fit_ordered(std::span<Density* const> densities, std::span<const std::vector<WeightedValue>> values,
                 const DensityFitOptions& options) {
  OrderedMeans means(densities, values, options);
  DensityFitOptions others = options;
  others.ordered = false;
  others.frozen[DensityPart::kMean] = true;
  double weight = 0;
  for (const std::vector<WeightedValue>& one : values) weight += weight_of(one);
  for (int round = 0; round < options.max_steps; ++round) {
    const double before = means.value();
    means.improve();
    fit_densities(densities, values, others);
    if (round > 0 && !(means.value() - before > options.tolerance * weight)) return;
  }
}

}  // namespace

void restore_order(std::span<Density* const> densities) {
  const std::vector<double> numbers = pooled(densities.size(), [&](std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += coordinate(*densities[i], DensityPart::kMean);
    return ratio(sum, last - first);
  });
  for (std::size_t i = 0; i < numbers.size(); ++i)
    set_coordinate(*densities[i], DensityPart::kMean, numbers[i]);
}

void fit_densities(std::span<Density* const> densities, std::span<const std::vector<WeightedValue>> values,
                   const DensityFitOptions& options) {
  if (options.ordered) return fit_ordered(densities, values, options);
  if (options.tied.any()) {
    Climb({densities.begin(), densities.end()}, {values.begin(), values.end()}, options, options.threads)
        .run();
    return;
  }
  parallel_for(options.threads, densities.size(),
               [&](std::size_t i, int) { Climb({densities[i]}, {values[i]}, options, 1).run(); });
}

void MeanLaw::set_means(std::span<Density* const> densities) const {
  const std::vector<double> found = means(numbers);
  for (std::size_t i = 0; i < densities.size(); ++i) densities[i]->mean = found[i];
}

void fit_law(MeanLaw& law, std::span<Density* const> densities,
             std::span<const std::vector<WeightedValue>> values, int threads) {
  const std::size_t count = law.numbers.size();
  std::vector<SlopeSums> sums(densities.size());
  // Sets the means that `numbers` give; the sum over all densities.
  const auto value_at = [&](const std::vector<double>& numbers) {
    law.numbers = numbers;
    law.set_means(densities);
    parallel_for(threads, densities.size(),
                 [&](std::size_t i, int) { sums[i] = sum_slopes(*densities[i], values[i]); });
    return value_of(sums);
  };
  // The coordinates of all means.
  const auto coordinates = [&](const std::vector<double>& numbers) {
    std::vector<double> found = law.means(numbers);
    for (std::size_t i = 0; i < found.size(); ++i) {
      Density density = *densities[i];
      density.mean = found[i];
      found[i] = coordinate(density, DensityPart::kMean);
    }
    return found;
  };
  double now = value_at(law.numbers);
  for (int step = 0; step < kLawSteps; ++step) {
    const std::vector<double> from = law.numbers;
    std::vector<double> gradient(count), products(count * count);
    std::vector<std::vector<double>> slopes(count);  // derivatives of coordinates, by number
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<double> less = from, more = from;
      less[k] = std::max(law.ranges[k].low, from[k] - kDifference);
      more[k] = std::min(law.ranges[k].high, from[k] + kDifference);
      slopes[k] = coordinates(more);
      const std::vector<double> before = coordinates(less);
      for (std::size_t i = 0; i < densities.size(); ++i) {
        slopes[k][i] = more[k] > less[k] ? (slopes[k][i] - before[i]) / (more[k] - less[k]) : 0;
        gradient[k] += slopes[k][i] * sums[i].by[0];
        for (std::size_t j = 0; j <= k; ++j)
          products[k * count + j] += slopes[k][i] * slopes[j][i] * sums[i].products[0];
      }
    }
    const std::optional<std::vector<double>> direction =
        step_to_top(gradient, std::move(products), [&](std::size_t k) {
          return (from[k] <= law.ranges[k].low && gradient[k] <= 0) ||
                 (from[k] >= law.ranges[k].high && gradient[k] >= 0);
        });
    if (!direction) return;
    bool found = false;
    double length = 1;
    for (int halving = 0; !found && halving < kHalvings; ++halving, length /= 2) {
      std::vector<double> to = from;
      for (std::size_t k = 0; k < count; ++k)
        to[k] = std::clamp(from[k] + length * (*direction)[k], law.ranges[k].low, law.ranges[k].high);
      const double there = value_at(to);
      found = there > now;
      if (found) now = there;
    }
    if (found) continue;
    value_at(from);
    return;
  }
}

void tie_parts(std::span<Density* const> densities, std::span<const double> weights, const PartSet& tied) {
  for (const DensityPart part : kDensityParts) {
    if (!tied[part]) continue;
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < densities.size(); ++i) {
      if (!has_part(*densities[i], part)) continue;
      const double weight = weights[i] + std::numeric_limits<double>::min();
      sum += weight * coordinate(*densities[i], part);
      all += weight;
    }
    if (all == 0) continue;
    for (Density* const density : densities)
      if (has_part(*density, part)) set_coordinate(*density, part, sum / all);
  }
}

}  // namespace semicrf
