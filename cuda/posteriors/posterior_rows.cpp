// Rows of posteriors to the host: through two pinned buffers, one filled while the other is taken over.
#include <algorithm>
#include <vector>

#include "core/sizes.h"
#include "cuda/engine/cuda_engine_impl.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kSliceBytes = std::size_t{4} << 20;

// Rows [first, first + count) of all sequences to where those of each go; null: nowhere.
template <class Real>
void hand_out(const SequenceLayout& layout, std::span<double* const> to, std::size_t columns,
              std::int64_t first, std::int64_t count, const Real* rows) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const PlacedSequence& sequence = layout.sequences[i];
    const std::int64_t begin = std::max(first, sequence.first_row);
    const std::int64_t end = std::min(first + count, sequence.first_row + sequence.range.size());
    if (begin >= end || to[i] == nullptr) continue;
    std::copy_n(rows + wide(begin - first) * columns, wide(end - begin) * columns,
                to[i] + wide(begin - sequence.first_row) * columns);
  }
}

}  // namespace

template <class Real>
void CudaEngine<Real>::download_rows(const DeviceBuffer<Real>& from, std::size_t columns,
                                     const SequenceLayout& layout, std::span<double* const> to) {
  const std::int64_t rows = layout.rows();
  const std::int64_t most =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kSliceBytes / (columns * sizeof(Real))));
  const auto fetch = [&](std::int64_t first) {
    const std::size_t turn = wide(first / most % 2);
    const std::int64_t count = std::min(most, rows - first);
    host_rows_[turn].reserve(wide(count) * columns);
    from.download(host_rows_[turn].get(), wide(first) * columns, wide(count) * columns, stream_);
    rows_copied_[turn].record(stream_);
  };
  fetch(0);
  for (std::int64_t first = 0; first < rows; first += most) {
    if (first + most < rows) fetch(first + most);
    const std::size_t turn = wide(first / most % 2);
    rows_copied_[turn].wait();
    hand_out(layout, to, columns, first, std::min(most, rows - first), host_rows_[turn].get());
  }
}

template <class Real>
void CudaEngine<Real>::download_posteriors(const SequenceLayout& layout,
                                           std::span<const PosteriorArrays> out) {
  const std::size_t labels = wide(model_.num_labels);
  const auto download = [&](const DeviceBuffer<Real>& from, std::size_t columns,
                            double* PosteriorArrays::*array) {
    std::vector<double*> to;
    bool wanted = false;
    for (const PosteriorArrays& arrays : out) {
      to.push_back(arrays.*array);
      wanted = wanted || arrays.*array != nullptr;
    }
    if (wanted) download_rows(from, columns, layout, to);
  };
  download(boundary_, 1, &PosteriorArrays::boundary);
  download(labels_, labels, &PosteriorArrays::labels);
  download(starts_, labels, &PosteriorArrays::starts);
  download(ends_, labels, &PosteriorArrays::ends);
}

template void CudaEngine<float>::download_posteriors(const SequenceLayout&, std::span<const PosteriorArrays>);
template void CudaEngine<double>::download_posteriors(const SequenceLayout&,
                                                      std::span<const PosteriorArrays>);

}  // namespace semicrf::cuda
