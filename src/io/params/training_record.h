// The `training` section of a parameter file: how it was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/statistic.h"
#include "model/describe.h"
#include "model/durations/duration.h"
#include "model/missing_tracks.h"
#include "model/parameters.h"

namespace semicrf {

struct TrainingRecord {
  struct File {
    std::string role;  // "labels", "track", "init", ...
    std::string name;  // without folders
    std::string sha256;
  };
  std::string version;
  std::vector<File> files;
  std::vector<std::pair<std::string, std::string>> options;  // what changes the result
  std::int64_t positions = 0;                                // positions of the training data
  std::int64_t pieces = 0;
  std::int64_t segments = 0;
  std::int64_t free_positions = 0;  // that no line labels
  std::int64_t validation_positions = 0;
  int iterations = 0;
  int best_iteration = 0;       // the one the parameters are of
  std::optional<double> scale;  // the factor of all scores that followed a fit with a margin
  // Per label: of the training segments, and of the best segmentation of the training data, in bins.
  struct Durations {
    std::string label;
    SeenDurations training, decoded;
  };
  std::vector<Durations> durations;
  double nll = 0;  // per position, without penalties and margin, of the training data
  std::optional<double> validation_nll;
  bool converged = false;
  std::string stopped_because;
};

// Numbers of it. In JSON the first part stands before the durations, the second behind them.
const StatisticList<TrainingRecord>& training_statistics();

// A JSON object on one line. Names that are not UTF-8 are mended.
std::string training_record_text(const TrainingRecord& record);

// What the `training` section of a parameter file says of durations and scale; nothing where it does not, as
// in files of other programs. `training`: its JSON text, or empty.
TrainingFacts training_facts(const Parameters& parameters);

// What a `training` section says of emissions, those of `learn` and `import`; nothing where it is another.
RecordedEmissions recorded_emissions(const std::string& training);

// The label that `train --background` gave to what no line covers; nothing where there was none.
std::optional<std::string> recorded_background(const std::string& training);

// The text of a `training` section in which labels have new names, where it is about labels: (old, new), all
// at once. What it says of files, options and earlier edits stays as it was.
std::string training_with_label_names(const std::string& training,
                                      const std::vector<std::pair<std::string, std::string>>& names);

// The text of a `training` section with `edits` added to its list "edited": options of `semicrf edit`.
std::string training_with_edits(const std::string& training, const std::vector<std::string>& edits);

// SHA-256 of a file's bytes, hexadecimal. ReadError.
std::string file_sha256(const std::string& path);

}  // namespace semicrf
