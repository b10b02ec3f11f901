#include "bench/real_workloads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <stdexcept>

namespace semicrf {
namespace {

constexpr double kForbidden = kNegativeInfinity;
constexpr double kNoTail = 0;

// --- Chromatin states: chromosome 11 of GM12878 in hg18, bins of 200 bases, ChromHMM with ten states of ten
// 0/1 marks. Scores of labels there differ by 13 nats at most positions and by 33 at one in a hundred; over
// 16 positions they differ by 215 at the median and by 370 at one in a hundred blocks.

constexpr std::size_t kStates = 10;
constexpr std::size_t kMarks = 10;
constexpr std::size_t kQuantiles = 10;

// P(mark = 1), two digits of ChromHMM's emissions: H3K27ac H3K9ac H3K4me3 H3K4me2 H3K4me1 H3K36me3 H4K20me1
// WCE H3K27me3 CTCF.
constexpr std::array<std::array<double, kMarks>, kStates> kMarkProbability{{
    {0.0011, 0.0002, 0.0022, 0.0012, 0.0034, 7.1e-05, 0.015, 0.00041, 0.12, 0.0012},
    {0.00031, 0.0001, 0.0012, 9.2e-05, 0.0005, 0.0011, 0.0023, 0.00025, 0.0044, 0.00051},
    {0.29, 0.37, 0.85, 0.25, 0.36, 0.54, 0.47, 0.49, 0.49, 0.68},
    {0.0027, 0.0017, 0.0063, 0.031, 0.079, 0.016, 0.035, 0.0018, 0.027, 0.96},
    {0.012, 0.0045, 0.012, 0.077, 0.51, 0.01, 0.019, 0.0012, 0.0074, 0.0067},
    {0.46, 0.055, 0.11, 0.44, 0.87, 0.21, 0.043, 0.002, 0.00037, 0.035},
    {0.94, 0.68, 0.81, 0.99, 0.95, 0.12, 0.048, 0.0028, 0.00048, 0.072},
    {0.91, 0.98, 0.98, 0.91, 0.16, 0.037, 0.041, 0.0025, 0.0043, 0.16},
    {0.059, 0.19, 0.63, 0.86, 0.51, 0.1, 0.068, 0.0013, 0.11, 0.11},
    {0.0023, 0.0008, 0.004, 0.0032, 0.016, 0.39, 0.025, 0.00038, 0.00023, 0.0059},
}};

// Log scores as docs/examples/make_chr11_params.py makes them: a state never follows itself, -10 and less
// stands for transitions that ChromHMM never saw.
constexpr std::array<std::array<double, kStates>, kStates> kStateTransition{{
    {kForbidden, -0.58, -4.06, -1.60, -2.22, -10.43, -10.43, -10.43, -2.17, -10.43},
    {-1.61, kForbidden, -2.75, -1.51, -0.87, -9.52, -7.49, -8.47, -3.68, -2.63},
    {-2.44, -0.21, kForbidden, -3.45, -4.74, -12.62, -12.62, -12.62, -5.90, -2.80},
    {-1.52, -0.44, -5.16, kForbidden, -2.92, -5.77, -6.25, -6.90, -3.44, -3.25},
    {-2.97, -0.69, -12.47, -3.63, kForbidden, -1.38, -4.12, -6.05, -2.09, -3.52},
    {-12.64, -12.64, -12.64, -5.80, -0.78, kForbidden, -1.05, -12.64, -5.80, -1.70},
    {-12.23, -5.95, -12.23, -5.25, -2.59, -0.43, kForbidden, -1.84, -2.24, -12.23},
    {-11.84, -11.84, -11.84, -4.44, -4.38, -11.84, -1.14, kForbidden, -0.42, -11.84},
    {-1.94, -2.58, -12.50, -3.36, -1.05, -12.50, -2.58, -1.33, kForbidden, -2.86},
    {-10.20, -1.01, -3.97, -2.84, -2.27, -1.00, -10.20, -10.20, -2.42, kForbidden},
}};

// Quantiles 5 %, 15 %, .. 95 % of the durations in bins of ChromHMM's segments up to base 67,000,000.
constexpr std::array<std::array<double, kQuantiles>, kStates> kStateDurations{{
    {2, 5, 9, 13, 17, 23, 31, 40, 52, 81},
    {3, 8, 12, 17, 24, 33, 47, 69, 115, 292},
    {1, 1, 1, 1, 2, 2, 2, 3, 5, 20},
    {1, 1, 1, 1, 2, 2, 2, 3, 3, 4},
    {1, 1, 1, 2, 2, 3, 4, 5, 7, 11},
    {1, 1, 1, 2, 2, 3, 3, 4, 6, 10},
    {1, 2, 2, 3, 3, 4, 5, 6, 9, 14},
    {1, 2, 3, 5, 6, 7, 9, 10, 12, 16},
    {1, 1, 1, 2, 3, 3, 4, 5, 7, 10},
    {2, 4, 8, 12, 17, 24, 33, 45, 69, 128},
}};
constexpr std::size_t kEmptyState = 1;  // no mark: where the chromosome begins; 15,299 bins at the longest
constexpr double kEmptyStateTail = 0.9982;  // q beyond K = 500; no other state has one
constexpr double kLeastProbability = 1e-6;  // --least of make_chr11_params.py

// --- Genes of yeast, bins of 3 bases: labels and durations of chromosomes II, V and VIII, log odds of codons
// measured on VIII.

constexpr std::size_t kGeneLabels = 8;  // intergenic, intron, CDS+0..2, CDS-0..2
constexpr std::size_t kFirstCoding = 2;
constexpr std::array<std::array<double, kGeneLabels>, kGeneLabels> kGeneTransition{{
    {kForbidden, -6.78, -1.68, -1.82, -1.92, -1.81, -1.69, -1.86},
    {-4.03, kForbidden, -2.16, -2.31, -1.34, -2.03, -1.81, -1.55},
    {-0.07, -3.04, kForbidden, -7.55, -7.55, -5.16, -5.16, -5.16},
    {-0.07, -3.14, -7.41, kForbidden, -7.41, -3.97, -5.01, -7.41},
    {-0.09, -2.70, -5.01, -7.41, kForbidden, -5.01, -7.41, -7.41},
    {-0.10, -2.83, -5.05, -4.40, -5.05, kForbidden, -5.05, -5.05},
    {-0.10, -2.76, -5.16, -7.56, -3.63, -7.56, kForbidden, -7.56},
    {-0.07, -2.71, -7.42, -7.42, -7.42, -7.42, -7.42, kForbidden},
}};
constexpr std::array<double, kGeneLabels> kGeneStart{-0.76, -3.51, -2.39, -2.54, -2.54, -2.49, -2.38, -2.52};
constexpr std::array<double, kQuantiles> kIntergenic{33, 63, 80, 95, 111, 135, 164, 215, 290, 554};
constexpr std::array<double, kQuantiles> kIntron{23, 28, 30, 31, 34, 40, 56, 128, 147, 175};
constexpr std::array<double, kQuantiles> kCoding{34, 111, 174, 238, 313, 401, 485, 576, 734, 1112};
constexpr double kIntergenicTail = 0.99669, kCodingTail = 0.99824;

// Log odds of a codon where it is read in the frame of its gene, and anywhere else: a stop codon counts -4,
// the others are about normal.
struct CodonOdds {
  double stops, mean, deviation;
};
constexpr CodonOdds kOwnFrame{0.0019, 0.145, 0.418}, kOtherFrame{0.062, 0.0, 0.427};
constexpr double kStopCodon = -4;

// --- Phones of speech, frames of 10 ms: the shape of the batches of a speech recogniser. No corpus was at
// hand: durations of about 80 ms and log-softmax scores of which the right phone usually has the best are
// stand-ins.

constexpr std::size_t kPhones = 39;
constexpr std::array<double, kQuantiles> kPhoneDurations{2, 4, 5, 6, 7, 8, 9, 11, 13, 18};
constexpr double kPhoneLogits = 2, kRightPhone = 6;

using Random = std::mt19937_64;

// As docs/examples/plug_in.py: each example is spread as a Gaussian on the scale of log durations, and every
// duration up to the last stays possible. `tail`: q, or kNoTail; then durations end at three times the
// longest example.
void set_durations(ChainModel& model, std::size_t c, std::span<const double> examples, double tail) {
  constexpr double kBandwidth = 0.3;  // for ten quantiles; the script has 0.2 for hundreds of examples
  const auto labels = static_cast<std::size_t>(model.num_labels);
  const int longest = model.max_duration;
  const int last =
      tail != kNoTail
          ? longest
          : std::min(longest, static_cast<int>(3 * *std::max_element(examples.begin(), examples.end())));
  std::vector<double> mass(static_cast<std::size_t>(longest) + 1);
  for (const double example : examples) {
    const int reach = static_cast<int>(example * std::exp(5 * kBandwidth)) + 1;
    const auto weight = [&](int k) {
      const double distance = std::log(k / example) / kBandwidth;
      return std::exp(-0.5 * distance * distance) / k;
    };
    double total = 0;
    for (int k = 1; k <= reach; ++k) total += weight(k);
    for (int k = 1; k <= std::min(reach, longest); ++k)
      mass[k] += weight(k) / total / static_cast<double>(examples.size());
  }
  for (int k = 1; k <= longest; ++k) {
    const double probability = 0.999 * mass[k] + 1e-3 / last;
    model.duration_bias[static_cast<std::size_t>(k - 1) * labels + c] =
        k <= last ? std::log(probability) : kForbidden;
  }
  if (tail != kNoTail) model.log_tail[c] = std::log(tail);
}

ChainModel empty_model(const BenchWorkload& workload) {
  ChainModel model;
  const auto labels = static_cast<std::size_t>(workload.num_labels);
  model.num_labels = workload.num_labels;
  model.max_duration = workload.max_duration;
  model.initial = InitialTerm::kNone;
  model.transition.assign(labels * labels, kForbidden);
  model.duration_bias.assign(labels * static_cast<std::size_t>(workload.max_duration), kForbidden);
  model.start_scores.assign(labels, 0);
  model.end_scores.assign(labels, 0);
  return model;
}

// Draws numbers with probabilities proportional to exp(scores).
class LogDraw {
 public:
  explicit LogDraw(std::vector<double> scores) : sums_(std::move(scores)) {
    double sum = 0;
    for (double& value : sums_) value = sum += std::exp(value);
  }
  std::size_t draw(Random& random) const {
    const double at = std::uniform_real_distribution<double>(0, sums_.back())(random);
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
    return static_cast<std::size_t>(std::min(found, sums_.end() - 1) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

// The label of every position of a chain of segments drawn from the model's own tables. Scores of a table
// need not be those of probabilities: each row is taken relative to its sum.
class ChainDraw {
 public:
  explicit ChainDraw(const ChainModel& model) : model_(model), start_(model.start_scores) {
    const auto labels = static_cast<std::size_t>(model.num_labels);
    for (std::size_t c = 0; c < labels; ++c) {
      const auto row = model.transition.begin() + static_cast<std::ptrdiff_t>(c * labels);
      next_.emplace_back(std::vector<double>(row, row + model.num_labels));
      std::vector<double> column;
      for (int k = 1; k <= model.max_duration; ++k)
        column.push_back(model.duration_score(k, static_cast<int>(c)));
      // What goes on beyond K is one more outcome.
      const double q = model.has_tail() ? std::exp(model.log_tail[c]) : 0;
      column.push_back(q > 0 ? column.back() + std::log(q / (1 - q)) : kForbidden);
      duration_.emplace_back(std::move(column));
    }
  }

  std::vector<int> draw(std::int64_t length, Random& random) const {
    std::vector<int> path;
    path.reserve(length);
    for (std::size_t label = start_.draw(random); static_cast<std::int64_t>(path.size()) < length;
         label = next_[label].draw(random)) {
      auto duration = static_cast<std::int64_t>(duration_[label].draw(random)) + 1;
      if (duration > model_.max_duration) {
        const double q = std::exp(model_.log_tail[label]);
        duration += std::geometric_distribution<std::int64_t>(1 - q)(random);
      }
      duration = std::min(duration, length - static_cast<std::int64_t>(path.size()));
      path.insert(path.end(), static_cast<std::size_t>(duration), static_cast<int>(label));
    }
    return path;
  }

 private:
  const ChainModel& model_;
  LogDraw start_;
  std::vector<LogDraw> next_, duration_;
};

ChainModel chr11_model(const BenchWorkload& workload) {
  ChainModel model = empty_model(workload);
  model.log_tail.assign(kStates, kForbidden);
  for (std::size_t c = 0; c < kStates; ++c) {
    std::copy(kStateTransition[c].begin(), kStateTransition[c].end(),
              model.transition.begin() + static_cast<std::ptrdiff_t>(c * kStates));
    set_durations(model, c, kStateDurations[c], c == kEmptyState ? kEmptyStateTail : kNoTail);
    model.start_scores[c] = c == kEmptyState ? 0 : std::log(kLeastProbability);
  }
  return model;
}

// A mark x scores x (log p - log(1-p)) + log(1-p).
void add_chr11_scores(std::span<const int> path, Random& random, std::vector<float>& scores) {
  std::array<std::array<double, kMarks>, kStates> weight;
  std::array<double, kStates> bias{};
  for (std::size_t c = 0; c < kStates; ++c) {
    for (std::size_t m = 0; m < kMarks; ++m) {
      const double p = kMarkProbability[c][m];
      weight[c][m] = std::log(p / (1 - p));
      bias[c] += std::log1p(-p);
    }
  }
  std::uniform_real_distribution<double> uniform;
  for (const int label : path) {
    std::array<double, kStates> row = bias;
    for (std::size_t m = 0; m < kMarks; ++m) {
      if (uniform(random) >= kMarkProbability[label][m]) continue;
      for (std::size_t c = 0; c < kStates; ++c) row[c] += weight[c][m];
    }
    for (const double score : row) scores.push_back(static_cast<float>(score));
  }
}

ChainModel yeast_model(const BenchWorkload& workload) {
  ChainModel model = empty_model(workload);
  model.log_tail.assign(kGeneLabels, kForbidden);
  for (std::size_t c = 0; c < kGeneLabels; ++c) {
    std::copy(kGeneTransition[c].begin(), kGeneTransition[c].end(),
              model.transition.begin() + static_cast<std::ptrdiff_t>(c * kGeneLabels));
    model.start_scores[c] = kGeneStart[c];
  }
  set_durations(model, 0, kIntergenic, kIntergenicTail);
  set_durations(model, 1, kIntron, kNoTail);
  for (std::size_t c = kFirstCoding; c < kGeneLabels; ++c) set_durations(model, c, kCoding, kCodingTail);
  return model;
}

// A coding label scores the log odds of its own frame, the others 0.
void add_yeast_scores(std::span<const int> path, Random& random, std::vector<float>& scores) {
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  for (const int label : path) {
    for (std::size_t c = 0; c < kGeneLabels; ++c) {
      if (c < kFirstCoding) {
        scores.push_back(0);
        continue;
      }
      const CodonOdds& odds = static_cast<std::size_t>(label) == c ? kOwnFrame : kOtherFrame;
      const double score =
          uniform(random) < odds.stops ? kStopCodon : odds.mean + odds.deviation * normal(random);
      scores.push_back(static_cast<float>(score));
    }
  }
}

ChainModel speech_model(const BenchWorkload& workload, Random& random) {
  ChainModel model = empty_model(workload);
  std::normal_distribution<double> normal;
  for (std::size_t from = 0; from < kPhones; ++from) {
    double sum = 0;
    for (std::size_t to = 0; to < kPhones; ++to) {
      if (to == from) continue;
      model.transition[from * kPhones + to] = normal(random);
      sum += std::exp(model.transition[from * kPhones + to]);
    }
    for (std::size_t to = 0; to < kPhones; ++to) model.transition[from * kPhones + to] -= std::log(sum);
    set_durations(model, from, kPhoneDurations, kNoTail);
  }
  return model;
}

void add_speech_scores(std::span<const int> path, Random& random, std::vector<float>& scores) {
  std::normal_distribution<double> normal(0, kPhoneLogits);
  for (const int label : path) {
    std::array<double, kPhones> row;
    double sum = 0;
    for (std::size_t c = 0; c < kPhones; ++c) {
      row[c] = normal(random) + (static_cast<std::size_t>(label) == c ? kRightPhone : 0.0);
      sum += std::exp(row[c]);
    }
    for (const double logit : row) scores.push_back(static_cast<float>(logit - std::log(sum)));
  }
}

}  // namespace

BenchSample make_real_sample(const BenchWorkload& workload, std::uint64_t seed) {
  Random random(seed);
  BenchSample sample;
  void (*add_scores)(std::span<const int>, Random&, std::vector<float>&) = nullptr;
  switch (workload.kind) {
    case WorkloadKind::kChr11:
      sample.model = chr11_model(workload);
      add_scores = add_chr11_scores;
      break;
    case WorkloadKind::kYeast:
      sample.model = yeast_model(workload);
      add_scores = add_yeast_scores;
      break;
    case WorkloadKind::kSpeech:
      sample.model = speech_model(workload, random);
      add_scores = add_speech_scores;
      break;
    case WorkloadKind::kNormal:
      throw std::logic_error("a workload of normal scores is not a real one");
  }
  const ChainDraw chain(sample.model);
  sample.emissions.reserve(workload.positions() * workload.num_labels);
  for (int i = 0; i < workload.sequences; ++i)
    add_scores(chain.draw(workload.length, random), random, sample.emissions);
  return sample;
}

}  // namespace semicrf
