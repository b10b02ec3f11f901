// How large the arrays of a pass are: messages of a window, and the workspace of its teams. Each list of
// arrays is written once; device_needs measures with it before a run, the pass slices with it. Plain C++,
// which also compiles where CUDA is not installed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "core/sizes.h"
#include "cuda/device/slices.h"
#include "cuda/recursion/run_types.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// What is kept of the messages of a pass.
struct MessageShape {
  int labels = 0;
  bool tail = false;    // tails as well
  bool shifts = false;  // and what was taken out of every position
  bool levels = true;   // alpha and gamma have them: log semiring
};

inline std::size_t message_blocks(std::int64_t positions) {
  return wide(ceil_div<std::int64_t>(positions, kBlock));
}
// Slots for blocks that the exact path computes, at first; a pass that needs more asks for them.
inline std::size_t first_pool_slots(std::size_t blocks) { return std::max<std::size_t>(64, blocks / 16); }

// Messages of fast blocks lie side by side; those of exact blocks in a pool, slot by slot, as logarithms.
enum class MessagePart { kBlocks, kPool };

// Calls visit(array, entries per block or slot) for every array of a part that is kept: array(store) is where
// a store has it.
template <class Real, class Visit>
void for_each_array(const MessageShape& shape, MessagePart part, Visit visit) {
  using Store = MessageStore<Real>;
  using View = MessageView<Real>;
  const std::size_t labels = wide(shape.labels);
  for (const auto message : {&Store::alpha, &Store::gamma, &Store::tail}) {
    if (message == &Store::tail && !shape.tail) continue;
    const auto of_message = [&](auto array, std::size_t entries) {
      visit(
          [=](auto& store) -> auto& { return (store.*message).*array; }, entries);
    };
    if (part == MessagePart::kPool) {
      of_message(&View::pool, kBlock * labels);
    } else {
      of_message(&View::numbers, kBlock * labels);
      of_message(&View::scale, labels);
      if (shape.levels && message != &Store::tail) of_message(&View::level, kBlock);
    }
  }
  if (part == MessagePart::kPool) return;
  const auto of_store = [&](auto array, std::size_t entries) {
    visit(
        [=](auto& store) -> auto& { return store.*array; }, entries);
  };
  of_store(&Store::content, labels);
  of_store(&Store::gamma_bound, labels);
  if (!shape.levels) of_store(&Store::cuts, labels);
  of_store(&Store::base, 1);
  of_store(&Store::mass, 1);
  of_store(&Store::exact, 1);
  if (shape.shifts) of_store(&Store::shift, kBlock);
}

// Bytes of a part of so many blocks or slots; `store` gets its arrays.
template <class Real>
std::size_t slice_messages(const MessageShape& shape, MessagePart part, std::size_t count, void* memory,
                           MessageStore<Real>& store) {
  Slices slices(memory);
  for_each_array<Real>(shape, part, [&](auto array, std::size_t entries) {
    auto*& slice = array(store);
    slice = slices.add<std::remove_pointer_t<std::remove_cvref_t<decltype(slice)>>>(count * entries);
  });
  return slices.bytes();
}
template <class Real>
std::size_t message_bytes(const MessageShape& shape, MessagePart part, std::size_t count) {
  MessageStore<Real> unused{};
  return slice_messages(shape, part, count, nullptr, unused);
}

// The workspace of teams of threads: the logarithms that the exact path works on, and the ring of the newest
// K positions where shared memory has no room for it.
struct TeamShape {
  int labels = 0;
  int ring_blocks = 0;
  bool ring_in_shared = false;
};
// More than this is not taken, unless one team needs it: then fewer teams work at a time.
inline constexpr std::size_t kMostTeamWorkspace = std::size_t{2} << 30;

// Bytes of the workspace; `parameters` get its arrays.
template <class Real>
std::size_t slice_workspace(const TeamShape& shape, std::size_t teams, void* memory,
                            RunParameters<Real>& parameters) {
  Slices slices(memory);
  const std::size_t labels = wide(shape.labels);
  const std::size_t cells = wide(shape.ring_blocks) * labels;
  parameters.exact_logs = slices.add<double>(teams * cells * (kBlock + 1));
  parameters.exact_rows = slices.add<double>(teams * kExactRows * labels);
  parameters.ring_has_log = slices.add<int>(teams * wide(shape.ring_blocks));
  if (!shape.ring_in_shared) {
    parameters.ring = slices.add<Real>(teams * cells * kBlock);
    parameters.ring_scale = slices.add<int>(teams * cells);
  }
  return slices.bytes();
}
template <class Real>
std::size_t workspace_bytes(const TeamShape& shape, std::size_t teams) {
  RunParameters<Real> unused{};
  return slice_workspace(shape, teams, nullptr, unused);
}
// As many of `wanted` teams as the workspace has room for; at least one.
template <class Real>
std::size_t most_teams(const TeamShape& shape, std::size_t wanted) {
  return std::clamp<std::size_t>(kMostTeamWorkspace / workspace_bytes<Real>(shape, 1), 1,
                                 std::max<std::size_t>(1, wanted));
}

}  // namespace semicrf::cuda
