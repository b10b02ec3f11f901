// log Z, the log partition function, of a sequence of any length, by forward messages alone.
#pragma once

#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

// -inf where no segmentation has a finite score. `plan`: made with log_needs().
double log_partition(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                     const ProgressCallback& progress = {});

}  // namespace semicrf
