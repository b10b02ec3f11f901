// For measurements: the passes of the CUDA engine over scores that lie on the device, without their way up
// and that of the results, as a whole and stage by stage.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/posteriors/posterior_pass.h"
#include "cuda/viterbi/viterbi_pass.h"

namespace semicrf::testing {

template <class Real>
class DevicePasses {
 public:
  using Seconds = std::map<std::string, double>;  // of every stage
  using Path = typename cuda::ViterbiPass<Real>::Path;

  // On the first GPU; blocks of threads may have the shared memory of an H100.
  explicit DevicePasses(ChainModel model)
      : model_(std::move(model)),
        context_(model_, sizeof(Real), 0, std::size_t{227} << 10, std::size_t{1} << 40, 1),
        scores_(std::make_shared<cuda::SequenceScores>(context_.model.num_labels, context_.copies,
                                                       context_.stream.get())),
        viterbi_(context_),
        forward_(context_),
        posteriors_(context_, forward_) {}
  ~DevicePasses() { context_.end_work(); }
  DevicePasses(const DevicePasses&) = delete;
  DevicePasses& operator=(const DevicePasses&) = delete;

  // Whole sequences, which the functions below work on.
  void upload(std::span<const ScoreWindow> sequences) {
    scores_->upload(sequences, false);
    plain_ = input(sequences, false);
    marked_ = input(sequences, true);
  }
  const std::vector<cuda::RunOutcome>& forward() {
    return forward_.sweep().run(plain_.layout, scores_->on_device(), nullptr, nullptr);
  }
  // The kernel of forward() alone.
  void repeat_forward_kernel() {
    forward_.sweep().repeat_launch();
    wait();
  }
  std::vector<Path> paths() {
    viterbi_.compute_messages(plain_);
    return viterbi_.trace(plain_);
  }
  // `wanted`: of every sequence, counts of all.
  void posteriors(const PosteriorArrays& wanted) { posteriors_.run(work(wanted), nullptr, nullptr); }

  // The same with the stages one after the other; adds their seconds.
  void time_paths(Seconds& seconds) {
    begin_stage();
    viterbi_.compute_messages(plain_);
    end_stage("sweep", seconds);
    viterbi_.trace(plain_);
    end_stage("traceback", seconds);
  }
  void time_posteriors(const PosteriorArrays& wanted, Seconds& seconds) {
    const cuda::PosteriorWork here = work(wanted);
    begin_stage();
    posteriors_.begin_sweeps(here, nullptr, nullptr);
    wait();
    posteriors_.finish_sweeps();
    end_stage("sweeps", seconds);
    posteriors_.find_anchors(here);
    end_stage("anchors", seconds);
    posteriors_.combine(here);
    end_stage("combining", seconds);
    posteriors_.count(here);
    end_stage("counting", seconds);
  }

 private:
  cuda::PassInput input(std::span<const ScoreWindow> sequences, bool with_marks) const {
    std::vector<cuda::PlacedSequence> placed;
    for (const ScoreWindow& sequence : sequences)
      placed.push_back(context_.cut(sequence.length, {0, sequence.length}, with_marks));
    return {cuda::SequenceLayout(std::move(placed)), scores_};
  }
  cuda::PosteriorWork work(const PosteriorArrays& wanted) const {
    const std::size_t counting = wanted.counts != nullptr ? marked_.layout.sequences.size() : 0;
    return {marked_, {&wanted, 1}, std::vector<ExpectedCounts*>(counting, wanted.counts), {}};
  }
  void wait() const { SEMICRF_CUDA_CHECK(cudaStreamSynchronize(context_.stream.get())); }
  void begin_stage() {
    wait();
    stage_begin_ = std::chrono::steady_clock::now();
  }
  void end_stage(const char* name, Seconds& seconds) {
    wait();
    const auto now = std::chrono::steady_clock::now();
    seconds[name] += std::chrono::duration<double>(now - stage_begin_).count();
    stage_begin_ = now;
  }

  ChainModel model_;
  cuda::DeviceContext context_;
  std::shared_ptr<cuda::SequenceScores> scores_;
  cuda::PassInput plain_, marked_;
  cuda::ViterbiPass<Real> viterbi_;
  cuda::ForwardPass<Real> forward_;
  cuda::PosteriorPass<Real> posteriors_;
  std::chrono::steady_clock::time_point stage_begin_;
};

}  // namespace semicrf::testing
