// How the plain CUDA engine is compared with the reference, on a GPU or emulated. Paths and messages of the
// max semiring are the reference's bit by bit, because they are the same sums in the same order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/engine/cuda_engine.h"
#include "parity/check_case.h"

namespace semicrf::testing {

inline std::unique_ptr<Engine> make_plain(const ChainModel& model) {
  return make_plain_cuda_engine(model, {});
}

// Compares everything that the contract has, with the tolerances of double precision (tolerances_of); paths
// and messages of the max semiring are compared without any.
std::vector<std::string> check_plain(const MakeOne& make, const ModelCase& sample);

// Does so for the chains with roles of a sequence that is cut on the left, on the right and on both sides.
std::vector<std::string> check_plain_cut_edges(const MakeOne& make, const ModelCase& sample);

// Shapes around what a block of threads may get wrong: one of each, whole warps of labels, K beyond T.
std::vector<CaseShape> plain_shapes();

// Every duration short of `least` costs what `score` says, in a case with all boundary scores.
ModelCase shortest_duration_case(const CaseShape& shape, int least, double score, std::uint64_t seed);

// Small integers, also where tails begin and go on: equally good segments within K and beyond it.
ModelCase tied_tails_case(const CaseShape& shape, std::uint64_t seed);

// A path of more segments than one launch of the traceback has room for.
std::vector<std::string> check_plain_long_path(const MakeOne& make);

}  // namespace semicrf::testing
