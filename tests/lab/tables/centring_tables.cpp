// Tables 1 and 2 of the paper, with accuracy and the rare label's F1 beside the counts; peaks of the
// cumulative scores; log Z under position-max.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/compensated_sum.h"
#include "lab/centring/centring.h"
#include "lab/tables/table.h"

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

}  // namespace

void write_centring(const Run& run) {
  write_example(run);
  write_ablation(run);
  write_peaks(run);
  write_position_max(run);
}

}  // namespace semicrf::lab
