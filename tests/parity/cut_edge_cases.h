// Engines that know cut edges (ChainModel::cut) against the reference, which computes the chain whose labels
// have roles (model/scores/edge_roles): two ways to sum over the same segmentations.
#pragma once

#include <cstdint>
#include <vector>

#include "parity/check_case.h"

namespace semicrf::testing {

// log Z, posteriors and counts of the case with either edge cut, and both.
void check_cut_edges(const std::vector<MakeOne>& engines, const ModelCase& sample);

// Several sequences in one call give the digits of one after the other.
void check_cut_batches(const std::vector<MakeOne>& engines, std::uint64_t seed);

}  // namespace semicrf::testing
