// The options of the commands decode, posterior and simulate. They are filled in apps/; nothing below reads
// the command line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/options.h"
#include "inputs/input_options.h"
#include "io/json/multiqc_json.h"
#include "io/params/params_json.h"
#include "outputs/folders/chromhmm_outputs.h"
#include "outputs/folders/hub_outputs.h"

namespace semicrf {

// The treatment of a piece that has no segmentation with a finite score.
enum class InfeasiblePolicy { kError, kSkip };

struct RunOptions {
  InputOptions input;
  std::shared_ptr<const ParameterFile> parameters;  // the file of `input`, read before; or null
  std::vector<std::string> biases;  // LABEL=X: added to the score of every segment of the label
  EngineOptions engine;
  std::optional<std::int64_t> max_memory;  // bytes for everything; absent: a modest default for windows
  InfeasiblePolicy infeasible = InfeasiblePolicy::kError;
  bool write_index = false;     // writes an index of outputs whose names end in .gz
  int digits = 6;               // decimals of bedGraph values
  std::string stats_path;       // file of the statistics, or empty
  MultiqcTarget multiqc;        // documents for MultiQC about a run that decodes, with its sample
  std::string constraints;      // BED, the constraint in column 4; or empty
  std::string version;          // version of the program, for headers
  bool header_comments = true;  // `#` lines in outputs; without them tables have a plain line of names
};

// The score column of decoded segments: 1000 times the mean posterior of their label, or 0.
enum class ScoreColumn {
  kPosterior,  // computes posteriors
  kNone,       // 0, unless posteriors are computed anyway
};

inline constexpr std::int64_t kDefaultReviewTop = 200;

struct DecodeOptions {
  RunOptions run;
  std::optional<PathRule> rule;         // absent: that of the parameters, or kPosterior with thresholds
  std::optional<double> gamma;          // weight of boundaries under PathRule::kPosterior, >= 0; absent: 0
  std::vector<std::string> thresholds;  // LABEL=P: the label is called where its posterior is at least P
  // Segments, BED or bigBed; several best: a file for each, see numbered_path(). Empty, with a folder: none.
  std::string output = "-";
  int best = 1;                          // segmentations, 1 to kMostBestPaths
  std::string posterior_path;            // boundary posterior, bedGraph; empty: none
  std::string table_path;                // table of the segments with their posteriors, TSV; empty: none
  std::string boundaries_path;           // table of the boundaries with their posteriors, TSV; empty: none
  std::optional<double> interval_level;  // level of the intervals of boundaries; absent:
                                         // kDefaultIntervalLevel, and no intervals in the table of segments
  std::string review_path;               // uncertain boundaries, BED; empty: none
  std::int64_t review_top = kDefaultReviewTop;  // most uncertain boundaries in it, >= 1
  bool review_top_given = false;
  std::optional<ScoreColumn> score;  // absent: kPosterior, for several segmentations kNone
  bool entropy = true;               // entropies in the statistics, where posteriors are computed
  std::vector<std::string> only;  // labels whose segments `output` has; empty: of all, or in narrowPeak all
                                  // but the background of the training
  bool merge_adjacent = false;
  bool extra_columns = false;  // three columns of posteriors behind the nine of BED
  HubOptions hub;
  ChromHmmFolder chromhmm;
};
inline constexpr double kDefaultIntervalLevel = 0.95;

struct SimulateOptions {
  RunOptions run;
  // Segments, BED or bigBed; several samples: one file for each, see numbered_path().
  std::string output = "-";
  int draws = 1;
  std::uint64_t seed = 1;
  std::string emissions;  // generated rows: an .npy file, or a prefix; empty: not written
};

struct PosteriorOptions {
  RunOptions run;
  std::string output = "-";  // boundary posterior, bedGraph
  std::string labels_out;    // prefix of the label posteriors' bedGraphs, or an .npy file; empty: none
  std::string starts_out;    // labels_out for P(a segment of a label starts at the bin)
  std::string ends_out;      // labels_out for P(a segment of a label has its last bin there)
  std::string counts_out;    // log Z and expected counts, .npz; empty: none
  bool entropy = true;       // entropies in the statistics
  double min_posterior = 0;  // smaller values get no line
};

}  // namespace semicrf
