#include "cuda/posteriors/posterior_rows.h"

#include <algorithm>

#include "core/sizes.h"
#include "cuda/device/device_copy.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kSliceBytes = std::size_t{4} << 20;

// Copies rows [first, first + count) of all sequences to where those of each go; null: nowhere.
template <class Real>
void copy_rows(const SequenceLayout& layout, std::span<double* const> to, std::size_t columns,
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
void PosteriorRows<Real>::download_array(const DeviceBuffer<Real>& from, std::size_t columns,
                                         const SequenceLayout& layout, std::span<double* const> to,
                                         cudaStream_t stream) {
  const std::int64_t rows = layout.rows();
  const std::int64_t most =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kSliceBytes / (columns * sizeof(Real))));
  const auto fetch = [&](std::int64_t first) {
    const std::size_t turn = wide(first / most % 2);
    const std::int64_t count = std::min(most, rows - first);
    host_[turn].reserve(wide(count) * columns);
    from.download(host_[turn].get(), wide(first) * columns, wide(count) * columns, stream);
    copied_[turn].record(stream);
  };
  fetch(0);
  for (std::int64_t first = 0; first < rows; first += most) {
    if (first + most < rows) fetch(first + most);
    const std::size_t turn = wide(first / most % 2);
    copied_[turn].wait();
    copy_rows(layout, to, columns, first, std::min(most, rows - first), host_[turn].get());
  }
}

template <class Real>
void PosteriorRows<Real>::copy_array(const DeviceBuffer<Real>& from, std::size_t columns,
                                     const SequenceLayout& layout, std::span<const PosteriorArrays> out,
                                     void* DevicePosteriors::*array, cudaStream_t stream) {
  std::vector<DeviceCopy> copies;
  for (std::size_t i = 0; i < out.size(); ++i) {
    void* const to = out[i].on_device != nullptr ? out[i].on_device->*array : nullptr;
    if (to == nullptr) continue;
    const PlacedSequence& sequence = layout.sequences[i];
    copies.push_back({static_cast<unsigned char*>(to),
                      reinterpret_cast<const unsigned char*>(from.get() + wide(sequence.first_row) * columns),
                      wide(sequence.range.size()) * columns * sizeof(Real)});
  }
  copy_within_device(copies, stream);
}

template <class Real>
void PosteriorRows<Real>::download(const SequenceLayout& layout, std::size_t num_labels,
                                   std::span<const PosteriorArrays> out, cudaStream_t stream) {
  const auto download_wanted = [&](const DeviceBuffer<Real>& from, std::size_t columns,
                                   double* PosteriorArrays::*array, void* DevicePosteriors::*device_array) {
    copy_array(from, columns, layout, out, device_array, stream);
    std::vector<double*> to;
    bool wanted = false;
    for (const PosteriorArrays& arrays : out) {
      to.push_back(arrays.*array);
      wanted = wanted || arrays.*array != nullptr;
    }
    if (wanted) download_array(from, columns, layout, to, stream);
  };
  download_wanted(boundary, 1, &PosteriorArrays::boundary, &DevicePosteriors::boundary);
  download_wanted(labels, num_labels, &PosteriorArrays::labels, &DevicePosteriors::labels);
  download_wanted(starts, num_labels, &PosteriorArrays::starts, &DevicePosteriors::starts);
  download_wanted(ends, num_labels, &PosteriorArrays::ends, &DevicePosteriors::ends);
}

template struct PosteriorRows<float>;
template struct PosteriorRows<double>;

}  // namespace semicrf::cuda
