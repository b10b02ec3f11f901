// An engine that shares its windows among three engines of the first GPU, in parts of a chunk or more.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cuda/engine/cuda_engine.h"
#include "cuda/engine/spread_engine.h"

namespace semicrf::testing {

template <class Real>
std::unique_ptr<Engine> make_spread_of(const ChainModel& model, Precision precision) {
  using One = cuda::CudaEngine<Real>;
  std::vector<std::unique_ptr<One>> engines;
  for (int i = 0; i < 3; ++i)
    engines.emplace_back(static_cast<One*>(make_cuda_engine(model, precision, {}).release()));
  return std::make_unique<cuda::SpreadEngine<Real>>(std::move(engines), 1);
}
inline std::unique_ptr<Engine> make_spread(const ChainModel& model, Precision precision) {
  return precision == Precision::kFloat ? make_spread_of<float>(model, precision)
                                        : make_spread_of<double>(model, precision);
}

}  // namespace semicrf::testing
