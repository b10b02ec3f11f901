// The checks of the CUDA engine that is linked, on a GPU or emulated, as test cases use them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cuda/engine/cuda_engine.h"
#include "parity/batch_cases.h"
#include "parity/check_case.h"

namespace semicrf::testing {

inline std::unique_ptr<Engine> make_cuda(ChainModel model, Precision precision) {
  return make_cuda_engine(std::move(model), precision, {});
}
inline void check(const ModelCase& sample) { expect_none(check_case(make_cuda, sample), sample.description); }
inline void check_counts(const ModelCase& sample) {
  expect_none(check_gradient(make_cuda, sample), sample.description);
}
inline void check_together(const ModelCase& sample, const std::vector<std::int64_t>& lengths,
                           const Precisions& precisions = kBothPrecisions) {
  expect_none(check_batch(make_cuda, sample, lengths, precisions), sample.description);
}
inline void check_paths_together(const ModelCase& sample, const std::vector<std::int64_t>& lengths,
                                 bool forbidden = false, const Precisions& precisions = kBothPrecisions) {
  expect_none(check_batch_paths(make_cuda, sample, lengths, forbidden, precisions), sample.description);
}

}  // namespace semicrf::testing
