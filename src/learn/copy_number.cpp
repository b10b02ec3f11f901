#include "learn/copy_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/counts.h"
#include "core/error.h"
#include "core/sizes.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "io/json/json_document.h"
#include "io/text/palette.h"
#include "learn/em_start.h"
#include "learn/learn_shapes.h"
#include "learn/segment_law.h"
#include "model/copies.h"
#include "train/data/label_file.h"

namespace semicrf {
namespace {

constexpr std::string_view kPreset = "copy-number";
constexpr int kDefaultMost = 5, kHighestMost = 12;
constexpr int kShortest = 10;         // bins of a segment, unless options say another number
constexpr double kFirstLength = 200;  // bins of a segment, before the first iteration
constexpr std::array kPurities{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98};
constexpr int kHighestMedian = 4;  // copies of the median log ratio
constexpr std::int64_t kGridBins = 1 << 15;
constexpr int kGridIterations = 4, kMoreIterations = 6;
constexpr std::size_t kGoOn = 4;  // points of the grid that go on with all data
constexpr double kSame = 0.05;    // ploidies and saturations
constexpr double kAllIterations = -1;
constexpr double kFirstSaturation = 0.8;
// The densities before the first iteration.
constexpr double kDegrees = 6, kAlleleScale = 0.06, kReadSize = 50, kAlleleOutliers = 0.01;
constexpr double kNormalDeviation = 1.4826;  // over the median distance from the median

enum Number { kPurity, kPloidy, kSaturation };

std::optional<std::size_t> place_of(const std::vector<Track>& tracks, std::string_view name) {
  const auto found = std::ranges::find(tracks, name, &Track::name);
  if (found == tracks.end()) return std::nullopt;
  return found - tracks.begin();
}

double median_of(std::vector<double> values, double otherwise) {
  if (values.empty()) return otherwise;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<double> values_of(const TrainingData& data, std::size_t column) {
  std::vector<double> values;
  const std::size_t columns = data.num_tracks;
  for (const TrainingPiece& piece : data.pieces)
    for (std::size_t i = column; i < piece.features.size(); i += columns)
      if (!std::isnan(piece.features[i])) values.push_back(piece.features[i]);
  return values;
}

// By the differences of neighbours, which segments hardly change.
double noise_of(const TrainingData& data, std::size_t column) {
  std::vector<double> values = values_of(data, column);
  for (std::size_t i = 0; i + 1 < values.size(); ++i) values[i] = std::fabs(values[i + 1] - values[i]);
  if (!values.empty()) values.pop_back();
  const double noise = kNormalDeviation * median_of(std::move(values), 0) / std::numbers::sqrt2;
  return noise > 0 ? noise : 0.1;
}

std::vector<Density*> densities_of(Parameters& parameters) {
  std::vector<Density*> densities;
  for (Track& track : parameters.tracks)
    if (track.is_density()) densities.push_back(&track.density);
  return densities;
}

// Which states have which density of the alleles: shares of the major allele, the equal ones first.
std::vector<CopyState> unequal_states(const std::vector<CopyState>& states) {
  std::vector<CopyState> found{{2, 1}};
  std::ranges::copy_if(states, std::back_inserter(found),
                       [](const CopyState& state) { return 2 * state.major > state.copies; });
  return found;
}

class ModelMaker {
 public:
  ModelMaker(const LearnOptions& options, std::vector<Track> tracks) : options_(options) {
    parameters_.tracks = std::move(tracks);
    const std::vector<Track>& inputs = parameters_.tracks;
    log_ratio_ = place_of(inputs, "log2");
    fraction_ = place_of(inputs, "baf");
    alt_ = place_of(inputs, "alt");
    depth_ = place_of(inputs, "depth");
    const bool pair = alt_ && depth_, alone = alt_.has_value() != depth_.has_value();
    const std::size_t used = 1 + (fraction_ ? 1 : 0) + (pair ? 2 : 0);
    if (!log_ratio_ || alone || (fraction_ && pair) || used != inputs.size()) {
      std::vector<std::string> names;
      for (const Track& track : inputs) names.push_back(in_quotes(track.name));
      throw UsageError(
          "--preset copy-number cannot take the tracks " + joined(names, ", "),
          "it takes log2 (log ratios), and with alleles either baf (allele fractions of "
          "heterozygous positions) or alt and depth (reads of one allele, and all); name them with "
          "log2=FILE or --track-names, and choose a column with FILE?column=log2");
    }
    states_ = copy_states(*options.most_copies, fraction_ || alt_);
  }

  CopyNumberModel make(std::int64_t bin_size, const TrainingData& raw) {
    const bool alleles = fraction_ || alt_;
    parameters_.bin_size = bin_size;
    parameters_.bin_size_given = true;
    parameters_.centering = Centering::kNone;
    for (const CopyState& state : states_) {
      const std::string name = alleles ? fmt::format("{}+{}", state.major, state.copies - state.major)
                                       : fmt::to_string(state.copies);
      const bool usual = state.copies == 2 && state.major <= 1;
      parameters_.labels.push_back(
          {name, usual ? kBackgroundColor : palette_color(parameters_.labels.size())});
    }
    parameters_.chain =
        SegmentLaw(law_of(options_, parameters_.labels), count_of(states_)).first(kFirstLength);
    if (fraction_) {
      Track& track = parameters_.tracks[*fraction_];
      track.center = track.scale = 0.5;
    }
    add_densities(raw);
    rules_.tied = options_.emissions.tied;
    rules_.frozen[DensityPart::kMean] = true;
    rules_.law = law(alleles);
    rules_.law->set_means(densities_of(parameters_));
    return {std::move(parameters_), std::move(rules_)};
  }

 private:
  // A density of the log ratio for each number of copies, one of the alleles for each share.
  void add_densities(const TrainingData& raw) {
    const std::size_t inputs = parameters_.tracks.size();
    std::vector<std::vector<bool>> has;  // by density: which labels
    Density ratio;
    ratio.scale = noise_of(raw, *log_ratio_);
    ratio.degrees = kDegrees;
    rules_.observed.push_back({*log_ratio_, *log_ratio_, ratio});
    for (int copies = 0; copies <= *options_.most_copies; ++copies) {
      add_track(fmt::format("log2 of {}", copies), "log2", ratio);
      has.emplace_back();
      for (const CopyState& state : states_) has.back().push_back(state.copies == copies);
    }
    if (fraction_ || alt_) {
      Density alleles;
      alleles.mirrored = true;
      alleles.outliers = kAlleleOutliers;
      if (fraction_) {
        alleles.scale = kAlleleScale;
        alleles.degrees = kDegrees;
        alleles.outlier_density = 0.5;  // anywhere between -1 and 1
        rules_.observed.push_back({*fraction_, *fraction_, alleles});
      } else {
        alleles.family = DensityFamily::kBetaBinomial;
        alleles.beside = "depth";
        alleles.mean = 0.5;
        alleles.size = kReadSize;
        rules_.observed.push_back({*alt_, *depth_, alleles});
      }
      const std::string of = fraction_ ? "baf" : "alt";
      for (const CopyState& kind : unequal_states(states_)) {
        const bool equal = 2 * kind.major == kind.copies;
        add_track(equal ? of + " of equal shares"
                        : fmt::format("{} of {}+{}", of, kind.major, kind.copies - kind.major),
                  of, alleles);
        has.emplace_back();
        for (const CopyState& state : states_)
          has.back().push_back(equal ? 2 * state.major == state.copies
                                     : state.copies == kind.copies && state.major == kind.major);
      }
    }
    EmissionHead head{std::vector<double>(states_.size() * parameters_.tracks.size()),
                      std::vector<double>(states_.size())};
    for (std::size_t c = 0; c < states_.size(); ++c)
      for (std::size_t i = 0; i < has.size(); ++i)
        head.weights[c * parameters_.tracks.size() + inputs + i] = has[i][c] ? 1 : 0;
    parameters_.emission = std::move(head);
  }

  void add_track(const std::string& name, const std::string& of, const Density& density) {
    parameters_.tracks.push_back({.name = name, .density_of = of, .density = density});
  }

  MeanLaw law(bool alleles) const {
    MeanLaw law{{0.5, 2, alleles ? kFirstSaturation : 1}, {{0.05, 0.99}, {1, 8}, {0.3, 1.2}}, {}};
    if (!alleles) law.ranges[kSaturation] = {1, 1};
    for (const auto& [number, known] :
         {std::pair{kPurity, options_.purity}, std::pair{kPloidy, options_.ploidy}}) {
      if (!known) continue;
      law.numbers[number] = *known;
      law.ranges[number] = {*known, *known};
    }
    const std::vector<CopyState> kinds = alleles ? unequal_states(states_) : std::vector<CopyState>();
    law.means = [most = *options_.most_copies, kinds, reads = alt_.has_value()](std::span<const double> at) {
      const CopyNumbers numbers{at[kPurity], at[kPloidy], at[kSaturation]};
      std::vector<double> means;
      for (int copies = 0; copies <= most; ++copies) means.push_back(expected_log_ratio(numbers, copies));
      for (const CopyState& kind : kinds) {
        const double share = expected_major_share(numbers.purity, kind);
        means.push_back(reads ? share : 2 * share - 1);
      }
      return means;
    };
    return law;
  }

  const LearnOptions& options_;
  Parameters parameters_;
  DensityRules rules_;
  std::optional<std::size_t> log_ratio_, fraction_, alt_, depth_;
  std::vector<CopyState> states_;
};

class CopyNumberGrid {
 public:
  CopyNumberGrid(const Parameters& shape, const LawOptions& law, const EmissionPlan& plan,
                 const FrozenParts& frozen)
      : shape_(shape), law_(law), plan_(plan), frozen_(frozen) {}

  // Goes on from `state`; its purity stays where `at_purity` says so.
  EmState after(int iterations, EmState state, bool at_purity, const TrainingData& data,
                const EngineOptions& engine) const {
    EmissionPlan plan = plan_;
    if (at_purity) plan.densities.law->ranges[kPurity] = {state.sizes[kPurity], state.sizes[kPurity]};
    Emissions emissions(plan, data);
    EmState begun;
    begun.sizes = std::move(state.sizes);
    begun.parameters = std::move(state.parameters);
    return fit_em(data, {}, engine, {iterations, kAllIterations, frozen_},
                  SegmentLaw(law_, shape_.num_labels()), emissions, std::move(begun), {});
  }

  // The purities, one where it is known.
  std::vector<double> purities() const {
    if (const auto purity = known(kPurity)) return {*purity};
    return {kPurities.begin(), kPurities.end()};
  }

  // Copies of the median log ratio, `median`, at this purity: by the ploidy where it is known. Without
  // alleles other numbers would do as well as two, with another purity.
  std::vector<int> copies(double purity, double median) const {
    const MeanLaw& law = *plan_.densities.law;
    if (const auto ploidy = known(kPloidy)) {
      const double found = copies_beyond(*ploidy, purity, median / law.numbers[kSaturation]);
      return {static_cast<int>(std::lround(std::clamp(found, 0.0, 1000.0)))};
    }
    if (plan_.densities.observed.size() == 1) return {2};
    std::vector<int> all(kHighestMedian);
    std::iota(all.begin(), all.end(), 1);
    return all;
  }

  // With the ploidy by which so many copies have the log ratio `median`, or the known one; nothing where
  // there is none.
  std::optional<EmState> start(double purity, int copies, double median) const {
    MeanLaw law = *plan_.densities.law;
    const double saturation = law.numbers[kSaturation];
    const double ploidy = known(kPloidy).value_or(copies_beyond(copies, purity, -median / saturation));
    const CoordinateRange& range = law.ranges[kPloidy];
    if (!(ploidy >= range.low && ploidy <= range.high)) return std::nullopt;
    law.numbers = {purity, ploidy, saturation};
    EmState state;
    state.parameters = shape_;
    state.sizes = law.numbers;
    law.set_means(densities_of(state.parameters));
    return state;
  }

 private:
  // A number of the law that stays where it is.
  std::optional<double> known(Number number) const {
    const CoordinateRange& range = plan_.densities.law->ranges[number];
    return range.low == range.high ? std::optional(range.low) : std::nullopt;
  }

  // The copies whose log ratio lies so far above that of `copies`, without saturation.
  static double copies_beyond(double copies, double purity, double log_ratio) {
    const double others = 2 * (1 - purity);
    return ((purity * copies + others) * std::exp2(log_ratio) - others) / purity;
  }

  const Parameters& shape_;
  const LawOptions& law_;
  const EmissionPlan& plan_;
  FrozenParts frozen_;
};

}  // namespace

double expected_log_ratio(const CopyNumbers& numbers, int copies) {
  const double others = 2 * (1 - numbers.purity);
  return numbers.saturation *
         std::log2((numbers.purity * copies + others) / (numbers.purity * numbers.ploidy + others));
}

double expected_major_share(double purity, const CopyState& state) {
  return (purity * state.major + 1 - purity) / (purity * state.copies + 2 * (1 - purity));
}

std::vector<CopyState> copy_states(int most, bool alleles) {
  std::vector<CopyState> states;
  for (int copies = 0; copies <= most; ++copies)
    for (int major = (copies + 1) / 2; major <= (alleles ? copies : (copies + 1) / 2); ++major)
      states.push_back({copies, major});
  return states;
}

void apply_copy_number(const std::string& text, LearnOptions& options) {
  int most = kDefaultMost;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) most = number_in<int>(std::string_view(text).substr(colon + 1)).value_or(0);
  if (text.substr(0, colon) != kPreset || most < 2 || most > kHighestMost)
    throw UsageError("--preset: '" + text + "' is no preset",
                     fmt::format("there is methylation, copy-number, and copy-number:MOST with the largest "
                                 "number of copies, 2 to {}",
                                 kHighestMost));
  if (!options.freeze.empty())
    throw UsageError("--preset " + std::string(kPreset) + " does not go with --freeze", "leave it out");
  options.most_copies = most;
  if (!options.law.durations) options.law.durations = LawKind::kGeometric;
  if (options.law.min_duration == 1) options.law.min_duration = kShortest;
  if (options.tie.empty()) options.tie = {"scales", "sizes", "durations"};
  options.emissions.frozen.transition = true;
}

CopyNumberModel copy_number_model(const LearnOptions& options, std::int64_t bin_size,
                                  std::vector<Track> tracks, const TrainingData& raw) {
  return ModelMaker(options, std::move(tracks)).make(bin_size, raw);
}

CopyNumberSearch search_copy_numbers(const TrainingData& data, const Parameters& shape, const LawOptions& law,
                                     const EmissionPlan& plan, const FrozenParts& frozen,
                                     const EngineOptions& engine) {
  const CopyNumberGrid grid(shape, law, plan, frozen);
  const TrainingData part = stretches_of(data, kGridBins, law.least_duration());
  const double median = median_of(values_of(part, plan.densities.observed.front().column), 0);
  std::vector<std::pair<CopyNumberSolution, EmState>> points;
  for (const double purity : grid.purities())
    for (const int copies : grid.copies(purity, median))
      if (std::optional<EmState> state = grid.start(purity, copies, median))
        points.push_back({{{purity}, copies}, std::move(*state)});
  EngineOptions one = engine;
  if (!engine.is_cuda()) one.threads = 1;
  parallel_for(engine.is_cuda() ? 1 : engine.threads, points.size(), [&](std::size_t i, int) {
    auto& [solution, state] = points[i];
    state = grid.after(kGridIterations, std::move(state), true, part, one);
    solution.numbers = copy_numbers_of(state.sizes);
    solution.log_likelihood = state.log_likelihood.back();
  });
  std::ranges::stable_sort(points, std::greater<>(),
                           [](const auto& point) { return point.first.log_likelihood; });
  // Different numbers of copies may lead to the same place, which counts once.
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto is_there = [&](const auto& other) {
      const CopyNumbers &a = points[i].first.numbers, &b = other.first.numbers;
      return a.purity == b.purity && std::fabs(a.ploidy - b.ploidy) < kSame &&
             std::fabs(a.saturation - b.saturation) < kSame;
    };
    points.erase(std::remove_if(points.begin() + static_cast<std::ptrdiff_t>(i) + 1, points.end(), is_there),
                 points.end());
  }
  CopyNumberSearch found;
  double sum = 0;
  for (const auto& [solution, state] : points)
    sum += std::exp(solution.log_likelihood - points.front().first.log_likelihood);
  for (auto& [solution, state] : points) {
    solution.probability = std::exp(solution.log_likelihood - points.front().first.log_likelihood) / sum;
    found.solutions.push_back(solution);
  }
  for (std::size_t i = 0; i < std::min(kGoOn, points.size()); ++i) {
    EmState state = grid.after(kMoreIterations, std::move(points[i].second), false, data, engine);
    if (i == 0 || state.log_likelihood.back() > found.best.log_likelihood.back())
      found.best = std::move(state);
  }
  return found;
}

std::string solutions_table(const std::vector<CopyNumberSolution>& solutions) {
  std::string text = "purity\tploidy\tsaturation\tcopies_of_median\tlog_likelihood\tprobability\n";
  for (const CopyNumberSolution& one : solutions)
    text +=
        fmt::format("{:.6g}\t{:.6g}\t{:.6g}\t{}\t{:.6f}\t{:.6g}\n", one.numbers.purity, one.numbers.ploidy,
                    one.numbers.saturation, one.copies, one.log_likelihood, one.probability);
  return text;
}

CopyNumbers copy_numbers_of(const std::vector<double>& law_numbers) {
  return {law_numbers[kPurity], law_numbers[kPloidy], law_numbers[kSaturation]};
}

double mean_copies(const Parameters& parameters, const std::vector<double>& bins) {
  double copies = 0;
  for (std::size_t c = 0; c < bins.size(); ++c)
    copies += bins[c] * copies_of_label(parameters.labels[c].name).value().all();
  return copies / std::accumulate(bins.begin(), bins.end(), 0.0);
}

}  // namespace semicrf
