// Scores for everybody who cannot make them of features: engines that do not project, draws, exact segments.
#pragma once

#include <cstdint>

#include "core/score_window.h"
#include "model/scores/score_source.h"

namespace semicrf {

// A window with the scores that heads make of its features, in place of them, margins taken. Scores lie in
// `buffers`, in the precision that FeatureRows::wide says.
ScoreWindow project_on_host(const ScoreWindow& window, int threads, ScoreBuffers& buffers);

// Windows of a source, with scores where the source gives features. Features are read and projected a slab of
// positions at a time, so that they need little memory besides the scores.
class HostProjection {
 public:
  explicit HostProjection(ScoreSource& source) : source_(&source) {}
  // As ScoreSource::read.
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers);

 private:
  ScoreSource* source_;
  ScoreBuffers slab_;
};

}  // namespace semicrf
