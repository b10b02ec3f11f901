// Cases that cross every tile, warp and chunk boundary of the CUDA engine, compared with the reference
// engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parity/engine_parity.h"

namespace semicrf::testing {

using MakeEngine = std::function<std::unique_ptr<Engine>(ChainModel, Precision)>;

// All problems found with a case, in both precisions.
std::vector<std::string> check_case(const MakeEngine& make, const ModelCase& sample);

// The same for expected counts and forward messages alone, which long sequences can afford.
std::vector<std::string> check_gradient(const MakeEngine& make, const ModelCase& sample);

// Stretches of the case, one after the other, as sequences of their own: together on one engine and one by
// one on another they must give the same digits, counts and reports included, in both precisions. Of every
// third less is wanted; baselines differ, and every fifth has none.
std::vector<std::string> check_batch(const MakeEngine& make, const ModelCase& sample,
                                     const std::vector<std::int64_t>& lengths);

// The same for best paths. `forbidden`: every fourth sequence has a position that forbids all labels, so that
// it has none.
std::vector<std::string> check_batch_paths(const MakeEngine& make, ModelCase sample,
                                           const std::vector<std::int64_t>& lengths, bool forbidden = false);

// Label 1 lasts 40 positions or more, and of every three blocks of 16 only the middle one is good for it. So
// starts and ends grow by e^10 and more per position towards each other where no segment may join them: the
// largest of two blocks meet in a factor far above 1, and the numbers that do make segments vanish beside
// them. Within intervals and across their marks.
ModelCase opposed_blocks_case(std::int64_t length, std::uint64_t seed);

// Segments of about K positions and tails of hundreds: faint scores and dear transitions; every 397th
// position forbids one label.
ModelCase long_segments_case(const CaseShape& shape, std::uint64_t seed);

// Four labels in a cycle, one position each: what is known of the phase is never forgotten, and only a few
// positions tell something of it. Warmed-up runs miss more or less of that, depending on where they begin, so
// that two fail which do not follow each other, and the run between them once the first of them is repaired.
// For an engine of this precision.
ModelCase late_repair_case(std::size_t real_bytes, std::uint64_t seed);

// Shapes around the block of 16 positions, the lanes per chunk and the labels per warp.
std::vector<CaseShape> tile_shapes(std::size_t count, std::uint64_t seed);

// All problems found with a path whose segments pass over many pieces of a traceback.
std::vector<std::string> check_long_segments_path(const MakeEngine& make);

// All problems found with the right edge of a window: the best path must go through it as through the window
// itself.
std::vector<std::string> check_joined_windows(const MakeEngine& make);

// Windows of a sequence over several devices against one: not a digit may differ. `spread`: an engine whose
// parts are at least a chunk.
std::vector<std::string> check_spread(const MakeEngine& make, const MakeEngine& spread,
                                      const ModelCase& sample);

// Two labels that hardly change but where the scores say so, as they do everywhere except around the position
// `silent`: what is warmed up there does not agree with what comes from the left.
ModelCase silent_case(std::int64_t length, std::int64_t silent, std::uint64_t seed);

// All problems found when the device makes scores of features: not a digit may differ from the host's.
std::vector<std::string> check_projection(const MakeEngine& make);

}  // namespace semicrf::testing
