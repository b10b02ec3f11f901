// What `semicrf train` is asked to do. Filled in apps/; nothing below reads the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/options.h"
#include "io/checkpoint/checkpoint.h"
#include "io/segments/segment_reader.h"
#include "model/durations/duration.h"
#include "model/parameters.h"
#include "runs/run_options.h"
#include "train/emissions/emission_choice.h"
#include "train/fit/fit_state.h"

namespace semicrf {

// Bins between labelled ones that no line labels: kCut leaves them out, and pieces end there; kFree lets them
// have any label; kShort does so where fewer bins than K lie between two lines.
enum class Unlabeled { kShort, kCut, kFree };

enum class Optimizer { kLbfgs, kAdamW };

// Weights of the penalties, which are added to the total negative log-likelihood before it is divided by the
// number of positions. Squared terms count half, so each weight is the inverse variance of a Gaussian prior.
struct PenaltyOptions {
  double l2 = 1;                // emission weights
  double l2_boundary = 1;       // boundary weights
  double l2_transition = 0.01;  // finite transition scores; start and end scores, around their first values
  double smoothness = 1;        // duration tables: sum over k of k^3 (second difference at k)^2
};

// How the learning rate falls over the iterations asked for: not at all, or to a twentieth, linearly from
// pass to pass or along half a cosine from step to step.
enum class RateSchedule { kConstant, kLinear, kCosine };

struct AdamWOptions {
  double learning_rate = 0.05;  // in coordinates, parameter_space.h
  RateSchedule schedule = RateSchedule::kLinear;
  std::int64_t warm_up = 0;  // steps over which the rate rises from 0, linearly
  double clip_norm = 0;      // longest gradient, in coordinates of the mean loss per position; 0: any
  double weight_decay = 0;
  std::int64_t window = 10000;  // bins
  int batch = 4;                // windows per step
  std::uint64_t seed = 1;       // seed for the order of the windows
};

// The true segments, and the bins without one.
struct LabelOptions {
  std::vector<std::string> files;  // [sequence=]PATH: labels of all samples; empty where each has its own
  std::vector<std::string> of_samples;  // SAMPLE=FILE; both empty: the sample sheet has a column
  LabelTimes times;                     // for labels in seconds; the bin size is settled later
  std::string background;               // label of the bins that no line labels, or empty
  Unlabeled unlabeled = Unlabeled::kShort;
};

// Shape of the model; what is absent comes from --init or is chosen (docs/users/training.md). Where durations
// are chosen, too, so are a boundary head and a margin; else there are none that were not asked for.
struct ShapeOptions {
  std::optional<int> max_duration;
  bool tail = false;
  std::vector<std::string> min_durations;  // shortest segments in bins: N of all labels, LABEL=N of one
  bool no_boundary = false;
  std::optional<std::pair<int, int>> boundary_window;
  std::optional<Centering> centering;
  const DurationKind* duration = nullptr;  // null: absent
  std::optional<Transform> transform;      // absent: chosen for every track
  MissingPolicy missing = MissingPolicy::kDefault;
};

struct TrainOptions {
  InputOptions input;  // `parameters` is --init, or empty; the regions are those of the training data
  LabelOptions labels;
  std::vector<std::string> val_regions;  // chr:beg-end; taken out of the training data
  // the features are NaN where some sample lacks a track; `learn` alone
  bool samples_may_lack_tracks = false;
  EngineOptions engine;
  std::optional<std::int64_t> max_memory;  // bytes
  ShapeOptions shape;
  std::vector<std::string> emission;  // --emission as it was given; empty: heads, or the densities of --init
  EmissionWishes emissions;           // what it and --outliers and --tie say
  std::vector<std::string> tie;       // as it was given
  std::vector<std::string> freeze;    // names of parts, parameter_space.h
  PenaltyOptions penalty;
  std::optional<double> margin;  // objective.h
  Optimizer optimizer = Optimizer::kLbfgs;
  AdamWOptions adamw;
  StopRule stop;
  CheckpointOptions checkpoint;  // without an interval: every kRound iterations, every pass for AdamW
  std::string output = "-";
  std::string stats_path;
  MultiqcTarget multiqc;  // with its sample
  std::string version;    // version of the program
};

}  // namespace semicrf
