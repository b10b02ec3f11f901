// The models that a run of `learn` fits: their shapes before anything is learned, how many, and their memory.
#pragma once

#include <cstddef>
#include <vector>

#include "learn/learn_data.h"
#include "learn/learn_options.h"
#include "learn/segment_law.h"

namespace semicrf {

// The law of segments that the options ask for, with the shortest segments of labels that they name.
// UsageError: a label that is not there.
LawOptions law_of(const LearnOptions& options, const std::vector<Label>& labels);

// A number of labels, and which of its starts.
struct LearnJob {
  int labels = 0, restart = 0;
};

// Options and data must outlive it.
class LearnShapes {
 public:
  LearnShapes(const LearnOptions& options, const LearnData& data) : options_(options), data_(data) {}

  // A model of the shape that is fitted, before anything is learned.
  Parameters shaped(int labels) const;
  // The law of segments; that of the file where the fit goes on from one.
  LawOptions law_options(int labels) const;
  std::vector<LearnJob> jobs() const;
  // Bytes, with so many fits side by side.
  std::size_t needed_memory(int fits) const;
  // Fits that run side by side, each with its part of the threads: as many as the memory holds, one on a GPU.
  int fits_at_once() const;

 private:
  // The known ones, then 1, 2, ... as far as these names are not taken.
  std::vector<Label> named_labels(int count) const;

  const LearnOptions& options_;
  const LearnData& data_;
};

}  // namespace semicrf
