// The arrays of a pass on the device, and what comes back from them: messages of a window and the results of
// its tasks. passes/pass_memory.h says how large they are.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "core/sizes.h"
#include "cuda/device/device_buffer.h"
#include "cuda/device/slices.h"
#include "cuda/passes/agreement.h"
#include "cuda/passes/pass_memory.h"
#include "cuda/recursion/run_types.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// What a pass leaves for the host, side by side, so that it comes in one copy.
class PassResults {
 public:
  struct Sizes {
    std::size_t slots = 0;            // slots of states
    std::size_t runs = 0;             // each with a junction and a report
    std::size_t message_entries = 0;  // entries of the messages at the ends of several sequences
  };
  struct View {
    double *whole, *offset;  // (slots) what the entries of a state are relative to
    JunctionResult* junctions;
    double* messages;    // (sequences, C)
    RunReport* reports;  // reports of the runs
  };

  // Room, and zeros.
  void begin(const Sizes& sizes, cudaStream_t stream) {
    bytes_ = slice(sizes, nullptr, nullptr);
    device_memory_.reserve(bytes_);
    host_memory_.reserve(bytes_);
    device_memory_.clear(bytes_, stream);
    slice(sizes, device_memory_.get(), &device_);
    slice(sizes, host_memory_.get(), &host_);
  }
  // Asynchronous.
  void download(cudaStream_t stream) { device_memory_.download(host_memory_.get(), 0, bytes_, stream); }
  const View& device() const { return device_; }
  const View& host() const { return host_; }  // as it was downloaded last

 private:
  // Bytes; fills `view` unless it is null.
  static std::size_t slice(const Sizes& sizes, void* memory, View* view) {
    Slices slices(memory);
    const View here{slices.add<double>(sizes.slots), slices.add<double>(sizes.slots),
                    slices.add<JunctionResult>(sizes.runs), slices.add<double>(sizes.message_entries),
                    slices.add<RunReport>(sizes.runs)};
    if (view != nullptr) *view = here;
    return slices.bytes();
  }

  std::size_t bytes_ = 0;
  DeviceBuffer<unsigned char> device_memory_;
  PinnedBuffer<unsigned char> host_memory_;
  View device_{}, host_{};
};

// Messages that were copied to the host, part by part.
template <class Real>
struct HostMessages {
  std::vector<unsigned char> memory[2];
  MessageStore<Real> view{};
};

template <class Real>
class MessageBuffers {
 public:
  // Room for the tokens of `range`, whole blocks, and for `exact` exact blocks at least; what was there is
  // lost.
  void reserve(PositionRange range, const MessageShape& shape, std::size_t exact = 0) {
    range_ = range;
    shape_ = shape;
    blocks_ = message_blocks(range.size());
    bytes_ = message_bytes<Real>(shape, MessagePart::kBlocks, blocks_);
    memory_.reserve(bytes_);
    pool_used_.reserve(1);
    all_alphas_ = false;
    reserve_pool(std::max(first_pool_slots(blocks_), exact));
  }
  void reserve_pool(std::size_t slots) {
    pool_slots_ = std::max(pool_slots_, slots);
    pool_.reserve(message_bytes<Real>(shape_, MessagePart::kPool, pool_slots_));
  }
  // From now on, until reserve(): readers want alphas, too, that no other message would notice.
  void want_all_alphas() { all_alphas_ = true; }
  std::size_t pool_slots() const { return pool_slots_; }
  std::size_t blocks() const { return blocks_; }
  // Zeros where a pass will write nothing: for callers that copy everything to the host.
  void clear(cudaStream_t stream) {
    memory_.clear(bytes_, stream);
    pool_.clear(pool_.size(), stream);
  }
  // Before a pass, which writes no cuts where there are none.
  void clear_marks(cudaStream_t stream) {
    pool_used_.clear(1, stream);
    const std::size_t bytes = blocks_ * wide(shape_.labels) * sizeof(std::uint16_t);
    if (!shape_.levels) SEMICRF_CUDA_CHECK(cudaMemsetAsync(view().cuts, 0, bytes, stream));
  }
  // Slots that a pass asked for, more than there are where these did not suffice. Asynchronous.
  void download_pool_used(int* to, cudaStream_t stream) const { pool_used_.download(to, 0, 1, stream); }

  MessageStore<Real> view() const {
    MessageStore<Real> v{};
    slice_messages(shape_, MessagePart::kBlocks, blocks_, memory_.get(), v);
    slice_messages(shape_, MessagePart::kPool, pool_slots_, pool_.get(), v);
    v.pool_used = pool_used_.get();
    v.pool_slots = static_cast<int>(pool_slots_);
    v.all_alphas = all_alphas_ ? 1 : 0;
    v.first_token = range_.begin;
    return v;
  }

  // Blocks, or slots of the pool, [first, first + count) to the host. Waits for them.
  void download(MessagePart part, std::size_t first, std::size_t count, HostMessages<Real>& host,
                cudaStream_t stream) const {
    std::vector<unsigned char>& memory = host.memory[static_cast<std::size_t>(part)];
    memory.resize(message_bytes<Real>(shape_, part, count));
    slice_messages(shape_, part, count, memory.data(), host.view);
    copy_to(host.view, part, first, count, cudaMemcpyDeviceToHost, stream);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  // Slots of the pool that a pass used. Waits for it.
  std::size_t pool_used(cudaStream_t stream) const {
    return std::min(pool_slots_, wide(pool_used_.download(1, stream)[0]));
  }
  // Copies the blocks of this store from another window's messages, where they begin with block `first`.
  // False, and nothing is copied, when one of them is exact: its numbers lie in that window's pool.
  bool copy_blocks(const MessageBuffers& from, std::size_t first, cudaStream_t stream) {
    std::vector<int> exact(blocks_);
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(exact.data(), from.view().exact + first, blocks_ * sizeof(int),
                                       cudaMemcpyDeviceToHost, stream));
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
    if (std::any_of(exact.begin(), exact.end(), [](int slot) { return slot != 0; })) return false;
    from.copy_to(view(), MessagePart::kBlocks, first, blocks_, cudaMemcpyDeviceToDevice, stream);
    return true;
  }

 private:
  // Blocks or slots from `first` on to the begin of the same arrays of `to`. Asynchronous.
  void copy_to(const MessageStore<Real>& to, MessagePart part, std::size_t first, std::size_t count,
               cudaMemcpyKind kind, cudaStream_t stream) const {
    for_each_array<Real>(shape_, part, [&, own = view()](auto array, std::size_t entries) {
      if (count == 0) return;
      SEMICRF_CUDA_CHECK(cudaMemcpyAsync(array(to), array(own) + first * entries,
                                         count * entries * sizeof(*array(own)), kind, stream));
    });
  }

  PositionRange range_;
  MessageShape shape_;
  std::size_t blocks_ = 0, bytes_ = 0, pool_slots_ = 0;
  bool all_alphas_ = false;
  DeviceBuffer<unsigned char> memory_, pool_;
  DeviceBuffer<int> pool_used_;
};

}  // namespace semicrf::cuda
