// Tables 1 and 2 of the paper, with accuracy and the rare label's F1 beside the counts; peaks of the
// cumulative scores; log Z under position-max.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/compensated_sum.h"
#include "lab/centring/centring.h"
#include "lab/tables/table.h"
#include "lab/validation/training.h"

namespace semicrf::lab {
namespace {

void write_example(const Run& run) {
  Table table(run, "centring_example.tsv",
              {"label", "active", "inactive", "prevalence", "nu", "-nu*100", "contrast"});
  for (const ToyLabel& label : kToyLabels)
    table.row(label.name, label.active, label.inactive, label.prevalence, label.baseline(),
              -100 * label.baseline(), label.contrast());
}

class MeanAndSpread {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
    ++count_;
  }
  double mean() const { return sum_ / count_; }
  double spread() const { return std::sqrt(std::max(0.0, (squares_ - sum_ * mean()) / (count_ - 1))); }

 private:
  double sum_ = 0, squares_ = 0, count_ = 0;
};

// The numbers of one decoding, in the order of the columns.
std::vector<double> numbers(const Agreement& agreement) {
  return {agreement.segments[0], agreement.segments[1], agreement.segments[2],
          agreement.accuracy,    agreement.rare_f1,     agreement.rare_segment_f1};
}

void write_ablation(const Run& run) {
  std::vector<std::string> columns{"proportions", "noise", "centring", "seeds"};
  for (const char* name :
       {"segments_0", "segments_1", "segments_2", "accuracy", "rare_f1", "rare_segment_f1"}) {
    columns.emplace_back(name);
    columns.push_back(std::string(name) + "_sd");
  }
  Table table(run, "centring_ablation.tsv", columns);
  const int seeds = run.pick(50, 500);
  const auto engine = product_engine("cpu double", rare_labels_model());
  for (const bool balanced : {false, true})
    for (const double noise : {1.0, 2.0, 4.0, 6.0}) {
      RareLabels setting;
      setting.noise = noise;
      if (balanced) setting.shares = {1.0 / 3, 1.0 / 3, 1.0 / 3};
      for (const std::string centring : {"truth", "none", "position-max", "mean"}) {
        std::vector<MeanAndSpread> sums(6);
        for (int seed = 1; seed <= seeds; ++seed) {
          LabelledSequence drawn = draw(setting, static_cast<std::uint64_t>(seed));
          Sequence sequence = sequence_of(std::move(drawn.emissions), 3);
          if (centring == "mean") sequence.baseline = means_of(sequence.f64, 3);
          sequence.subtract_position_max = centring == "position-max";
          const std::vector<Segment> found = centring == "truth" ? drawn.truth : best_path(*engine, sequence);
          const std::vector<double> values = numbers(compare(drawn.truth, found, setting.length));
          for (std::size_t i = 0; i < values.size(); ++i) sums[i].add(values[i]);
        }
        table.row(balanced ? "balanced" : "75/15/10", noise, centring, seeds, sums[0].mean(),
                  sums[0].spread(), sums[1].mean(), sums[1].spread(), sums[2].mean(), sums[2].spread(),
                  sums[3].mean(), sums[3].spread(), sums[4].mean(), sums[4].spread(), sums[5].mean(),
                  sums[5].spread());
      }
    }
}

void write_peaks(const Run& run) {
  Table table(run, "centring_peaks.tsv", {"T", "seeds", "centring", "peak/sqrt(T)", "sd"});
  const int seeds = run.pick(10, 50);
  for (const std::int64_t length : {500, 5000, 50000})
    for (const std::string centring : {"none", "mean"}) {
      MeanAndSpread peaks;
      for (int seed = 1; seed <= seeds; ++seed) {
        RareLabels setting;
        setting.length = length;
        const auto emissions = draw(setting, static_cast<std::uint64_t>(seed)).emissions;
        const auto baseline = centring == "mean" ? means_of(emissions, 3) : std::vector<double>{};
        peaks.add(largest_sum(emissions, 3, baseline) / std::sqrt(static_cast<double>(length)));
      }
      table.row(length, seeds, centring, peaks.mean(), peaks.spread());
    }
}

void write_position_max(const Run& run) {
  Table table(run, "centring_position_max.tsv",
              {"seed", "T", "log_Z_none", "log_Z_position_max", "sum_of_maxima", "relative_difference",
               "log_Z_mean"});
  const auto engine = product_engine("reference", rare_labels_model());
  for (int seed = 1; seed <= run.pick(5, 20); ++seed) {
    RareLabels setting;
    Sequence sequence = sequence_of(draw(setting, static_cast<std::uint64_t>(seed)).emissions, 3);
    const double none = log_partition(*engine, sequence);
    sequence.subtract_position_max = true;
    const double without = log_partition(*engine, sequence);
    sequence.subtract_position_max = false;
    sequence.baseline = means_of(sequence.f64, 3);
    CompensatedSum maxima;
    for (std::size_t i = 0; i < sequence.f64.size(); i += 3)
      maxima.add(*std::max_element(sequence.f64.begin() + static_cast<std::ptrdiff_t>(i),
                                   sequence.f64.begin() + static_cast<std::ptrdiff_t>(i) + 3));
    table.row(seed, setting.length, none, without, maxima.value(),
              std::fabs(none - without - maxima.value()) / std::fabs(none), log_partition(*engine, sequence));
  }
}

// Sequences to train on and to test with: `shares` of the labels, or shares of its own for each sequence.
std::vector<LabelledSequence> draw_several(const std::string& shares, int count, std::int64_t length,
                                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::gamma_distribution<double> weight(1.0);
  std::vector<LabelledSequence> all;
  for (int i = 0; i < count; ++i) {
    RareLabels setting;
    setting.noise = 4;
    setting.length = length;
    if (shares == "balanced") setting.shares = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    if (shares == "10/15/75") setting.shares = {0.10, 0.15, 0.75};
    if (shares == "varied") setting.shares = {weight(random), weight(random), weight(random)};
    all.push_back(draw(setting, seed * 1000 + static_cast<std::uint64_t>(i)));
  }
  return all;
}

// The scores of a sequence as features, and a constant; less their means over the sequence where that is what
// centring the emissions means (they are linear in the features).
std::vector<double> features_of(const LabelledSequence& sequence, bool centred) {
  const std::vector<double> means = means_of(sequence.emissions, 3);
  std::vector<double> rows;
  for (std::size_t i = 0; i < sequence.emissions.size(); ++i) {
    rows.push_back(sequence.emissions[i] - (centred ? means[i % 3] : 0));
    if (i % 3 == 2) rows.push_back(centred ? 0 : 1);
  }
  return rows;
}

Parameters train_model(const std::string& shares, bool centred, int count, int epochs, std::uint64_t seed) {
  TrainingData data{3, 15, 4, {}, {}};
  for (const LabelledSequence& sequence : draw_several(shares, count, 500, seed)) {
    data.rows.push_back(features_of(sequence, centred));
    data.segments.push_back(sequence.truth);
  }
  return train(data, epochs,
               [](const Problem& problem) {
                 const auto engine = product_engine("cpu double", chain_of(problem));
                 Marginals found = marginals(*engine, sequence_of(problem));
                 return Value{found.log_partition, std::move(found.labels),
                              std::move(found.counts.transition), std::move(found.counts.duration)};
               })
      .last;
}

// The paper's argument for the mean: durations learn its average effect, so that it regularises sequences of
// another balance. Models are trained under both baselines, and judged where the balance is another.
void write_trained(const Run& run) {
  Table table(run, "centring_trained.tsv",
              {"trained_on", "centring", "tested_on", "seeds", "accuracy", "accuracy_sd", "rare_f1",
               "rare_f1_sd", "rare_segment_f1", "rare_segment_f1_sd", "segments_2", "true_segments_2"});
  const int seeds = run.pick(2, 10), count = run.pick(8, 20), epochs = run.pick(60, 150);
  for (const std::string trained_on : {"75/15/10", "varied"})
    for (const bool centred : {false, true}) {
      std::vector<Parameters> models;
      for (int seed = 1; seed <= seeds; ++seed)
        models.push_back(train_model(trained_on, centred, count, epochs, static_cast<std::uint64_t>(seed)));
      for (const std::string tested_on : {"75/15/10", "balanced", "10/15/75"}) {
        std::vector<MeanAndSpread> sums(5);
        for (int seed = 1; seed <= seeds; ++seed)
          for (const LabelledSequence& sequence :
               draw_several(tested_on, run.pick(4, 10), 2000, 100 + static_cast<std::uint64_t>(seed))) {
            const Problem problem = problem_of({3, 15, 4, {}, {}}, models[static_cast<std::size_t>(seed - 1)],
                                               features_of(sequence, centred));
            const auto engine = product_engine("cpu double", chain_of(problem));
            const Agreement found = compare(sequence.truth, best_path(*engine, sequence_of(problem)), 2000);
            double truth = 0;
            for (const Segment& segment : sequence.truth) truth += segment.label == 2 ? 1 : 0;
            const double values[] = {found.accuracy, found.rare_f1, found.rare_segment_f1, found.segments[2],
                                     truth};
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(values[i]);
          }
        table.row(trained_on, centred ? "mean" : "none", tested_on, seeds, sums[0].mean(), sums[0].spread(),
                  sums[1].mean(), sums[1].spread(), sums[2].mean(), sums[2].spread(), sums[3].mean(),
                  sums[4].mean());
      }
    }
}

}  // namespace

void write_centring(const Run& run) {
  write_example(run);
  write_ablation(run);
  write_peaks(run);
  write_position_max(run);
  write_trained(run);
}

}  // namespace semicrf::lab
