#include "train/fit/parameter_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/chain_model.h"
#include "core/error.h"
#include "core/row_view.h"
#include "core/text/names.h"
#include "train/emissions/emission_choice.h"

namespace semicrf {

namespace {

constexpr double kUnseen = 0.1;  // as if so many segments of every duration had been seen

}  // namespace

TableStretch::TableStretch(int first, std::span<const double> seen, std::size_t label, std::size_t labels,
                           double smoothness)
    : first_(first), label_(label), labels_(labels) {
  const std::size_t count = seen.size();
  for (const double segments : seen) diagonal_.push_back(segments + kUnseen);
  below_.assign(count, 0.0);
  second_below_.assign(count, 0.0);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double k = first_ + static_cast<double>(i);
    const double weight = smoothness * k * k * k;  // weight of (B[k+1] - 2 B[k] + B[k-1])^2
    diagonal_[i - 1] += weight;
    diagonal_[i] += 4 * weight;
    diagonal_[i + 1] += weight;
    below_[i - 1] -= 2 * weight;
    below_[i] -= 2 * weight;
    second_below_[i - 1] += weight;
  }
  // Cholesky, in place.
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= 1) diagonal_[i] -= below_[i - 1] * below_[i - 1];
    if (i >= 2) diagonal_[i] -= second_below_[i - 2] * second_below_[i - 2];
    // Where the penalty outweighs the data by more than the digits hold, rounding may eat the pivot.
    diagonal_[i] = std::sqrt(std::fmax(diagonal_[i], kUnseen));
    if (i >= 1) below_[i] -= second_below_[i - 1] * below_[i - 1];
    below_[i] /= diagonal_[i];
    second_below_[i] /= diagonal_[i];
  }
}

void TableStretch::pack(std::span<const double> table, std::span<double> coordinates) const {
  const auto at = [&](std::size_t i) { return i < size() ? table[entry(i)] : 0.0; };
  for (std::size_t i = 0; i < size(); ++i)
    coordinates[i] = diagonal_[i] * at(i) + below_[i] * at(i + 1) + second_below_[i] * at(i + 2);
}

void TableStretch::unpack(std::span<const double> coordinates, std::span<double> table) const {
  double next = 0, after = 0;
  for (std::size_t i = size(); i-- > 0;) {
    const double score = (coordinates[i] - below_[i] * next - second_below_[i] * after) / diagonal_[i];
    table[entry(i)] = score;
    after = next;
    next = score;
  }
}

void TableStretch::chain(std::span<const double> table_gradient, std::span<double> gradient) const {
  for (std::size_t i = 0; i < size(); ++i) {
    double value = table_gradient[entry(i)];
    if (i >= 1) value -= below_[i - 1] * gradient[i - 1];
    if (i >= 2) value -= second_below_[i - 2] * gradient[i - 2];
    gradient[i] = value / diagonal_[i];
  }
}

std::vector<TableStretch> table_stretches(std::span<const double> table, std::size_t labels,
                                          std::span<const double> seen, double smoothness) {
  std::vector<TableStretch> stretches;
  const std::size_t longest = table.size() / labels;
  std::vector<double> of_stretch;
  for (std::size_t c = 0; c < labels; ++c) {
    for (std::size_t row = 0; row <= longest; ++row) {
      if (row < longest && table[row * labels + c] != kNegativeInfinity) {
        of_stretch.push_back(seen[row * labels + c]);
      } else if (!of_stretch.empty()) {
        const int first = static_cast<int>(row - of_stretch.size()) + 1;
        stretches.emplace_back(first, of_stretch, c, labels, smoothness);
        of_stretch.clear();
      }
    }
  }
  return stretches;
}

namespace {

constexpr std::array<std::pair<ParameterPart, std::string_view>, 8> kPartNames{{
    {ParameterPart::kWeights, "weights"},
    {ParameterPart::kBias, "bias"},
    {ParameterPart::kBoundary, "boundary"},
    {ParameterPart::kTransition, "transition"},
    {ParameterPart::kDuration, "duration"},
    {ParameterPart::kTail, "tail"},
    {ParameterPart::kStart, "start"},
    {ParameterPart::kEnd, "end"},
}};

// Keeps probabilities representable on both sides: 1 - q must not round to 0.
constexpr double kMostLogOdds = 30;

double log_odds(double p) { return std::log(p) - std::log1p(-p); }
double from_log_odds(double x) { return 1 / (1 + std::exp(-std::clamp(x, -kMostLogOdds, kMostLogOdds))); }
// The derivative of log p by the log odds, where they are not clamped.
double log_slope(double p) { return 1 - p; }

// (K, C): segments of a duration; those beyond K count at K.
std::vector<double> duration_counts(const PathCounts& counts, const ChainModel& chain) {
  std::vector<double> seen(chain.duration_bias.size(), 0.0);
  const RowView rows(seen, chain.num_labels);
  for (int c = 0; c < chain.num_labels; ++c)
    for (const std::int64_t d : counts.durations[c])
      rows(std::min<std::int64_t>(d, chain.max_duration) - 1, c) += 1;
  return seen;
}

}  // namespace

std::string_view part_name(ParameterPart part) {
  for (const auto& [value, name] : kPartNames)
    if (value == part) return name;
  throw std::logic_error("unknown part");
}

std::set<ParameterPart> parse_parts(const std::vector<std::string>& names) {
  std::set<ParameterPart> parts;
  for (const std::string& name : names) {
    if (density_part_from_name(name)) continue;
    if (name == "emission") {
      parts.insert({ParameterPart::kWeights, ParameterPart::kBias});
      continue;
    }
    const auto known = std::find_if(kPartNames.begin(), kPartNames.end(),
                                    [&](const auto& entry) { return entry.second == name; });
    if (known == kPartNames.end()) {
      std::vector<std::string_view> all{"emission", "means", "scales", "sizes"};
      for (const auto& entry : kPartNames) all.push_back(entry.second);
      throw UsageError(
          "--freeze: there is no part named \"" + name + "\"",
          "did you mean \"" + std::string(nearest_name(name, all)) +
              "\"? parts are emission (weights and bias, or densities), weights, bias, means, scales, sizes, "
              "boundary, transition, duration, tail, start and end");
    }
    parts.insert(known->first);
  }
  return parts;
}

ParameterSpace::ParameterSpace(const Parameters& first, const std::set<ParameterPart>& frozen,
                               const PathCounts& counts, const PenaltyOptions& penalty,
                               std::shared_ptr<const EmissionSpace> emissions)
    : first_(first), frozen_(frozen), emissions_(std::move(emissions)) {
  if (emissions_) frozen_.insert({ParameterPart::kWeights, ParameterPart::kBias});
  if (first.centering == Centering::kMean) frozen_.insert(ParameterPart::kBias);
  if (!first.duration.kind->is_table() && first.duration.kind->parameters().empty())
    frozen_.insert(ParameterPart::kDuration);
  add_scores(counts, penalty);
  add_durations(counts, penalty);
  if (emissions_) size_ += emissions_->size();
}

void ParameterSpace::add_plain(std::function<std::vector<double>*(Parameters&)> list,
                               std::vector<double> ParameterGradient::*gradient,
                               const std::function<double(std::size_t)>& scale) {
  Plain plain;
  const std::vector<double>* values = list(first_);
  if (values == nullptr) return;
  for (std::size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] == kNegativeInfinity) continue;
    plain.entries.push_back(i);
    plain.scale.push_back(scale(i));
  }
  size_ += plain.entries.size();
  plain.list = std::move(list);
  plain.gradient = gradient;
  plain_.push_back(std::move(plain));
}

void ParameterSpace::add_scores(const PathCounts& counts, const PenaltyOptions& penalty) {
  const std::size_t tracks = first_.tracks.size();
  const auto scale = [](double curvature) { return 1 / std::sqrt(curvature + 1); };
  // A bin tells something about a weight only where its label is in doubt: a small share of the bins.
  constexpr double kDoubtful = 0.05;
  const auto emission_list = [](std::vector<double> EmissionHead::*member) {
    return [member](Parameters& p) { return p.emission ? &((*p.emission).*member) : nullptr; };
  };
  const auto boundary_list = [](std::vector<double> BoundaryHead::*member) {
    return [member](Parameters& p) { return p.boundary ? &((*p.boundary).*member) : nullptr; };
  };
  if (is_free(ParameterPart::kWeights))
    add_plain(emission_list(&EmissionHead::weights), &ParameterGradient::weights,
              [&](std::size_t i) { return scale(kDoubtful * counts.positions[i / tracks] + penalty.l2); });
  if (is_free(ParameterPart::kBias))
    add_plain(emission_list(&EmissionHead::bias), &ParameterGradient::bias,
              [&](std::size_t c) { return scale(kDoubtful * counts.positions[c]); });
  if (is_free(ParameterPart::kBoundary)) {
    const std::size_t inputs =
        first_.boundary ? tracks * (first_.boundary->last - first_.boundary->first + 1) : 1;
    const auto of_weight = [&](std::size_t i) {
      return scale(counts.segments[i / inputs] + penalty.l2_boundary);
    };
    const auto of_bias = [&](std::size_t c) { return scale(counts.segments[c]); };
    add_plain(boundary_list(&BoundaryHead::start_weights), &ParameterGradient::start_weights, of_weight);
    add_plain(boundary_list(&BoundaryHead::end_weights), &ParameterGradient::end_weights, of_weight);
    add_plain(boundary_list(&BoundaryHead::start_bias), &ParameterGradient::start_bias, of_bias);
    add_plain(boundary_list(&BoundaryHead::end_bias), &ParameterGradient::end_bias, of_bias);
  }
  const auto chain_list = [](std::vector<double> ChainModel::*member) {
    return [member](Parameters& p) { return &(p.chain.*member); };
  };
  if (is_free(ParameterPart::kTransition))
    add_plain(chain_list(&ChainModel::transition), &ParameterGradient::transition,
              [&](std::size_t i) { return scale(counts.transition[i] + penalty.l2_transition); });
  const auto at_ends = [&](std::size_t) { return scale(penalty.l2_transition); };
  if (is_free(ParameterPart::kStart))
    add_plain(chain_list(&ChainModel::start_scores), &ParameterGradient::start, at_ends);
  if (is_free(ParameterPart::kEnd))
    add_plain(chain_list(&ChainModel::end_scores), &ParameterGradient::end, at_ends);
}

void ParameterSpace::add_durations(const PathCounts& counts, const PenaltyOptions& penalty) {
  const std::size_t labels = first_.labels.size();
  if (is_free(ParameterPart::kDuration)) {
    if (first_.duration.kind->is_table()) {
      stretches_ = table_stretches(first_.chain.duration_bias, labels, duration_counts(counts, first_.chain),
                                   penalty.smoothness);
      for (const TableStretch& stretch : stretches_) size_ += stretch.size();
    } else {
      for (std::size_t c = 0; c < labels; ++c)
        formula_scale_.push_back(1 / std::sqrt(counts.segments[c] + 1));
      size_ += labels * first_.duration.kind->parameters().size();
    }
  }
  if (!is_free(ParameterPart::kTail) || !first_.chain.has_tail()) return;
  for (std::size_t c = 0; c < labels; ++c) {
    if (first_.duration.tail[c] == 0 || first_.duration.continued_tail(c)) continue;
    free_tails_.push_back(c);
    double beyond = 0;
    for (const std::int64_t d : counts.durations[c]) beyond += d > first_.chain.max_duration ? 1 : 0;
    tail_scale_.push_back(1 / std::sqrt(beyond + 1));
  }
  size_ += free_tails_.size();
}

std::vector<double> ParameterSpace::pack(const Parameters& parameters) const {
  std::vector<double> x;
  x.reserve(size_);
  Parameters copy = parameters;
  for (const Plain& plain : plain_) {
    const std::vector<double>& values = *plain.list(copy);
    for (std::size_t i = 0; i < plain.entries.size(); ++i)
      x.push_back(values[plain.entries[i]] / plain.scale[i]);
  }
  for (const TableStretch& stretch : stretches_) {
    x.resize(x.size() + stretch.size());
    stretch.pack(parameters.chain.duration_bias, std::span(x).last(stretch.size()));
  }
  const auto formula = first_.duration.kind->parameters();
  for (std::size_t c = 0; c < formula_scale_.size(); ++c)
    for (std::size_t i = formula.size(); i-- > 0;) {
      const double value = parameters.duration.values[c][i];
      x.push_back((formula[i].is_probability ? log_odds(value) : std::log(value)) / formula_scale_[c]);
    }
  for (std::size_t i = 0; i < free_tails_.size(); ++i)
    x.push_back(log_odds(parameters.duration.tail[free_tails_[i]]) / tail_scale_[i]);
  if (emissions_) {
    x.resize(size_);
    emissions_->pack(parameters, std::span(x).last(emissions_->size()));
  }
  return x;
}

Parameters ParameterSpace::unpack(std::span<const double> coordinates) const {
  Parameters parameters = first_;
  const double* x = coordinates.data();
  for (const Plain& plain : plain_) {
    std::vector<double>& values = *plain.list(parameters);
    for (std::size_t i = 0; i < plain.entries.size(); ++i) values[plain.entries[i]] = *x++ * plain.scale[i];
  }
  for (const TableStretch& stretch : stretches_) {
    stretch.unpack(std::span(x, stretch.size()), parameters.chain.duration_bias);
    x += stretch.size();
  }
  DurationSpec& spec = parameters.duration;
  const auto formula = spec.kind->parameters();
  for (std::size_t c = 0; c < formula_scale_.size(); ++c) {
    const bool tied = first_.duration.continued_tail(c).has_value();
    for (std::size_t i = formula.size(); i-- > 0;) {
      const double coordinate = *x++ * formula_scale_[c];
      spec.values[c][i] = formula[i].is_probability ? from_log_odds(coordinate) : std::exp(coordinate);
    }
    if (tied) spec.tail[c] = spec.kind->continued_tail(spec.values[c])->q;
  }
  if (!formula_scale_.empty())
    parameters.chain.duration_bias =
        duration_table(spec, parameters.chain.max_duration, parameters.chain.num_labels);
  for (std::size_t i = 0; i < free_tails_.size(); ++i)
    spec.tail[free_tails_[i]] = from_log_odds(*x++ * tail_scale_[i]);
  parameters.chain.log_tail = tail_scores(spec);
  if (emissions_) emissions_->unpack({x, emissions_->size()}, parameters);
  return parameters;
}

std::vector<double> ParameterSpace::chain(const Parameters& parameters,
                                          const ParameterGradient& gradient) const {
  std::vector<double> g;
  g.reserve(size_);
  for (const Plain& plain : plain_) {
    const std::vector<double>& values = gradient.*plain.gradient;
    for (std::size_t i = 0; i < plain.entries.size(); ++i)
      g.push_back(values[plain.entries[i]] * plain.scale[i]);
  }
  for (const TableStretch& stretch : stretches_) {
    g.resize(g.size() + stretch.size());
    stretch.chain(gradient.duration, std::span(g).last(stretch.size()));
  }
  const DurationSpec& spec = parameters.duration;
  const std::size_t labels = parameters.labels.size();
  for (std::size_t c = 0; c < formula_scale_.size(); ++c) {
    const DurationColumn<const double> by_scores{gradient.duration.data() + c, labels,
                                                 gradient.duration.size() / labels};
    for (std::size_t i = spec.values[c].size(); i-- > 0;) {
      double sum = spec.kind->derivative(spec.values[c], i, by_scores);
      if (i == 0 && first_.duration.continued_tail(c))  // the tail moves with the parameter
        sum += gradient.tail[c] * spec.kind->continued_tail(spec.values[c])->slope;
      g.push_back(sum * formula_scale_[c]);
    }
  }
  for (std::size_t i = 0; i < free_tails_.size(); ++i)
    g.push_back(gradient.tail[free_tails_[i]] * log_slope(spec.tail[free_tails_[i]]) * tail_scale_[i]);
  if (emissions_) {
    g.resize(size_);
    emissions_->chain(parameters, gradient, std::span(g).last(emissions_->size()));
  }
  return g;
}

}  // namespace semicrf
