// A result of the C interface.
#pragma once

#include <optional>
#include <vector>

#include "analyses/analysis.h"
#include "library/model_handle.h"
#include "library/semicrf.h"

namespace semicrf {

// What was found of a sequence.
struct SequenceFound {
  PieceResult result;
  std::optional<double> given_score;  // score of the segmentation that was given
};

}  // namespace semicrf

struct semicrf_result {
  std::shared_ptr<const semicrf::LibraryModel> model;
  std::vector<semicrf::SequenceFound> sequences;
};
