// The kernels by precision; each dispatches to the best instruction set that is enabled
// (cpu/instruction_set.h).
#pragma once

#include <memory>

#include "cpu/chunk_kernel.h"

namespace semicrf::cpu {

std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_float(const TraceTables& tables);
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_double(const TraceTables& tables);
// K = 1 without a tail and with few labels, for both precisions; null for other models.
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_unit(const ChainModel& model);
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_float(const ChainModel& model);
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_double(const ChainModel& model);
// K = 1 without cut edges, with few labels and transitions between all of them, for both precisions; what
// that kernel leaves out is computed by those of `general`. `general` itself for other models.
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_unit(
    const ChainModel& model, Precision precision, std::unique_ptr<KernelFactory<PosteriorKernel>> general);

}  // namespace semicrf::cpu
