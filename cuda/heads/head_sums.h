// Gradients by the weights of linear heads, from posteriors and features that lie on the device.
//
// The room: heads/ has this alone. It includes device/ and scores/ (projection_launch.h).
#pragma once

#include <span>
#include <vector>

#include "core/score_window.h"
#include "cuda/device/device_buffer.h"
#include "cuda/passes/device_context.h"
#include "cuda/scores/projection_launch.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// What is wanted of the sequences of a pass.
struct HeadRequest {
  std::vector<ExpectedFeatures*> targets;  // for every sequence, null: nothing; empty: nothing for any
  const FeatureRows* heads = nullptr;      // one for all sequences, but for the rows
  FeatureView features{};

  // Whether somebody wants the sums of a head.
  bool wants(ExpectedFeatures::Head ExpectedFeatures::*head) const;
};

template <class Real>
struct HeadPosteriors {  // (rows, C); starts and ends where they are wanted
  const Real *labels, *starts, *ends;
};

// What windows or sequences want, without their features.
HeadRequest head_request(std::span<const ScoreWindow> windows, std::span<const PosteriorArrays> out);

// Doubles of all that is wanted: of the row of sums that a stretch has.
std::size_t head_sum_entries(const HeadRequest& request, int labels);

template <class Real>
class HeadSums {
 public:
  // Adds to the targets stretch by stretch in their order, which neither windows nor batches change; no
  // stretch passes over the edge of a chunk. Gives everything to the stream; write_to_targets() is for when
  // it was waited for.
  void begin(const HeadRequest& request, const SequenceLayout& layout, const HeadPosteriors<Real>& posteriors,
             int labels, cudaStream_t stream);
  void write_to_targets(const HeadRequest& request, int labels) const;

 private:
  void plan(const HeadRequest& request, const SequenceLayout& layout);
  void send(const HeadRequest& request, int labels, cudaStream_t stream);
  // Stretches [first, first + count) into parts_.
  void sum_stretches(std::size_t first, std::size_t count, const HeadRequest& request,
                     const HeadPosteriors<Real>& posteriors, int labels, cudaStream_t stream);
  void add_parts(std::size_t first, std::size_t count, cudaStream_t stream);

  std::size_t entries_ = 0;
  std::vector<ExpectedFeatures*> targets_;  // each once
  std::vector<Stretch> stretches_;          // stretches of the first target, then of the next
  std::vector<std::int64_t> begins_;        // stretches of target i are [begins[i], begins[i + 1])
  DeviceBuffer<Stretch> device_stretches_;
  DeviceBuffer<std::int64_t> device_begins_;
  DeviceBuffer<double> parts_, totals_;  // (stretches at a time, entries), (targets, entries)
  PinnedBuffer<Stretch> host_stretches_;
  PinnedBuffer<std::int64_t> host_begins_;
  PinnedBuffer<double> host_totals_;
};

}  // namespace semicrf::cuda
