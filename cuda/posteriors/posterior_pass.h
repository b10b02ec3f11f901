// Posteriors: both directions in the log semiring beside each other, what meets at marks, and the two
// combined; then, where they are wanted, expected counts and the gradients of linear heads.
//
// The room: posteriors/ has the anchors, the kernels that combine messages, and the rows on their way to the
// host. It includes passes/, counts/, heads/ and what these include.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda/counts/counts_pass.h"
#include "cuda/device/cuda_check.h"
#include "cuda/device/device_buffer.h"
#include "cuda/heads/head_sums.h"
#include "cuda/passes/device_context.h"
#include "cuda/passes/forward_pass.h"
#include "cuda/posteriors/anchors.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// Rows of posteriors on the device, and their way to the host: through two pinned buffers, one filled while
// the other is copied to where its rows belong.
template <class Real>
struct PosteriorRows {
  // (rows), (rows, C); only what is wanted is filled.
  DeviceBuffer<Real> boundary, labels, starts, ends;

  // To the arrays that are wanted of the sequences. Waits for them, unless they are on the device.
  void download(const SequenceLayout& layout, std::size_t num_labels, std::span<const PosteriorArrays> out,
                cudaStream_t stream);

 private:
  void copy_array(const DeviceBuffer<Real>& from, std::size_t columns, const SequenceLayout& layout,
                  std::span<const PosteriorArrays> out, void* DevicePosteriors::*array, cudaStream_t stream);
  void download_array(const DeviceBuffer<Real>& from, std::size_t columns, const SequenceLayout& layout,
                      std::span<double* const> to, cudaStream_t stream);

  PinnedBuffer<Real> host_[2];
  Event copied_[2];
};

struct PosteriorWork {
  PassInput input;
  std::span<const PosteriorArrays> out;  // what is wanted of every sequence, but for its counts
  std::vector<ExpectedCounts*> counts;   // what the counts of each sequence are added to; empty: not wanted
  HeadRequest heads;                     // with its features

  bool wants(double* PosteriorArrays::*array, void* DevicePosteriors::*device_array) const;
  bool wants_boundary() const { return wants(&PosteriorArrays::boundary, &DevicePosteriors::boundary); }
  bool wants_labels() const { return wants(&PosteriorArrays::labels, &DevicePosteriors::labels); }
  bool wants_starts() const {
    return wants(&PosteriorArrays::starts, &DevicePosteriors::starts) ||
           heads.wants(&ExpectedFeatures::start);
  }
  bool wants_ends() const {
    return wants(&PosteriorArrays::ends, &DevicePosteriors::ends) || heads.wants(&ExpectedFeatures::finish);
  }
};

template <class Real>
class PosteriorPass {
 public:
  using Sweep = ChunkPass<Real, LogSemiring>;

  // `forward` is the pass whose sweep and messages this one uses.
  PosteriorPass(DeviceContext& context, ForwardPass<Real>& forward) : context_(context), forward_(forward) {}

  // See Engine::posteriors and Engine::posteriors_of.
  PosteriorWindow window(const PosteriorWork& work, const BoundaryState* left, const BoundaryState* right);
  std::vector<SequenceResult> sequences(const PosteriorWork& work);
  // Puts the window that was computed last, within its sequence and without the state at its left edge, on
  // the scale of that state. False where that is not what was warmed up: then it must be computed again.
  bool join(PosteriorWindow& window, const BoundaryState& left);

  // Everything but the rows, which stay on the device. What follows the sweeps is given to the device before
  // the host has looked at them, and again when they were not right: then the next pass looks first.
  DeviceContext::Reports run(const PosteriorWork& work, const BoundaryState* left,
                             const BoundaryState* right);
  // The steps of run(); all but finish_sweeps() are asynchronous.
  void begin_sweeps(const PosteriorWork& work, const BoundaryState* left, const BoundaryState* right);
  void finish_sweeps();  // after the stream was waited for
  void find_anchors(const PosteriorWork& work);
  void combine(const PosteriorWork& work);
  void count(const PosteriorWork& work);
  void sum_heads(const PosteriorWork& work);

 private:
  Sweep& backward();
  void use_messages(const PosteriorWork& work);
  void look_at_edges(const PosteriorWork& work);
  void hide_cut_edges(const PosteriorWork& work);
  void download_rows(const PosteriorWork& work);
  DeviceContext::Reports reports(const PosteriorWork& work);

  DeviceContext& context_;
  ForwardPass<Real>& forward_;
  std::unique_ptr<Sweep> backward_;
  MessageBuffers<Real> backward_messages_;
  Event scores_ready_, backward_done_;
  bool look_first_ = false;  // runs of the last pass had to be repaired: the next is judged before it is used
  std::vector<double> log_partitions_;  // log Z of the sequences of the last pass
  Anchors<Real> anchors_;
  DeviceBuffer<double> norm_log_, piece_sums_, sums_;  // see CombineParameters
  PinnedBuffer<double> host_sums_;
  PosteriorRows<Real> rows_;
  std::unique_ptr<CountsPass<Real>> counts_;
  HeadSums<Real> head_sums_;
};

}  // namespace semicrf::cuda
