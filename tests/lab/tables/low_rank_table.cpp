// Transitions that depend on the duration: what low rank costs, and whether it describes real segments
// better.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "lab/backends/streaming.h"
#include "lab/low_rank/segment_law.h"
#include "lab/product.h"
#include "lab/tables/table.h"

namespace semicrf::lab {
namespace {

LowRankTransition random_low_rank(const Shape& shape, Index rank, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  LowRankTransition low;
  low.rank = rank;
  low.log_u.resize(rank * shape.K * shape.C);
  low.log_A.resize(rank * shape.C * shape.C);
  for (auto* part : {&low.log_u, &low.log_A})
    for (double& value : *part) value = normal(random);
  return low;
}

// Seconds of log Z by the dense recursion, O(T K C^2), and by low rank, O(T R (K C + C^2)).
void write_costs(const Run& run) {
  Table table(
      run, "low_rank_cost.tsv",
      {"T", "K", "C", "R", "dense_seconds", "low_rank_seconds", "ratio", "relative_difference_of_log_Z"});
  for (const auto& [K, C] : {std::pair<Index, Index>{20, 4}, {20, 16}, {100, 8}, {100, 24}}) {
    const Shape shape{run.pick<Index>(200, 1000), K, C};
    Problem problem = random_problem(shape, 1, false);
    problem.by_duration = true;
    for (const Index R : {1, 2, 4}) {
      const LowRankTransition low = random_low_rank(shape, R, R);
      problem.transition = low.dense(shape);
      Memory memory;
      Log ring;
      const double begin = processor_seconds();
      const double dense = StreamingBackend::run(problem, ring, memory, ForwardOnly{});
      const double middle = processor_seconds();
      const double found = low_rank_scan(problem, low, nullptr);
      const double end = processor_seconds();
      table.row(shape.T, K, C, R, middle - begin, end - middle, (middle - begin) / (end - middle),
                std::fabs(found - dense) / std::fabs(dense));
    }
  }
}

struct DataSet {
  std::string name, file;
  std::int64_t bin;  // bases per position
};

// Steps of a BED file, by halves of chromosomes: even stretches of a hundred segments to fit, odd ones to
// judge.
struct Split {
  std::vector<Step> fit, judge;
  Index labels = 0, classes = 0;
};
Split read_steps(const DataSet& data) {
  std::ifstream file(data.file);
  std::map<std::string, Index> labels;
  std::string line, chromosome_before;
  Index before = 0, count = 0;
  Split split;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string chromosome, label;
    std::int64_t begin = 0, end = 0;
    if (!(fields >> chromosome >> begin >> end >> label)) continue;
    const Index to = labels.emplace(label, labels.size()).first->second;
    const std::int64_t duration = std::max<std::int64_t>(1, (end - begin + data.bin / 2) / data.bin);
    const Index k = duration_class(duration);
    split.classes = std::max(split.classes, k + 1);
    if (chromosome == chromosome_before)
      (count++ / 100 % 2 == 0 ? split.fit : split.judge).push_back({before, to, k});
    before = to;
    chromosome_before = chromosome;
  }
  split.labels = labels.size();
  return split;
}

// Segments whose label's duration depends on the label before (1), or does not (0).
Split synthetic_steps(bool dependent) {
  std::mt19937_64 random(5);
  std::poisson_distribution<std::int64_t> brief(4), lengthy(30);
  Split split;
  split.labels = 3;
  Index before = 0;
  for (Index i = 0; i < 20'000; ++i) {
    const Index to = (before + 1 + random() % 2) % 3;
    const bool is_long = dependent ? before == 0 : random() % 3 == 0;
    const Index k = duration_class(1 + (is_long ? lengthy(random) : brief(random)));
    split.classes = std::max(split.classes, k + 1);
    (i / 100 % 2 == 0 ? split.fit : split.judge).push_back({before, to, k});
    before = to;
  }
  return split;
}

void write_split(Table& table, const std::string& name, const Split& split) {
  double first = 0;
  for (Index rank = 1; rank <= 4; ++rank) {
    // The best of three starts by the segments that it was fitted to; the prior is the one that suits rank 1
    // best.
    SegmentLaw best;
    double best_fit = kNegativeInfinity;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SegmentLaw law = fit(split.fit, rank, split.labels, split.classes, 0.5, 200, seed);
      const double value = mean_log_likelihood(law, split.fit);
      if (value <= best_fit) continue;
      best_fit = value;
      best = std::move(law);
    }
    const double judged = mean_log_likelihood(best, split.judge);
    if (rank == 1) first = judged;
    double variance = 0;  // of the gain per segment
    const SegmentLaw usual = fit(split.fit, 1, split.labels, split.classes, 0.5, 200, 1);
    for (const Step& step : split.judge) {
      const double gain = std::log(best.probability(step) / usual.probability(step)) - (judged - first);
      variance += gain * gain;
    }
    const auto n = static_cast<double>(split.judge.size());
    table.row(name, split.labels, split.classes, split.fit.size(), split.judge.size(), rank, best_fit, judged,
              judged - first, std::sqrt(variance) / n);
  }
}

void write_gains(const Run& run) {
  Table table(run, "low_rank_gain.tsv",
              {"data", "labels", "duration_classes", "segments_fitted", "segments_judged", "rank",
               "nats_per_segment_fitted", "nats_per_segment_judged", "gain_over_rank_1", "standard_error"});
  write_split(table, "synthetic, durations depend on the label before", synthetic_steps(true));
  write_split(table, "synthetic, they do not", synthetic_steps(false));
  const std::string folder = run.data.string();
  for (const DataSet& data :
       {DataSet{"GENCODE v29 chr19: exon, intron, intergenic (bases)",
                folder + "/segway_chr19_GRCh38/gencode29.chr19.structure.bed", 1},
        DataSet{"yeast genes: 8 labels (3-base bins)", folder + "/yeast/genes.bed", 3},
        DataSet{"ChromHMM 10 states, chr11 (200-base bins)", folder + "/chr11_hg18/GM12878.chromhmm10.bed",
                200},
        DataSet{"ChromHMM 8 states, E003 (200-base bins)", folder + "/pilot_hg19/E003.chromhmm8.bed", 200}}) {
    if (std::filesystem::exists(data.file))
      write_split(table, data.name, read_steps(data));
    else
      std::fprintf(stderr, "low-rank: %s is not here, %s is left out\n", data.file.c_str(),
                   data.name.c_str());
  }
}

}  // namespace

void write_low_rank(const Run& run) {
  write_costs(run);
  write_gains(run);
}

}  // namespace semicrf::lab
