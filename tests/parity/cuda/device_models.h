// Models and shapes that cross every tile, warp and run boundary of the CUDA engine.
#pragma once

#include <cstdint>
#include <vector>

#include "support/models/random_models.h"

namespace semicrf::testing {

// Label 1 lasts 40 positions or more, and of every three blocks of 16 only the middle one is good for it. So
// starts and ends grow by e^10 and more per position towards each other where no segment may join them: the
// largest of two blocks meet in a factor far above 1, and the numbers that do make segments vanish beside
// them. Within intervals and across their marks.
ModelCase opposed_blocks_case(std::int64_t length, std::uint64_t seed);

// Segments of about K positions and tails of hundreds: faint scores and dear transitions; every 397th
// position forbids one label.
ModelCase long_segments_case(const CaseShape& shape, std::uint64_t seed);

// The same with two labels and K = 3, so that no run is warmed up enough to forget where it began. `log_tail`
// says how long segments are.
ModelCase slow_case(std::int64_t length, double log_tail, std::uint64_t seed);

// Four labels in a cycle, one position each: what is known of the phase is never forgotten, and only a few
// positions tell something of it. Warmed-up runs miss more or less of that, depending on where they begin, so
// that two fail which do not follow each other, and the run between them once the first of them is repaired.
// For an engine of this precision.
ModelCase late_repair_case(std::size_t real_bytes, std::uint64_t seed);

// Shapes around the block of 16 positions, the lanes per chunk and the labels per warp.
std::vector<CaseShape> tile_shapes(std::size_t count, std::uint64_t seed);

// Two labels that hardly change but where the scores say so, as they do everywhere except around the position
// `silent`: what is warmed up there does not agree with what comes from the left.
ModelCase silent_case(std::int64_t length, std::int64_t silent, std::uint64_t seed);

}  // namespace semicrf::testing
