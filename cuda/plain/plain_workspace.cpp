#include "cuda/plain/plain_workspace.h"

#include <algorithm>
#include <cmath>

#include "core/sizes.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kSlab = std::size_t{1} << 16;  // numbers that are centred and copied at a time

PlainForward slice_forward(const PlainSequence& sequence, bool tail, Slices& slices) {
  const std::size_t labels = wide(sequence.labels), rows = wide(sequence.length) * labels;
  PlainForward out;
  out.level = slices.add<double>(wide(sequence.length) + 1);
  out.alpha = slices.add<double>(rows + labels);
  out.gamma = slices.add<double>(rows);
  if (tail) out.tail = slices.add<double>(rows + labels);
  out.largest = slices.add<double>(labels);
  return out;
}

PlainBackward slice_backward(const PlainSequence& sequence, bool tail, Slices& slices) {
  const PlainForward mirrored = slice_forward(sequence, tail, slices);
  return {mirrored.level, mirrored.alpha, mirrored.gamma, mirrored.tail, mirrored.largest};
}

// Adds an edge's own scores to a row of boundary scores.
void add_edge(const std::vector<double>& scores, std::vector<double>& rows, std::size_t row) {
  for (std::size_t c = 0; c < scores.size(); ++c) rows[row * scores.size() + c] += scores[c];
}

}  // namespace

PlainArrays slice_arrays(const ChainModel& model, std::int64_t length, PlainPass pass, Slices& slices) {
  const std::size_t labels = wide(model.num_labels), rows = wide(length) * labels;
  const std::size_t durations = wide(model.max_duration) * labels;
  const bool tail = model.has_tail();
  const auto tail_row = [&] { return tail ? slices.add<double>(labels) : nullptr; };
  PlainArrays out;
  PlainSequence& sequence = out.sequence;
  sequence.length = length;
  sequence.labels = model.num_labels;
  sequence.max_duration = model.max_duration;
  sequence.initial_transition = model.initial == InitialTerm::kUniform;
  sequence.transition = slices.add<double>(labels * labels);
  sequence.duration = slices.add<double>(durations);
  sequence.log_tail = tail_row();
  for (double** scores : {&sequence.emission, &sequence.start, &sequence.end})
    *scores = slices.add<double>(rows);
  sequence.typical_step = slices.add<double>(wide(length));
  out.forward = slice_forward(sequence, tail, slices);
  out.state.ring = slices.add<double>(durations);
  out.state.message = slices.add<double>(labels);
  out.state.tail = tail_row();
  if (pass == PlainPass::kPath) {
    out.path = slices.add<PlainPath>(1);
    out.segments = slices.add<Segment>(PlainPath::kRoom);
  }
  if (pass == PlainPass::kPath || pass == PlainPass::kForward) return out;
  out.backward = slice_backward(sequence, tail, slices);
  for (double** rows_of : {&out.posteriors.starts, &out.posteriors.ends, &out.posteriors.labels})
    *rows_of = slices.add<double>(rows);
  if (pass == PlainPass::kPosteriors) return out;
  out.counts.transition = slices.add<double>(labels * labels);
  out.counts.duration = slices.add<double>(durations + labels);
  out.counts.tail = tail_row();
  return out;
}

std::size_t plain_bytes(const ChainModel& model, std::int64_t length, PlainPass pass) {
  Slices measured;
  slice_arrays(model, length, pass, measured);
  return measured.bytes() + measured.bytes() / 8;
}

PlainWorkspace::PlainWorkspace(const ChainModel& model, const ScoreWindow& whole, PlainPass pass,
                               cudaStream_t stream)
    : stream_(stream) {
  Slices measured;
  slice_arrays(model, whole.length, pass, measured);
  memory_.reserve(measured.bytes());
  Slices slices(memory_.get());
  arrays_ = slice_arrays(model, whole.length, pass, slices);
  upload(arrays_.sequence.transition, model.transition);
  upload(arrays_.sequence.duration, model.duration_bias);
  upload(arrays_.sequence.log_tail, model.log_tail);
  upload_scores(model, whole);
}

void PlainWorkspace::upload(double* to, const std::vector<double>& from) const {
  if (!from.empty()) upload_bytes(to, from.data(), from.size() * sizeof(double), stream_);
}

void PlainWorkspace::upload_scores(const ChainModel& model, const ScoreWindow& whole) const {
  const std::size_t labels = wide(model.num_labels), length = wide(whole.length);
  const std::size_t slab = std::max<std::size_t>(1, kSlab / labels);
  const PlainSequence& sequence = arrays_.sequence;
  for (std::size_t first = 0; first < length; first += slab) {
    const std::size_t rows = std::min(slab, length - first);
    std::vector<double> emission(rows * labels), start(rows * labels), end(rows * labels), step(rows);
    for (std::size_t t = 0; t < rows; ++t) {
      const std::size_t from = (first + t) * labels;
      const double top = whole.subtract_position_max ? position_maximum(whole.emissions, from, labels) : 0.0;
      double largest = kNegativeInfinity;
      for (std::size_t c = 0; c < labels; ++c) {
        const double baseline = whole.baseline.empty() ? 0.0 : whole.baseline[c];
        emission[t * labels + c] = whole.emissions.at(from + c) - baseline - top;
        largest = std::max(largest, emission[t * labels + c]);
        if (!whole.start_scores.empty()) start[t * labels + c] = whole.start_scores.at(from + c);
        if (!whole.end_scores.empty()) end[t * labels + c] = whole.end_scores.at(from + c);
      }
      step[t] = largest == kNegativeInfinity ? 0.0 : std::rint(largest);
    }
    if (first == 0) add_edge(model.start_scores, start, 0);
    if (first + rows == length) add_edge(model.end_scores, end, rows - 1);
    upload(sequence.emission + first * labels, emission);
    upload(sequence.start + first * labels, start);
    upload(sequence.end + first * labels, end);
    upload(sequence.typical_step + first, step);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
}

void PlainWorkspace::fetch(const double* from, std::size_t count, double* to) const {
  SEMICRF_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(double), cudaMemcpyDeviceToHost, stream_));
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

std::vector<double> PlainWorkspace::fetch(const double* from, std::size_t count) const {
  std::vector<double> result(count);
  fetch(from, count, result.data());
  return result;
}

}  // namespace semicrf::cuda
