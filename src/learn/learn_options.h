// What `semicrf learn` is asked to do. Filled in apps/; nothing below reads the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/options.h"
#include "io/checkpoint/checkpoint.h"
#include "learn/segment_law.h"
#include "model/parameters.h"
#include "runs/run_options.h"
#include "train/emissions/emission_choice.h"

namespace semicrf {

// Where a fit starts, without a file.
enum class LearnStart { kKMeans, kRandom };

struct LearnOptions {
  InputOptions input;  // `parameters` is --init FILE, or empty; the regions are those that are learned from
  std::string chromhmm_model;            // --init chromhmm:FILE, or empty
  std::optional<Parameters> preset;      // a model to go on from, of --preset
  std::string known_labels;              // BED file of bins whose label is known, or empty
  std::optional<int> most_copies;        // --preset copy-number: labels of so many copies, and fewer
  std::optional<double> purity, ploidy;  // known ones, of --preset copy-number
  std::string solutions_path;            // TSV of the grid of that preset, or empty
  std::vector<int> labels;               // numbers of labels, each a model of its own; empty: those of --init
  std::vector<std::string> val_regions;  // chr:beg-end; taken out of the training data
  EngineOptions engine;
  std::optional<std::int64_t> max_memory;  // bytes
  EmissionWishes emissions;
  std::vector<std::string> tie, freeze;  // as the command line has them, for the record
  std::optional<Transform> transform;    // for Gaussian emissions; absent: chosen for every track
  double binarize_tail = 1e-4;           // tail of the Poisson distribution by which tracks become 0 and 1
  std::optional<double> threshold;       // in its place: raw values from here on are 1
  LawOptions law;
  std::vector<std::string> min_durations;  // LABEL=N, shortest segments of labels that have names before
  LearnStart start = LearnStart::kKMeans;
  int restarts = 1;
  int max_iterations = 200;
  double tolerance = 1e-6;      // relative increase of the log likelihood in one iteration at which to stop
  std::int64_t part = 1 << 20;  // bins of the first iterations, where the data have four times as many
  std::uint64_t seed = 1;
  CheckpointOptions checkpoint{"", 10, "", false};  // every 10 iterations of each fit
  std::string output = "-";
  std::string stats_path;
  std::string version;  // version of the program

  // Whether the fit goes on from a model, and its file.
  bool from_file() const { return !input.parameters.empty() || !chromhmm_model.empty(); }
  bool from_model() const { return from_file() || preset || most_copies; }
  const std::string& init_path() const { return chromhmm_model.empty() ? input.parameters : chromhmm_model; }
};

}  // namespace semicrf
