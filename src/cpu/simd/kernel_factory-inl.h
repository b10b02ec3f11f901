// Builds the kernels of a model. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_KERNEL_FACTORY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_KERNEL_FACTORY_INL_H_
#undef SEMICRF_CPU_SIMD_KERNEL_FACTORY_INL_H_
#else
#define SEMICRF_CPU_SIMD_KERNEL_FACTORY_INL_H_
#endif

#include <memory>

#include "cpu/simd/posterior_kernel-inl.h"
#include "cpu/simd/real_vectors-inl.h"
#include "cpu/simd/viterbi_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Tables>
std::size_t bytes_of_tables(const Tables& t) {
  const auto bytes = [](const auto& array) { return array.size() * sizeof(array[0]); };
  return bytes(t.offset_table) + bytes(t.offset_bound) + bytes(t.near.table) + bytes(t.bias) +
         bytes(t.transitions.numbers) + bytes(t.transitions.logs) + bytes(t.transitions.linear);
}

// The ring, its units and logarithms, and the block's workspace (about 24 rows of 16 in double).
template <class Real, class Tables>
std::size_t bytes_of_run(const Tables& t) {
  const auto width = static_cast<std::size_t>(t.padded);
  const auto ring = static_cast<std::size_t>(t.ring_blocks) * kBlock * width;
  return ring * (2 * sizeof(Real) + 2 * sizeof(double)) + width * sizeof(double) * 24 * kBlock;
}

inline std::size_t bytes_of_state(int duration, int labels) {
  return (static_cast<std::size_t>(duration) + 2) * static_cast<std::size_t>(labels) * sizeof(double);
}

template <class Real, class D>
class ViterbiFactory final : public KernelFactory<ViterbiKernel> {
 public:
  using Kernel = ViterbiKernelImpl<Real, D>;
  explicit ViterbiFactory(const TraceTables& trace)
      : tables_(std::make_shared<typename Kernel::Tables>(direct(*trace.model, Direction::kForward))),
        trace_(trace) {}
  std::unique_ptr<ViterbiKernel> make() const override { return std::make_unique<Kernel>(tables_, trace_); }
  std::size_t table_bytes() const override { return bytes_of_tables(*tables_); }
  std::size_t workspace_bytes(std::int64_t chunk) const override {
    const auto blocks = static_cast<std::size_t>(chunk) / kBlock + 1;
    return bytes_of_run<Real>(*tables_) + blocks * ViterbiChunk::bytes_per_block(Kernel::shape(*tables_)) +
           static_cast<std::size_t>(chunk) * sizeof(Segment);
  }
  std::size_t path_bytes(std::int64_t chunk) const override {
    return ChunkPath::bytes(*trace_.model, chunk, Kernel::shape(*tables_));
  }
  std::size_t usual_workspace_bytes(std::int64_t chunk) const override {
    const auto blocks = static_cast<std::size_t>(chunk) / kBlock + 1;
    return bytes_of_run<Real>(*tables_) +
           blocks * ViterbiChunk::usual_bytes_per_block(Kernel::shape(*tables_));
  }
  std::size_t usual_path_bytes(std::int64_t chunk) const override {
    return ChunkPath::usual_bytes(*trace_.model, chunk, Kernel::shape(*tables_));
  }

 private:
  std::shared_ptr<const typename Kernel::Tables> tables_;
  const TraceTables& trace_;
};

template <class Real, class D>
class PosteriorFactory final : public KernelFactory<PosteriorKernel> {
 public:
  using Kernel = PosteriorKernelImpl<Real, D>;
  explicit PosteriorFactory(const ChainModel& model)
      : forward_(std::make_shared<typename Kernel::Tables>(direct(model, Direction::kForward))),
        backward_(std::make_shared<typename Kernel::Tables>(direct(model, Direction::kBackward))),
        cut_sums_(model.cut.right ? std::make_shared<CutEdgeSums>(model) : nullptr) {}
  std::unique_ptr<PosteriorKernel> make() const override {
    return std::make_unique<Kernel>(forward_, backward_, cut_sums_);
  }
  std::size_t table_bytes() const override {
    return bytes_of_tables(*forward_) + bytes_of_tables(*backward_);
  }
  std::size_t workspace_bytes(std::int64_t chunk) const override {
    const auto width = static_cast<std::size_t>(forward_->padded);
    return 2 * bytes_of_run<Real>(*forward_) + ForwardStore<Real, D>::bytes(width, chunk, false) +
           2 * bytes_of_state(forward_->duration, forward_->labels);
  }
  std::size_t usual_workspace_bytes(std::int64_t chunk) const override {
    const auto width = static_cast<std::size_t>(forward_->padded);
    return 2 * bytes_of_run<Real>(*forward_) + ForwardStore<Real, D>::usual_bytes(width, chunk, false) +
           2 * bytes_of_state(forward_->duration, forward_->labels);
  }
  std::size_t counts_bytes(std::int64_t chunk) const override {
    const auto width = static_cast<std::size_t>(forward_->padded);
    const auto store = [&](bool tails) { return ForwardStore<Real, D>::bytes(width, chunk, tails); };
    return ChunkCounts<Real, D>::bytes(*forward_) + store(forward_->tail) - store(false);
  }

 private:
  std::shared_ptr<const typename Kernel::Tables> forward_, backward_;
  std::shared_ptr<const CutEdgeSums> cut_sums_;
};

template <class Real>
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_factory(const TraceTables& tables) {
  return with_best_width<Real>(tables.model->num_labels,
                               [&](auto tag) -> std::unique_ptr<KernelFactory<ViterbiKernel>> {
                                 return std::make_unique<ViterbiFactory<Real, decltype(tag)>>(tables);
                               });
}

template <class Real>
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_factory(const ChainModel& model) {
  return with_best_width<Real>(model.num_labels,
                               [&](auto tag) -> std::unique_ptr<KernelFactory<PosteriorKernel>> {
                                 return std::make_unique<PosteriorFactory<Real, decltype(tag)>>(model);
                               });
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
