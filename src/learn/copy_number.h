// The preset for copy number: labels are numbers of copies, and the means of log ratios and allele fractions
// follow from the purity and ploidy of a sample (docs/fitting.md, "Copy number").
//
// Where a tumour makes up the share `purity` of the cells, with `ploidy` copies on average, n copies have the
// log ratio saturation * log2((purity n + 2 (1 - purity)) / (purity ploidy + 2 (1 - purity))), as the
// other cells have two. If a of n copies come from one parent, the share of that parent is
// (purity a + 1 - purity) / (purity n + 2 (1 - purity)).
#pragma once

#include <string>
#include <vector>

#include "engine/options.h"
#include "learn/em_fit.h"
#include "learn/learn_options.h"
#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/emissions/emissions.h"

namespace semicrf {

// Copies in all, and those of the parent that has more.
struct CopyState {
  int copies = 0, major = 0;
};
struct CopyNumbers {
  double purity = 0.5;    // 0.05 to 0.99
  double ploidy = 2;      // 1 to 8: the copies that have the log ratio 0
  double saturation = 1;  // 0.3 to 1.2: of the measurement; 1: none. Learned where there are alleles
};
double expected_log_ratio(const CopyNumbers& numbers, int copies);
double expected_major_share(double purity, const CopyState& state);  // 0.5 to 1

// 0 to `most` copies; with alleles a state for every share of the parents, named MAJOR+MINOR.
std::vector<CopyState> copy_states(int most, bool alleles);

// Sets what the preset `text`, copy-number or copy-number:MOST, says of the options; UsageError.
void apply_copy_number(const std::string& text, LearnOptions& options);

struct CopyNumberModel {
  Parameters parameters;  // before any fit
  DensityRules rules;     // with the law of the means, whose numbers are those of CopyNumbers, in order
};
// `tracks`: log2, and baf (allele fraction, 0 to 1) or alt and depth (reads of an allele, and all) or
// neither; UsageError for others. `raw`: their values.
CopyNumberModel copy_number_model(const LearnOptions& options, std::int64_t bin_size,
                                  std::vector<Track> tracks, const TrainingData& raw);

// A point of the grid, after a few iterations with this purity.
struct CopyNumberSolution {
  CopyNumbers numbers;
  int copies = 2;             // that have the median log ratio, where the iterations began
  double log_likelihood = 0;  // ln P(tracks) of the part of the data that the grid sees
  double probability = 0;     // among the points, which are as likely before
};
struct CopyNumberSearch {
  std::vector<CopyNumberSolution> solutions;  // likeliest first
  EmState best;  // the likeliest fit to all data among those that went on from the best points
};
// A grid over purity and the copies of the median log ratio; without alleles these are two. `shape` and
// `plan` as copy_number_model() has them. The same for any number of threads.
CopyNumberSearch search_copy_numbers(const TrainingData& data, const Parameters& shape, const LawOptions& law,
                                     const EmissionPlan& plan, const FrozenParts& frozen,
                                     const EngineOptions& engine);
// Tab-separated, with a header.
std::string solutions_table(const std::vector<CopyNumberSolution>& solutions);
CopyNumbers copy_numbers_of(const std::vector<double>& law_numbers);
// Copies by bin, where so many bins have each label of a model of the preset.
double mean_copies(const Parameters& parameters, const std::vector<double>& bins);

}  // namespace semicrf
