// Gradients by the weights of linear heads: what the posteriors left on the device goes to HeadSums.
#include <algorithm>

#include "cuda/engine/cuda_engine_impl.h"

namespace semicrf::cuda {

template <class Real>
HeadRequest CudaEngine<Real>::head_request(const ScoreWindow& scores, ExpectedFeatures* features) {
  HeadRequest request;
  if (features == nullptr) return request;
  request.targets = {features};
  request.heads = &scores.features;
  request.features = window_->features(scores, *copies_, stream_);
  request.features_begin = scores.features.begin;
  return request;
}

template <class Real>
HeadRequest CudaEngine<Real>::batch_head_request(std::span<const ScoreWindow> sequences,
                                                 std::span<const PosteriorArrays> out) const {
  HeadRequest request;
  const auto wants = [](const PosteriorArrays& arrays) { return arrays.features != nullptr; };
  if (std::none_of(out.begin(), out.end(), wants)) return request;
  for (const PosteriorArrays& arrays : out) request.targets.push_back(arrays.features);
  request.heads = &sequences.front().features;
  request.features = batch_.features();
  return request;
}

template <class Real>
void CudaEngine<Real>::sum_heads(const Work& work) {
  head_sums_.begin(work.heads, work.plan.layout, grid_.chunk, {labels_.get(), starts_.get(), ends_.get()},
                   model_.num_labels, stream_);
}

#define SEMICRF_INSTANTIATE(Real)                                                                    \
  template HeadRequest CudaEngine<Real>::head_request(const ScoreWindow&, ExpectedFeatures*);        \
  template HeadRequest CudaEngine<Real>::batch_head_request(std::span<const ScoreWindow>,            \
                                                            std::span<const PosteriorArrays>) const; \
  template void CudaEngine<Real>::sum_heads(const Work&);
SEMICRF_INSTANTIATE(float)
SEMICRF_INSTANTIATE(double)
#undef SEMICRF_INSTANTIATE

}  // namespace semicrf::cuda
