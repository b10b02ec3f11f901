// What a run does rarely, out of line: states read and written, the ring after an exact block, tails.
#pragma once

#include "cuda/lanes.cuh"
#include "cuda/team_memory.cuh"

namespace semicrf::cuda {

template <class Real, class Semiring>
__device__ inline void keep_log(const TablesView<Real>& t, const TeamMemory<Real>& m, int width, int block,
                                int slot, double value) {
  const std::int64_t row = static_cast<std::int64_t>(block) * kBlock + slot;
  m.logs[row * t.labels] = value;
  Real number = Ops<Real, Semiring>::zero();
  if constexpr (Semiring::kIsLog) {
    if (value > Limits<Semiring, Real>::kIgnore) number = static_cast<Real>(exp(value));
  } else {
    number = static_cast<Real>(value);
  }
  m.ring[row * width] = number;
}

// The message and the tail of a state; its ring goes into the team's.
struct Messages {
  double alpha, tail;
};
template <class Real, class Semiring>
__device__ SEMICRF_NOINLINE Messages read_state(const RunParameters<Real>& p, TeamMemory<Real> m, int slot,
                                                int c, int width) {
  const TablesView<Real>& t = p.tables;
  const double* entries = p.states.entries + slot * p.states.stride + c;
  for (int distance = 1; distance <= t.ring_blocks; ++distance) {
    const int block = t.ring_blocks - distance;
    double largest = kNone;
    for (int slot_at = 0; slot_at < kBlock; ++slot_at) {
      const int d = kBlock * distance - slot_at;
      if (d <= t.duration) largest = fmax(largest, entries[static_cast<std::int64_t>(d - 1) * t.labels]);
    }
    m.ring_scale[static_cast<std::int64_t>(block) * width] = largest;
    for (int slot_at = 0; slot_at < kBlock; ++slot_at) {
      const int d = kBlock * distance - slot_at;
      const double value = d <= t.duration ? entries[static_cast<std::int64_t>(d - 1) * t.labels] : kNone;
      keep_log<Real, Semiring>(t, m, width, block, slot_at, largest == kNone ? kNone : value - largest);
    }
    if (c == 0) m.has_log[block] = 1;
  }
  return {entries[static_cast<std::int64_t>(t.duration) * t.labels],
          t.tail ? entries[static_cast<std::int64_t>(t.duration + 1) * t.labels] : kNone};
}

struct Boundary {
  bool mine, with_ring;
  int slot, head;
  double alpha, tail, pending, whole, offset;
};
template <class Real, class Semiring, class Lanes>
__device__ SEMICRF_NOINLINE void write_state(const RunParameters<Real>& p, TeamMemory<Real> m, Lanes lanes,
                                             Boundary at, int width) {
  const TablesView<Real>& t = p.tables;
  lanes.sync();
  double largest = kNone;
  double* out = p.states.entries + at.slot * p.states.stride + lanes.c;
  if (at.mine && lanes.valid) {
    int block = at.head;
    int slot = 0;
    for (int d = 1; d <= t.duration; ++d) {
      if (slot == 0) {
        slot = kBlock;
        block = block == 0 ? t.ring_blocks - 1 : block - 1;
      }
      --slot;
      double value = kNone;
      if (at.with_ring) {
        const std::int64_t row = static_cast<std::int64_t>(block) * kBlock + slot;
        value = m.has_log[block] ? m.logs[row * t.labels] : to_log<Real, Semiring>(m.ring[row * width]);
        value += m.ring_scale[static_cast<std::int64_t>(block) * width] + at.pending;
      }
      out[static_cast<std::int64_t>(d - 1) * t.labels] = value;
      largest = fmax(largest, value);
    }
    out[static_cast<std::int64_t>(t.duration) * t.labels] = at.alpha;
    out[static_cast<std::int64_t>(t.duration + 1) * t.labels] = at.tail;
    largest = fmax(largest, fmax(at.alpha, at.tail));
  }
  largest = lanes.most(largest);
  if (!at.mine || !lanes.valid) return;
  if (largest != kNone) {
    for (int row = 0; row < t.duration + 2; ++row) out[static_cast<std::int64_t>(row) * t.labels] -= largest;
  }
  if (lanes.c == 0) {
    p.states.whole[at.slot] = largest == kNone ? 0.0 : at.whole;
    p.states.offset[at.slot] = largest == kNone ? 0.0 : at.offset + largest;
  }
}

// After an exact block: its starts into the ring, everything moved to the block's last boundary.
template <class Real, class Semiring>
__device__ SEMICRF_NOINLINE void shift_ring(const TablesView<Real>& t, TeamMemory<Real> m, int c, int width,
                                            int head, double content, double shift) {
  for (int j = 0; j < t.ring_blocks; ++j)
    m.ring_scale[static_cast<std::int64_t>(j) * width] += content - shift;
  double largest = kNone;
  for (int slot = 0; slot < kBlock; ++slot) largest = fmax(largest, m.near[slot * t.labels]);
  m.ring_scale[static_cast<std::int64_t>(head) * width] = largest - shift;
  for (int slot = 0; slot < kBlock; ++slot) {
    keep_log<Real, Semiring>(t, m, width, head, slot,
                             largest == kNone ? kNone : m.near[slot * t.labels] - largest);
  }
  if (c == 0) m.has_log[head] = 1;
}

// The tail along a block: what was open longer than K, and gamma_{t-K-1} with B[K] on top. Everything it
// needs, apart from the registers of the recursion.
template <class Real>
struct TailRun {
  const TablesView<Real>* t;
  double* near;  // starts of this block, for K below the block's length
  const Real *ring, *near_table;
  const double* ring_scale;
  Real tail;
  double bound;
  int head, label, ring_width, table_width, out_step;
  bool has_memory, valid;
  Real* out;  // of the block's first boundary, or null
};
template <class Real, class Semiring>
__device__ SEMICRF_NOINLINE Real next_tail(TailRun<Real>* run, int slot, Real near) {
  using O = Ops<Real, Semiring>;
  const TablesView<Real>& t = *run->t;
  if (t.duration < kBlock && run->valid) run->near[slot * t.labels] = static_cast<double>(near);
  Real source = O::zero();
  if (slot >= t.duration) {
    if (run->valid) {
      source = O::times(static_cast<Real>(run->near[(slot - t.duration) * t.labels]),
                        run->near_table[(t.duration - 1) * run->table_width]);
    }
  } else if (run->has_memory) {
    const int distance = (t.duration - slot + kBlock - 1) / kBlock;
    const int block = (run->head - distance + 2 * t.ring_blocks) % t.ring_blocks;
    const std::int64_t row =
        static_cast<std::int64_t>(block) * kBlock + kBlock * distance - (t.duration - slot);
    const double scale = run->ring_scale[static_cast<std::int64_t>(block) * run->ring_width];
    source = O::times(from_log<Real, Semiring>(scale + t.last_bias[run->label] - run->bound),
                      run->ring[row * run->ring_width]);
  }
  run->tail = O::times(O::plus(run->tail, source), t.tail_factor[run->label]);
  if (run->out != nullptr) run->out[slot * run->out_step] = run->tail;
  return run->tail;
}

}  // namespace semicrf::cuda
