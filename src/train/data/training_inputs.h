// Reads the tracks and the labels of a training run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/names.h"
#include "inputs/arguments/track_steps.h"
#include "inputs/rows/missing_values.h"
#include "io/files/temp_spool.h"
#include "model/parameters.h"
#include "train/data/label_file.h"
#include "train/data/training_data.h"
#include "train/train_options.h"

namespace semicrf {

// The inputs of each sample that is trained on: those of the command line, or one sample each.
std::vector<InputOptions> inputs_of_samples(const InputOptions& options);

// Bases per bin where neither the command line nor parameters to start from say it: 200 of bigWig files, 1 of
// arrays.
inline constexpr std::int64_t kDefaultBinSize = 200;
std::int64_t default_bin_size(const InputOptions& options);

// The tracks of the inputs, without transforms: a bigWig file each, or the columns of the first array, named
// by --track-names or track1, track2, ... kDefault becomes what it means for the kind of input. The samples
// must have the same tracks: those of the first are taken.
std::vector<Track> tracks_of_inputs(const InputOptions& options, MissingPolicy missing);

struct TrainingInputs {
  TrainingData training, validation;
  bool cut = false;                  // a piece ends within its chromosome
  std::vector<std::string> binding;  // lines for the log
  std::string proposal;              // what the log proposes about the names of the tracks, or empty
  std::vector<std::string> paths;    // every file that is read, for check_outputs
  NameIndex known_paths;             // names of `paths`
  std::vector<std::string> labels;   // the files of labels among them
  TrackSteps steps;                  // steps of bigWig files
  std::vector<Warning> warnings;
  SpooledText sequences;       // entries of the training data in statistics
  MissingSummary missing;      // values missing in the labelled bins
  std::size_t row_bytes = 0;   // bytes of the arrays of the pieces
  std::size_t kept_bytes = 0;  // besides these arrays: of sequences, pieces, segments and labels
};

// Pieces are the runs of labelled bins within the regions asked for, less what is excluded or missing; the
// validation regions are taken out of the training data. Edges are cuts where they are not known to be ends
// of a chromosome, and where no other piece follows at once. Features are those of the input tracks of
// `tracks`: raw values when these have no transform yet, NaN where a track keeps its absences. Scores of
// starts and ends have a column per label of `labels`. InputError: labels on no chromosome of the tracks
// (both sides are named), labels beyond a chromosome's end, no labelled bin in the regions. `labels`: of all
// samples, or one of each, with the same labels.
TrainingInputs read_training_inputs(const TrainOptions& options, const std::vector<LabelFile>& labels,
                                    const std::vector<Track>& tracks, std::int64_t bin_size);

// Whether a feature of the training or the validation data has no value.
bool has_holes(const TrainingInputs& inputs);

// Fills feature_mean of every piece: a pass over the whole sequences (`mean` centring).
void read_feature_means(const TrainOptions& options, const std::vector<Track>& tracks, std::int64_t bin_size,
                        TrainingInputs& inputs);

}  // namespace semicrf
