// A model of the C interface: parameters, and what every sequence needs of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inputs/rows/row_reader.h"
#include "library/semicrf.h"
#include "model/parameters.h"
#include "model/scores/linear_heads.h"

namespace semicrf {

// Never changes.
struct LibraryModel {
  explicit LibraryModel(Parameters given);

  Parameters parameters;
  std::shared_ptr<const LinearHeads> heads;  // null: sequences are label scores
  std::vector<Track> tracks;                 // columns of a sequence, where there are heads
  DerivedColumns derived;                    // features behind them
  // What semicrf_model_tables() points to.
  std::vector<const char*> label_names;
  std::string initial, centering;

  std::int64_t columns() const { return heads ? std::ssize(tracks) : parameters.num_labels(); }
};

// A handle of its own for the caller.
semicrf_model* handle_of(Parameters parameters);

}  // namespace semicrf

struct semicrf_model {
  std::shared_ptr<const semicrf::LibraryModel> model;
};
