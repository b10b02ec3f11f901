#include "library/compute_on_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/posteriors/posteriors.h"
#include "core/error.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "library/model_handle.h"
#include "library/sequence_inputs.h"

namespace semicrf {
namespace {

class DeviceComputation {
 public:
  DeviceComputation(const LibraryModel& model, Engine& engine, std::span<const semicrf_sequence> sequences,
                    const semicrf_request& request, void* stream, std::vector<SequenceFound>& found)
      : model_(model),
        engine_(engine),
        sequences_(sequences),
        request_(request),
        stream_(stream),
        found_(found) {
    if (engine_.own_memory() == nullptr || !engine_.own_memory()->takes_device_arrays())
      throw UsageError("arrays on a device: the engine computes in memory of the host", "");
    if (request.best_path != 0 || request.entropy != 0 || request.best > 0 || request.samples > 0)
      throw UsageError("arrays on a device: paths, samples and entropies cannot be asked for", "");
    if (model_.heads || model_.parameters.centering == Centering::kMean)
      throw UsageError("arrays on a device: the model has tracks, or centring \"mean\"", "");
  }

  void run() {
    for (std::size_t i = 0; i < sequences_.size(); ++i) windows_.push_back(window_of(i));
    if (windows_.empty()) return;
    const bool swept = request_.counts != 0 || std::ranges::any_of(rows_, [](const DevicePosteriors& one) {
                         return one.boundary != nullptr || one.labels != nullptr || one.starts != nullptr ||
                                one.ends != nullptr;
                       });
    DeviceMemory& memory = *engine_.own_memory();
    memory.begin_after(stream_);
    const std::vector<SequenceResult> results =
        swept ? posteriors() : engine_.batches().log_partitions(windows_);
    memory.finish_before(stream_);
    for (std::size_t i = 0; i < results.size(); ++i) take(results[i].log_partition, swept, i);
  }

 private:
  ScoreArray scores_of(const semicrf_array& array, const std::string& what, std::int64_t length) const {
    ScoreArray scores;
    if (array.data == nullptr) return scores;
    check_device_rows(array, length, model_.parameters.num_labels(), what);
    if (array.type == SEMICRF_FLOAT32) scores.f32 = static_cast<const float*>(array.data);
    if (array.type == SEMICRF_FLOAT64) scores.f64 = static_cast<const double*>(array.data);
    if (scores.empty()) throw UsageError(fmt::format("{}: type {} is not for devices", what, array.type), "");
    scores.on_device = true;
    return scores;
  }
  ScoreWindow window_of(std::size_t i) {
    const semicrf_sequence& sequence = sequences_[i];
    const std::string name = " of sequence " + sequence_name(sequence, i);
    const std::int64_t length = sequence.scores.rows;
    if (sequence.scores.data == nullptr) throw UsageError("scores" + name + " is a null pointer", "");
    if (sequence.num_constraints > 0 || sequence.segments != nullptr)
      throw UsageError("arrays on a device: there are constraints or segments" + name, "");
    ScoreWindow window;
    window.end = window.length = length;
    window.emissions = scores_of(sequence.scores, "scores" + name, length);
    window.start_scores = scores_of(sequence.start_scores, "start_scores" + name, length);
    window.end_scores = scores_of(sequence.end_scores, "end_scores" + name, length);
    window.subtract_position_max = model_.parameters.centering == Centering::kPositionMax;
    const auto rows = [&](const semicrf_output& out, const char* what, int columns) -> void* {
      if (out.data == nullptr) return nullptr;
      check_device_rows(out, length, columns, what + name);
      const bool single = engine_.precision() == Precision::kFloat;
      if (out.type != (single ? SEMICRF_FLOAT32 : SEMICRF_FLOAT64))
        throw UsageError(what + name + ": is not of the engine's precision", "");
      return out.data;
    };
    const int labels = model_.parameters.num_labels();
    rows_.push_back({rows(sequence.boundary, "boundary", 1), rows(sequence.labels, "labels", labels),
                     rows(sequence.starts, "starts", labels), rows(sequence.ends, "ends", labels)});
    return window;
  }
  std::vector<SequenceResult> posteriors() {
    std::vector<PosteriorArrays> out(windows_.size());
    counts_.resize(request_.counts != 0 ? windows_.size() : 0);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].on_device = &rows_[i];
      if (request_.counts != 0) out[i].counts = &counts_[i];
    }
    return engine_.batches().posteriors_of(windows_, out, nullptr);
  }
  void take(double log_partition, bool swept, std::size_t i) {
    PieceResult& result = found_[i].result;
    result.feasible = log_partition > kNegativeInfinity;
    if (!result.feasible) return;
    if (!swept) {
      result.put(LogPartitionResult{log_partition});
      return;
    }
    PosteriorResult posteriors;
    posteriors.log_partition = log_partition;
    if (request_.counts != 0) posteriors.sums.emplace().counts = std::move(counts_[i]);
    result.put(std::move(posteriors));
  }

  const LibraryModel& model_;
  Engine& engine_;
  std::span<const semicrf_sequence> sequences_;
  const semicrf_request& request_;
  void* stream_;
  std::vector<SequenceFound>& found_;
  std::vector<ScoreWindow> windows_;
  std::vector<DevicePosteriors> rows_;
  std::vector<ExpectedCounts> counts_;
};

}  // namespace

void compute_on_device(const LibraryEngine& handle, Engine& engine,
                       std::span<const semicrf_sequence> sequences, const semicrf_request& request,
                       void* stream, std::vector<SequenceFound>& found) {
  DeviceComputation(handle.model(), engine, sequences, request, stream, found).run();
}

}  // namespace semicrf
