// The SIMD engine: chunks in parallel, warmed up, verified and repaired (docs/algorithm.md, "Parallel in
// time").
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cpu/instruction_set.h"
#include "engine/engine.h"

namespace semicrf {

// `instruction_set`: empty for the best this processor has, else one of cpu_instruction_sets() (DeviceError
// otherwise).
std::unique_ptr<Engine> make_cpu_engine(ChainModel model, Precision precision, int threads,
                                        const std::string& instruction_set);

}  // namespace semicrf
