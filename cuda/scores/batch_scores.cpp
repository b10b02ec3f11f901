#include "cuda/scores/batch_scores.h"

#include <algorithm>

#include "core/sizes.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kSliceBytes = std::size_t{4} << 20;

}  // namespace

// Rows [first, first + count) of all sequences, zeros between them.
template <class Value>
void BatchScores::fill(const Batch& batch, const Source<Value>& source, std::int64_t first,
                       std::int64_t count, Value* to) {
  const std::vector<PlacedSequence>& placed = batch.layout.sequences;
  const auto begins_after = [](std::int64_t row, const PlacedSequence& p) { return row < p.first_row; };
  auto at = std::upper_bound(placed.begin(), placed.end(), first, begins_after) - placed.begin();
  std::int64_t row = first;
  for (std::size_t i = wide(std::max<std::ptrdiff_t>(at - 1, 0)); row < first + count; ++i) {
    const std::int64_t begin = placed[i].first_row;
    const std::int64_t end = std::min(begin + placed[i].length, first + count);
    if (row < begin) {
      to = std::fill_n(to, wide(std::min(begin, first + count) - row) * source.columns, Value(0));
      row = std::min(begin, first + count);
    }
    if (row >= end) continue;
    const Value* from = source.of(batch.sequences[i]);
    to = std::copy_n(from + wide(row - begin) * source.columns, wide(end - row) * source.columns, to);
    row = end;
  }
}

template <class Value>
void BatchScores::send_values(const Batch& batch, const Source<Value>& source, DeviceBuffer<Value>& to,
                              cudaStream_t stream) {
  const std::int64_t rows = batch.layout.rows();
  to.reserve(wide(rows) * source.columns);
  const std::int64_t most =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kSliceBytes / (source.columns * sizeof(Value))));
  for (std::int64_t first = 0; first < rows; first += most) {
    const std::int64_t count = std::min(most, rows - first);
    const std::size_t entries = wide(count) * source.columns;
    copied_[turn_].wait();
    slices_[turn_].reserve(entries * sizeof(Value));
    auto* const slice = reinterpret_cast<Value*>(slices_[turn_].get());
    fill(batch, source, first, count, slice);
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(to.get() + wide(first) * source.columns, slice,
                                       entries * sizeof(Value), cudaMemcpyHostToDevice, stream));
    copied_[turn_].record(stream);
    turn_ = 1 - turn_;
  }
}

DeviceScores BatchScores::send(const Batch& batch,
                               const std::function<const ScoreArray&(const ScoreWindow&)>& of,
                               std::size_t columns, Array& array, cudaStream_t stream) {
  const ScoreArray& first = of(batch.sequences.front());
  if (first.f32 != nullptr) {
    const auto rows_of = [&](const ScoreWindow& sequence) { return of(sequence).f32; };
    send_values(batch, Source<float>{rows_of, columns}, array.f32, stream);
    return {array.f32.get(), nullptr};
  }
  if (first.f64 == nullptr) return {nullptr, nullptr};
  const auto rows_of = [&](const ScoreWindow& sequence) { return of(sequence).f64; };
  send_values(batch, Source<double>{rows_of, columns}, array.f64, stream);
  return {nullptr, array.f64.get()};
}

void BatchScores::send_scores(const Batch& batch, cudaStream_t stream) {
  const auto send_array = [&](ScoreArray ScoreWindow::*scores, Array& array) {
    const auto of = [scores](const ScoreWindow& sequence) -> const ScoreArray& { return sequence.*scores; };
    return send(batch, of, batch.labels, array, stream);
  };
  emission_view_ = send_array(&ScoreWindow::emissions, emissions_);
  start_view_ = send_array(&ScoreWindow::start_scores, starts_);
  end_view_ = send_array(&ScoreWindow::end_scores, ends_);
}

// And room for the scores.
void BatchScores::send_features(const Batch& batch, cudaStream_t stream) {
  const FeatureRows& first = batch.sequences.front().features;
  const auto rows_of = [](const ScoreWindow& sequence) -> const ScoreArray& {
    return sequence.features.rows;
  };
  features_.rows = send(batch, rows_of, wide(first.tracks), feature_rows_, stream);
  features_.tracks = first.tracks;
  features_.true_labels = nullptr;
  if (first.true_labels != nullptr) {
    const auto labels_of = [](const ScoreWindow& sequence) { return sequence.features.true_labels; };
    send_values(batch, Source<int>{labels_of, 1}, true_labels_, stream);
    features_.true_labels = true_labels_.get();
  }
  const std::size_t scores = wide(batch.layout.rows()) * batch.labels;
  const auto room = [&](const HeadTable* head, Array& array) -> DeviceScores {
    if (head == nullptr) return {nullptr, nullptr};
    if (first.wide) {
      array.f64.reserve(scores);
      return {nullptr, array.f64.get()};
    }
    array.f32.reserve(scores);
    return {array.f32.get(), nullptr};
  };
  emission_view_ = room(first.emission, emissions_);
  start_view_ = room(first.start, starts_);
  end_view_ = room(first.finish, ends_);
}

void BatchScores::project(const Batch& batch, cudaStream_t stream) {
  const FeatureRows& heads = batch.sequences.front().features;
  BatchProjection p{};
  p.job.features = features_;
  p.job.labels = static_cast<int>(batch.labels);
  p.sequences = views_.get();
  p.num_sequences = static_cast<int>(batch.sequences.size());
  p.rows = batch.layout.rows();
  const auto apply = [&](const HeadTable* table, const DeviceScores& out, double margin) {
    if (table == nullptr) return;
    p.job.head = tables_.view(*table, stream);
    p.job.margin = margin;
    p.job.out = out;
    project_batch(p, stream);
  };
  apply(heads.emission, emission_view_, heads.true_labels != nullptr ? heads.margin : 0);
  apply(heads.start, start_view_, 0);
  apply(heads.finish, end_view_, 0);
}

// (sequences, C); null where there are none.
const double* BatchScores::send_baselines(const Batch& batch, cudaStream_t stream) {
  if (batch.sequences.front().baseline.empty()) return nullptr;
  const std::size_t entries = batch.sequences.size() * batch.labels;
  host_baselines_.reserve(entries);
  double* to = host_baselines_.get();
  for (const ScoreWindow& sequence : batch.sequences)
    to = std::copy(sequence.baseline.begin(), sequence.baseline.end(), to);
  baselines_.upload(host_baselines_.get(), entries, stream);
  return baselines_.get();
}

void BatchScores::send_views(const Batch& batch, cudaStream_t stream) {
  const double* const baselines = send_baselines(batch, stream);
  subtract_position_max_ = batch.sequences.front().subtract_position_max;
  host_views_.reserve(batch.sequences.size());
  for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
    const PlacedSequence& placed = batch.layout.sequences[i];
    const std::size_t skip = wide(placed.first_row) * batch.labels;
    const auto from = [&](const DeviceScores& all) -> DeviceScores {
      return {all.f32 != nullptr ? all.f32 + skip : nullptr, all.f64 != nullptr ? all.f64 + skip : nullptr};
    };
    SequenceView view{};
    view.emissions = from(emission_view_);
    view.starts = from(start_view_);
    view.ends = from(end_view_);
    view.baseline = baselines == nullptr ? nullptr : baselines + i * batch.labels;
    view.rows = view.length = placed.length;
    view.subtract_position_max = subtract_position_max_ ? 1 : 0;
    view.first_row = placed.first_row;
    host_views_.get()[i] = view;
  }
  views_.upload(host_views_.get(), batch.sequences.size(), stream);
}

void BatchScores::upload(std::span<const ScoreWindow> sequences, const SequenceLayout& layout, int labels,
                         cudaStream_t stream) {
  // Copies of the batch before this one are over: its results are there.
  const Batch batch{sequences, layout, wide(labels)};
  const bool projected = !sequences.front().features.empty();
  projected ? send_features(batch, stream) : send_scores(batch, stream);
  send_views(batch, stream);
  if (projected) project(batch, stream);
}

}  // namespace semicrf::cuda
