// A folder as ChromHMM's LearnModel and MakeSegmentation write it, so that programs written for such folders
// run on it. States are numbered in the order of the labels.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "outputs/formats.h"

namespace semicrf {

struct ChromHmmFolder {
  std::string folder;         // empty: none
  std::string cell = "cell";  // cell type, in names of files and first lines
};

// A chromosome whose posteriors are written.
struct ChromHmmChromosome {
  std::string name;
  std::int64_t bins = 0;
};

struct ChromHmmFiles {
  ChromHmmFolder options;
  Parameters parameters;
  std::string parameters_file;                  // for messages
  SegmentOutput segments;                       // without a file
  std::vector<ChromHmmChromosome> chromosomes;  // those that are decoded
  int digits = 6;                               // decimals of posteriors
};

// The folder for posteriors within it.
std::string chromhmm_posterior_folder(const ChromHmmFolder& options);

// Adds, for N labels, CELL_N_segments.bed, CELL_N_dense.bed and CELL_N_expanded.bed, whose touching segments
// of one label are joined; POSTERIOR/CELL_N_CHROMOSOME_posterior.txt, a row per bin, for each chromosome;
// labels_N.txt with the labels of the states; and emissions_N.txt, transitions_N.txt and model_N.txt where
// the model has such, else a note to `notes` says why not. The run has posteriors of all labels. UsageError:
// a cell that cannot be part of a name.
void add_chromhmm(const ChromHmmFiles& files, OutputPlan& plan, std::vector<std::string>& notes);

}  // namespace semicrf
