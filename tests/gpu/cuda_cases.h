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

// Shapes around the block of 16 positions, the lanes per chunk and the labels per warp.
std::vector<CaseShape> tile_shapes(std::size_t count, std::uint64_t seed);

}  // namespace semicrf::testing
