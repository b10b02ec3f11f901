#include "cuda/batch_scores.h"

#include <algorithm>

#include "cuda/sizes.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kSliceBytes = std::size_t{4} << 20;

template <class Value>
const Value* values_of(const ScoreArray& array) {
  if constexpr (sizeof(Value) == sizeof(float)) {
    return array.f32;
  } else {
    return array.f64;
  }
}

}  // namespace

// Rows [first, first + count) of all sequences, zeros between them.
template <class Value>
void BatchScores::fill(const Source& source, std::int64_t first, std::int64_t count, Value* to) {
  const std::vector<PlacedSequence>& placed = source.layout.sequences;
  const auto begins_after = [](std::int64_t row, const PlacedSequence& p) { return row < p.first_row; };
  auto at = std::upper_bound(placed.begin(), placed.end(), first, begins_after) - placed.begin();
  std::int64_t row = first;
  for (std::size_t i = wide(std::max<std::ptrdiff_t>(at - 1, 0)); row < first + count; ++i) {
    const std::int64_t begin = placed[i].first_row;
    const std::int64_t end = std::min(begin + placed[i].length, first + count);
    if (row < begin) {
      to = std::fill_n(to, wide(std::min(begin, first + count) - row) * source.labels, Value(0));
      row = std::min(begin, first + count);
    }
    if (row >= end) continue;
    const Value* from = values_of<Value>(source.sequences[i].*source.scores);
    to = std::copy_n(from + wide(row - begin) * source.labels, wide(end - row) * source.labels, to);
    row = end;
  }
}

template <class Value>
void BatchScores::send_values(const Source& source, DeviceBuffer<Value>& to, cudaStream_t stream) {
  const std::int64_t rows = source.layout.rows();
  to.reserve(wide(rows) * source.labels);
  const std::int64_t most =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kSliceBytes / (source.labels * sizeof(Value))));
  for (std::int64_t first = 0; first < rows; first += most) {
    const std::int64_t count = std::min(most, rows - first);
    const std::size_t entries = wide(count) * source.labels;
    copied_[turn_].wait();
    slices_[turn_].reserve(entries * sizeof(Value));
    auto* const slice = reinterpret_cast<Value*>(slices_[turn_].get());
    fill(source, first, count, slice);
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(to.get() + wide(first) * source.labels, slice, entries * sizeof(Value),
                                       cudaMemcpyHostToDevice, stream));
    copied_[turn_].record(stream);
    turn_ = 1 - turn_;
  }
}

DeviceScores BatchScores::send(const Source& source, Array& array, cudaStream_t stream) {
  const ScoreArray& first = source.sequences.front().*source.scores;
  if (first.f32 != nullptr) {
    send_values(source, array.f32, stream);
    return {array.f32.get(), nullptr};
  }
  if (first.f64 == nullptr) return {nullptr, nullptr};
  send_values(source, array.f64, stream);
  return {nullptr, array.f64.get()};
}

// (sequences, C); null where there are none.
const double* BatchScores::send_baselines(const Source& source, cudaStream_t stream) {
  if (source.sequences.front().baseline.empty()) return nullptr;
  const std::size_t entries = source.sequences.size() * source.labels;
  host_baselines_.reserve(entries);
  double* to = host_baselines_.get();
  for (const ScoreWindow& sequence : source.sequences)
    to = std::copy(sequence.baseline.begin(), sequence.baseline.end(), to);
  baselines_.upload(host_baselines_.get(), entries, stream);
  return baselines_.get();
}

void BatchScores::upload(std::span<const ScoreWindow> sequences, const SequenceLayout& layout, int labels,
                         cudaStream_t stream) {
  // Copies of the batch before this one are over: its results are there.
  const auto source = [&](ScoreArray ScoreWindow::*scores) {
    return Source{sequences, layout, scores, static_cast<std::size_t>(labels)};
  };
  const DeviceScores emissions = send(source(&ScoreWindow::emissions), emissions_, stream);
  const DeviceScores starts = send(source(&ScoreWindow::start_scores), starts_, stream);
  const DeviceScores ends = send(source(&ScoreWindow::end_scores), ends_, stream);
  const double* const baselines = send_baselines(source(&ScoreWindow::emissions), stream);
  subtract_position_max_ = sequences.front().subtract_position_max;
  host_views_.reserve(sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const PlacedSequence& placed = layout.sequences[i];
    const std::size_t skip = wide(placed.first_row) * wide(labels);
    const auto from = [&](const DeviceScores& all) -> DeviceScores {
      return {all.f32 != nullptr ? all.f32 + skip : nullptr, all.f64 != nullptr ? all.f64 + skip : nullptr};
    };
    SequenceView view{};
    view.emissions = from(emissions);
    view.starts = from(starts);
    view.ends = from(ends);
    view.baseline = baselines == nullptr ? nullptr : baselines + i * wide(labels);
    view.rows = view.length = placed.length;
    view.subtract_position_max = subtract_position_max_ ? 1 : 0;
    view.first_row = placed.first_row;
    host_views_.get()[i] = view;
  }
  views_.upload(host_views_.get(), sequences.size(), stream);
}

}  // namespace semicrf::cuda
