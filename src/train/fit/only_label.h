// Whether a trained model finds more than one label in the data it was trained on.
#pragma once

#include <optional>
#include <vector>

#include "core/error.h"
#include "io/params/training_record.h"

namespace semicrf {

// The warning where the training data have several labels and their best segmentation has one alone.
std::optional<Warning> only_label_warning(const std::vector<TrainingRecord::Durations>& durations);

}  // namespace semicrf
