// Tracks that are drawn from known models: what comes back, and how far it may be from the truth.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "support/truth/standard_errors.h"
#include "train/objective/objective.h"
#include "unit/learn/learn_samples.h"

namespace semicrf {
namespace {

using namespace test;

EngineOptions two_threads() { return engine_of(EngineOptions::Backend::kCpu, Precision::kDouble, 2); }

// A track's mean and variance in the bins of a label, by the head's terms.
struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(EmissionFamily family, double weight, double square, double size) {
  switch (family) {
    case EmissionFamily::kBernoulli: {
      const double p = 1 / (1 + std::exp(-weight));
      return {p, p * (1 - p)};
    }
    case EmissionFamily::kGaussian:
      return {-weight / (2 * square), -1 / (2 * square)};
    case EmissionFamily::kPoisson:
      return {std::exp(weight), std::exp(weight)};
    case EmissionFamily::kNegativeBinomial: {
      const double mean = size * std::exp(weight) / -std::expm1(weight);
      return {mean, mean + mean * mean / size};
    }
    case EmissionFamily::kCategorical:  // has no moments
    case EmissionFamily::kDensities:
      break;
  }
  return {};
}

// Durations 1 + X, X negative binomial with this mean and size, given that they are at most `longest`.
struct DurationLaw {
  double mean = 0, size = 0;

  std::vector<double> table(std::size_t longest) const {
    const double go_on = mean / (mean + size);
    std::vector<double> p(longest);
    double sum = 0;
    for (std::size_t x = 0; x < longest; ++x) {
      const auto n = static_cast<double>(x);
      p[x] = std::exp(std::lgamma(n + size) - std::lgamma(size) - std::lgamma(n + 1) + n * std::log(go_on));
      sum += p[x];
    }
    for (double& value : p) value /= sum;
    return p;
  }
  DurationLaw moved(std::size_t parameter, double step) const {
    return parameter == 0 ? DurationLaw{mean + step, size} : DurationLaw{mean, size + step};
  }
};

// Mean and variance of durations with these probabilities.
std::array<double, 2> duration_moments(const std::vector<double>& p) {
  double mean = 0, square = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const auto duration = static_cast<double>(k + 1);
    mean += duration * p[k];
    square += duration * duration * p[k];
  }
  return {mean, square - mean * mean};
}

// The numbers of a model that can be compared: means of labels and tracks, variances of Gaussians, sizes of
// negative binomials, transitions and durations; and their derivatives by its parameters. These are weights,
// sizes, log probabilities of transitions, and those of durations or means and sizes of laws of them. Of
// laws, the numbers are the durations' means and variances.
class ModelNumbers {
 public:
  // `laws`: of the labels' durations, or that there are any; empty: tables.
  ModelNumbers(EmissionFamily family, const Parameters& parameters, const std::vector<double>& sizes,
               const std::vector<DurationLaw>& laws)
      : family_(family),
        labels_(parameters.labels.size()),
        columns_(parameters.tracks.size()),
        tracks_(static_cast<std::size_t>(std::ranges::count_if(parameters.tracks, &Track::is_input))),
        longest_(static_cast<std::size_t>(parameters.chain.max_duration)),
        sizes_(sizes),
        laws_(laws) {
    first_move_ = labels_ * columns_ + sizes_.size();
    first_duration_ = first_move_ + labels_ * labels_;
    parameters_ = first_duration_ + labels_ * (laws_.empty() ? longest_ : 2);
    for (std::size_t f = 0; f < sizes_.size(); ++f) add_size(f);
    for (std::size_t c = 0; c < labels_; ++c)
      for (std::size_t f = 0; f < tracks_; ++f) add_moments(parameters, c, f);
    for (std::size_t c = 0; c < labels_; ++c) {
      std::vector<std::size_t> row(labels_), column(longest_);
      for (std::size_t to = 0; to < labels_; ++to) row[to] = c * labels_ + to;
      add_shares(parameters.chain.transition, row, first_move_);
      for (std::size_t k = 0; k < longest_; ++k) column[k] = k * labels_ + c;
      if (laws_.empty()) {
        add_shares(parameters.chain.duration_bias, column, first_duration_);
      } else {
        add_law(parameters.chain.duration_bias, column, c);
      }
    }
  }

  std::vector<double> values;
  // (C, tracks) row-major.
  std::vector<double> means() const {
    std::vector<double> found;
    for (const Moments& here : moments_) found.push_back(here.mean);
    return found;
  }
  // Rows: parameters; columns: numbers.
  Matrix derivatives() const {
    Matrix rows(parameters_, std::vector<double>(values.size()));
    for (const Entry& entry : entries_) rows[entry.parameter][entry.number] = entry.derivative;
    return rows;
  }
  // Derivative of ln P by the parameters, of a piece with these expected counts. Of tracks without holes.
  std::vector<double> score(const ParameterGradient& counts, const TrainingPiece& piece) const {
    std::vector<double> found;
    for (std::size_t c = 0; c < labels_; ++c)
      for (std::size_t f = 0; f < columns_; ++f) {
        const Moments& here = moments_[c * tracks_ + f % tracks_];
        const double expected = f < tracks_ ? here.mean : here.variance + here.mean * here.mean;
        found.push_back(counts.weights[c * columns_ + f] - counts.bias[c] * expected);
      }
    for (std::size_t f = 0; f < sizes_.size(); ++f) found.push_back(score_of_size(counts, piece, f));
    found.resize(parameters_);
    for (const Share& share : shares_) {
      const std::vector<double>& list = share.first == first_move_ ? counts.transition : counts.duration;
      double all = 0;
      for (const std::size_t i : share.entries) all += list[i];
      for (std::size_t i = 0; i < share.entries.size(); ++i)
        found[share.first + share.entries[i]] = list[share.entries[i]] - all * share.p[i];
    }
    for (std::size_t i = 0; i < law_slopes_.size(); ++i)
      for (std::size_t k = 0; k < longest_; ++k)
        found[first_duration_ + i] += counts.duration[k * labels_ + i / 2] * law_slopes_[i][k];
    return found;
  }

 private:
  struct Entry {
    std::size_t parameter, number;
    double derivative;
  };
  // A distribution over entries of a list whose first parameter is `first`.
  struct Share {
    std::size_t first;
    std::vector<std::size_t> entries;
    std::vector<double> p;
  };

  std::size_t size_parameter(std::size_t f) const { return labels_ * columns_ + f; }

  void add_size(std::size_t f) {
    entries_.push_back({size_parameter(f), values.size(), 1});
    values.push_back(sizes_[f]);
  }

  // d/dr of ln Gamma(x + r) - ln Gamma(r) + r ln(r / (m + r)), with the weights as they are.
  double score_of_size(const ParameterGradient& counts, const TrainingPiece& piece, std::size_t f) const {
    double sum = 0;
    for (std::size_t i = f; i < piece.features.size(); i += columns_)
      for (int below = 0; static_cast<float>(below) < piece.features[i]; ++below)
        sum += 1 / (sizes_[f] + below);
    for (std::size_t c = 0; c < labels_; ++c)
      sum -= counts.bias[c] * std::log1p(moments_[c * tracks_ + f].mean / sizes_[f]);
    return sum;
  }

  void add_moments(const Parameters& parameters, std::size_t c, std::size_t f) {
    const double* weights = parameters.emission->weights.data() + c * columns_;
    const bool gaussian = family_ == EmissionFamily::kGaussian;
    const Moments here =
        moments(family_, weights[f], gaussian ? weights[tracks_ + f] : 0, sizes_.empty() ? 0 : sizes_[f]);
    moments_.push_back(here);
    const std::size_t weight = c * columns_ + f;
    entries_.push_back({weight, values.size(), here.variance});
    if (gaussian) entries_.push_back({weight + tracks_, values.size(), 2 * here.mean * here.variance});
    if (!sizes_.empty()) entries_.push_back({size_parameter(f), values.size(), here.mean / sizes_[f]});
    values.push_back(here.mean);
    if (!gaussian) return;
    entries_.push_back({weight + tracks_, values.size(), 2 * here.variance * here.variance});
    values.push_back(here.variance);
  }

  void add_shares(const std::vector<double>& log_p, const std::vector<std::size_t>& entries,
                  std::size_t first) {
    Share share{first, entries, {}};
    for (const std::size_t i : entries) share.p.push_back(std::exp(log_p[i]));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (share.p[i] == 0) continue;
      for (std::size_t j = 0; j < entries.size(); ++j)
        entries_.push_back({first + entries[j], values.size(), share.p[i] * ((i == j ? 1 : 0) - share.p[j])});
      values.push_back(share.p[i]);
    }
    shares_.push_back(std::move(share));
  }

  void add_law(const std::vector<double>& log_p, const std::vector<std::size_t>& entries, std::size_t c) {
    constexpr double kStep = 1e-4;
    std::vector<double> p;
    for (const std::size_t i : entries) p.push_back(std::exp(log_p[i]));
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<double> above = laws_[c].moved(i, kStep).table(longest_),
                                below = laws_[c].moved(i, -kStep).table(longest_);
      std::vector<double> slopes;
      for (std::size_t k = 0; k < longest_; ++k)
        slopes.push_back((std::log(above[k]) - std::log(below[k])) / (2 * kStep));
      law_slopes_.push_back(slopes);
      for (std::size_t moment = 0; moment < 2; ++moment)
        entries_.push_back(
            {first_duration_ + 2 * c + i, values.size() + moment,
             (duration_moments(above)[moment] - duration_moments(below)[moment]) / (2 * kStep)});
    }
    for (const double moment : duration_moments(p)) values.push_back(moment);
  }

  EmissionFamily family_;
  std::size_t labels_, columns_, tracks_, longest_;
  std::vector<double> sizes_;
  std::vector<DurationLaw> laws_;
  std::size_t first_move_ = 0, first_duration_ = 0, parameters_ = 0;
  std::vector<Moments> moments_;
  std::vector<Entry> entries_;
  std::vector<Share> shares_;
  std::vector<std::vector<double>> law_slopes_;  // d ln p / d parameter, (labels * 2, K)
};

// By the scores of stretches of the data, each taken for a sequence of its own.
Matrix information(const ModelNumbers& numbers, const Parameters& parameters, const TrainingData& data) {
  constexpr std::int64_t kStretch = 2000;
  const TrainingPiece& all = data.pieces.front();
  const auto columns = static_cast<std::int64_t>(data.num_tracks);
  TrainingData one = data;
  one.pieces.assign(1, TrainingPiece());
  Matrix sum;
  for (std::int64_t begin = 0; begin + kStretch <= all.length; begin += kStretch) {
    one.pieces.front().length = kStretch;
    one.pieces.front().features.assign(all.features.begin() + begin * columns,
                                       all.features.begin() + (begin + kStretch) * columns);
    ParameterGradient counts(parameters);
    log_evidence(one, parameters, engine_of(EngineOptions::Backend::kCpu), &counts);
    const std::vector<double> score = numbers.score(counts, one.pieces.front());
    sum.resize(score.size(), std::vector<double>(score.size()));
    for (std::size_t i = 0; i < score.size(); ++i)
      for (std::size_t j = 0; j < score.size(); ++j) sum[i][j] += score[i] * score[j];
  }
  return sum;
}

// ln P(tracks) of the truth, with the textbook's base measure.
double true_log_likelihood(const Sample& sample) {
  const std::vector<std::size_t> pieces{0};
  double sum = negative_log_likelihood(sample.data, pieces, sample.truth, two_threads(), {}, nullptr);
  const auto columns = static_cast<std::size_t>(sample.data.num_tracks);
  const TrainingPiece &raw = sample.raw.pieces[0], &features = sample.data.pieces[0];
  for (std::size_t t = 0; t < static_cast<std::size_t>(raw.length); ++t) {
    double score = sample.truth.emission->bias[0];
    for (std::size_t f = 0; f < columns; ++f)
      score += sample.truth.emission->weights[f] * static_cast<double>(features.features[t * columns + f]);
    sum += sample.model.log_density(0, raw.features.data() + t * sample.model.tracks) - score;
  }
  return sum;
}

// (K, C), or nothing.
std::vector<double> log_tables(const std::vector<DurationLaw>& laws, const LawOptions& law) {
  const auto longest = static_cast<std::size_t>(law.max_duration.value_or(0));
  std::vector<double> table(laws.empty() ? 0 : longest * laws.size());
  for (std::size_t c = 0; c < laws.size(); ++c) {
    const std::vector<double> p = laws[c].table(longest);
    for (std::size_t k = 0; k < longest; ++k) table[k * laws.size() + c] = std::log(p[k]);
  }
  return table;
}

struct Fit {
  Sample sample;
  std::vector<DurationLaw> laws;  // that the durations were drawn from; empty: tables
  EmState state;
  std::vector<double> sizes;
};

// From the truth. Twice the gain over it is about chi-squared with as many degrees of freedom as there are
// parameters.
Fit fit_from_truth(EmissionFamily family, const LawOptions& law, std::int64_t length, std::uint64_t seed,
                   double holes = 0, const std::vector<DurationLaw>& laws = {}) {
  Fit fit;
  fit.laws = laws;
  fit.sample = draw_sample(family, law, 4, 5, {length}, seed, holes, log_tables(laws, law));
  Emissions emissions(family, fit.sample.data);
  const SegmentLaw shape(law, 4);
  fit.state = fit_em(fit.sample.data, {}, two_threads(), {200, 1e-9}, shape, emissions,
                     begin_at(fit.sample.truth), {});
  fit.sizes = emissions.sizes();
  const double gain = fit.state.log_likelihood.back() - true_log_likelihood(fit.sample);
  const double degrees = shape.free_parameters() + emissions.free_parameters(fit.state.parameters);
  CHECK(gain >= -1e-6 * static_cast<double>(length));
  CHECK(2 * gain < degrees + 5 * std::sqrt(2 * degrees));
  WARN(emission_name(family) << ", " << length << " bins, " << fit.state.iterations()
                             << " iterations: fit less truth " << gain << " for " << degrees
                             << " parameters");
  return fit;
}

// `laws` are the true ones for both: of a fit, no derivatives are wanted.
ModelNumbers numbers_of(const Fit& fit) {
  return {fit.sample.model.family, fit.state.parameters, fit.sizes, fit.laws};
}
ModelNumbers true_numbers_of(const Fit& fit) {
  const bool has_sizes = fit.sample.model.family == EmissionFamily::kNegativeBinomial;
  return {fit.sample.model.family, fit.sample.truth,
          has_sizes ? fit.sample.model.size : std::vector<double>(), fit.laws};
}

// Means of the labels, with twice the errors that known labels would leave.
void check_means(const Fit& fit, double holes) {
  const TextbookTracks& model = fit.sample.model;
  const std::vector<double> found = numbers_of(fit).means();
  double worst = 0;
  for (std::size_t c = 0; c < model.labels; ++c)
    for (std::size_t f = 0; f < model.tracks; ++f) {
      const std::size_t i = c * model.tracks + f;
      const double m = model.mean[i];
      double variance = m;
      if (model.family == EmissionFamily::kBernoulli) variance = m * (1 - m);
      if (model.family == EmissionFamily::kGaussian) variance = model.variance[i];
      if (model.family == EmissionFamily::kNegativeBinomial) variance = m + m * m / model.size[f];
      worst =
          std::max(worst, std::fabs(found[i] - m) / std::sqrt(variance / (fit.state.bins[c] * (1 - holes))));
    }
  CHECK(worst < 2 * 4.2);  // 99.9 % of 20 normal numbers at once
  WARN("means within " << worst << " errors of known labels");
}

}  // namespace

// Takes minutes with sanitizers, so that CTest runs it without them alone.
TEST_CASE("known models are recovered from drawn tracks", "[.][learn-recovery]") {
  std::uint64_t seed = 900;
  const auto check = [&](EmissionFamily family, const LawOptions& law, double holes) {
    INFO("seed " << ++seed << ", " << emission_name(family));
    check_means(fit_from_truth(family, law, 20'000, seed, holes), holes);
  };
  for (const EmissionFamily family : kFamilies) check(family, {12, false, LawKind::kTable, false}, 0);
  check(EmissionFamily::kBernoulli, {20, true, LawKind::kTable, false}, 0);
  for (const EmissionFamily family : kFamilies) check(family, {12, false, LawKind::kTable, false}, 0.25);
}

// Hidden: `test_learn "[learn-million]"` runs it.
TEST_CASE("known models are recovered from a million bins", "[.][learn-million]") {
  std::uint64_t seed = 950;
  const auto check = [&](EmissionFamily family, const LawOptions& law, const std::vector<DurationLaw>& laws) {
    INFO("seed " << ++seed << ", " << emission_name(family));
    const Fit fit = fit_from_truth(family, law, 1'000'000, seed, 0, laws);
    // Errors at the truth: a probability that is estimated as nearly 0 would seem to be certain.
    const std::vector<double> found = numbers_of(fit).values;
    const ModelNumbers truth = true_numbers_of(fit);
    int dimensions = 0;
    const std::vector<double> errors = standard_errors(information(truth, fit.sample.truth, fit.sample.data),
                                                       truth.derivatives(), dimensions);
    double worst = 0, squares = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double off = std::fabs(found[i] - truth.values[i]) / errors[i];
      worst = std::max(worst, off);
      squares += off * off / static_cast<double>(found.size());
    }
    // 99.9 % of so many normal numbers at once; and they are as far as their errors say.
    CHECK(worst < 4.5);
    CHECK(squares > 0.5);
    CHECK(squares < 2);
    WARN(found.size() << " numbers within " << worst << " standard errors, mean square " << squares);
  };
  for (const EmissionFamily family : kFamilies) check(family, {20, false, LawKind::kTable, false}, {});
  const std::vector<DurationLaw> laws{{4, 1.5}, {12, 3}, {8, 6}, {20, 2}};
  for (const EmissionFamily family : kFamilies)
    check(family, {100, false, LawKind::kNegativeBinomial, false}, laws);
}

}  // namespace semicrf
