// semicrf_compute_on_device(): answers about sequences whose arrays lie on the engine's device.
#pragma once

#include <span>
#include <vector>

#include "engine/engine.h"
#include "library/engine_handle.h"
#include "library/result_handle.h"
#include "library/semicrf.h"

namespace semicrf {

// By one call of the engine, which is one of the engine handle. `stream` is a cudaStream_t. UsageError: an
// engine, a model, a question or an array that this is not for.
void compute_on_device(const LibraryEngine& handle, Engine& engine,
                       std::span<const semicrf_sequence> sequences, const semicrf_request& request,
                       void* stream, std::vector<SequenceFound>& found);

}  // namespace semicrf
