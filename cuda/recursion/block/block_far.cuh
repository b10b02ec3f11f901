// The far part of a block: its 16 boundaries' sums over segments that began in an earlier block
// (docs/algorithm.md, "Blocks"). Per ring block a Toeplitz product of 16 starts with 31 durations, by one
// factor, which is a whole power: the table slides past the starts in registers.
#pragma once

#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/team_memory.cuh"

namespace semicrf::cuda {

// Bounds of the terms of distances first..last for one label, in units, by the scales as they are stored. No
// term is two units above `largest`, or more. Each of the 16 sums holds the largest start of every block with
// at least the least duration of that distance, so distances whose bound is not above `needed` change no sum;
// those at the far end are not among first..last any more.
struct FarBound {
  int largest, needed, first, last;
};

template <class Config>
class FarPart {
 public:
  using Real = typename Config::Real;
  using Semiring = typename Config::Semiring;
  using Lanes = typename Config::Lanes;
  using Memory = typename Config::Memory;
  using O = typename Config::O;

  __device__ __forceinline__ FarPart(const TablesView<Real>& t, const Memory& m)
      : t_(t), m_(m), last_(in_register(t.ring_blocks - 1)) {}

  __device__ static void clear(Real (&sums)[kBlock]) {
#pragma unroll
    for (int i = 0; i < kBlock; ++i) sums[i] = O::zero();
  }

  // The bound of distance o from the block at ring index `head`.
  __device__ __forceinline__ int largest(int head, int o) const {
    return scale(ring_index(head, o)) + durations_bound(o);
  }
  // The bound of distances first..last.
  __device__ __forceinline__ FarBound bound(int head, int first, int last) const {
    if constexpr (kAhead > 1) return bound_ahead(head, first, last);
    Seen seen{kEmpty, kEmpty, first - 1};
    int j = ring_index(head, first);
#pragma unroll 2
    for (int o = first; o <= last; ++o) {
      look_at(seen, o, scale(j) + durations_bound(o), durations_spread(o));
      j = before(j);
    }
    return {seen.largest, needed_above(seen), first, kByGroup ? seen.last : last};
  }
  // Adds the sums over the distances that are needed, relative to `bound`.
  __device__ __forceinline__ void add(Real (&sums)[kBlock], int head, FarBound far, int bound) const {
    const int first = far.first, last = far.last;
    if (first > last) return;
    if constexpr (kByGroup) {
      add_by_group(sums, head, first, last, bound);
    } else {
      int j = ring_index(head, first);
      // Some durations of the ring's last distance may be beyond K.
      const int beyond = kBlock * t_.offsets + 1 - t_.duration;
      const int whole = beyond > 0 && last == t_.offsets ? last - 1 : last;
      int largest = scale(j) + row_bound(first);
#pragma unroll 1
      for (int o = first; o <= whole; ++o) {
        const int source = j, here = largest;
        j = before(j);
        // Asked for before it is wanted.
        if (o < last) largest = scale(j) + row_bound(o + 1);
        if (here > far.needed) add_distance<false>(sums, source, o, here - bound, 0);
      }
      if (whole < last && largest > far.needed) add_distance<true>(sums, j, last, largest - bound, beyond);
    }
  }

  // --- block teams: the parts of the ring that helpers sum up while the block before is led ---

  __device__ __forceinline__ int* part_bounds(int parity) const {
    return m_.part_bound.from(parity * m_.parts * t_.labels);
  }
  __device__ __forceinline__ Real* part_sums(int parity) const {
    return m_.part_sum.from(parity * m_.parts * t_.labels * kBlock);
  }
  // All but the newest block, for the block at ring index `head`; the lanes of a warp that have the same
  // label put theirs together.
  __device__ __forceinline__ void help(const Lanes& lanes, int head, int parity) const {
    const int each = (t_.offsets - 1 + lanes.parts - 1) / lanes.parts;
    const int first = 2 + lanes.part * each;
    const int last = smaller(t_.offsets, first + each - 1);
    Real sums[kBlock];
    clear(sums);
    int reference = kEmpty;
    if (lanes.has_label) {
      const FarBound far = bound(head, first, last);
      reference = far.largest;
      if (!is_far_below(reference)) add(sums, head, far, reference);
    }
    int common = reference;
    for (int step = 16; step >= lanes.group(); step /= 2)
      common = larger(common, __shfl_xor_sync(kAllLanes, common, step));
    if (lanes.group() < 32) {
      const Real by = is_far_below(reference) ? O::zero() : O::of_units(reference - common);
#pragma unroll
      for (int i = 0; i < kBlock; ++i) {
        sums[i] = O::times(sums[i], by);
        for (int step = 16; step >= lanes.group(); step /= 2)
          sums[i] = O::plus(sums[i], __shfl_xor_sync(kAllLanes, sums[i], step));
      }
    }
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (!lanes.has_label || lane >= lanes.group()) return;
    const int slot = (lanes.part / (32 / lanes.group())) * t_.labels + lanes.c;
    part_bounds(parity)[slot] = common;
#pragma unroll
    for (int i = 0; i < kBlock; i += 4)
      store4(part_sums(parity) + slot * kBlock + i, sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
  }
  __device__ __forceinline__ int bound_of_parts(const Lanes& lanes, int parity) const {
    int largest = kEmpty;
    for (int s = 0; s < lanes.parts / (32 / lanes.group()); ++s)
      largest = larger(largest, part_bounds(parity)[s * t_.labels + lanes.c]);
    return largest;
  }
  __device__ __forceinline__ void add_parts(Real (&sums)[kBlock], const Lanes& lanes, int parity,
                                            int bound) const {
    for (int s = 0; s < lanes.parts / (32 / lanes.group()); ++s) {
      const int slot = s * t_.labels + lanes.c;
      const int reference = part_bounds(parity)[slot];
      const Real by = is_far_below(reference) ? O::zero() : O::of_units(reference - bound);
      const Real* in = part_sums(parity) + slot * kBlock;
#pragma unroll
      for (int i = 0; i < kBlock; i += 4) {
        Real part[4];
        load4(in + i, part);
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[i + k] = O::times_plus(part[k], by, sums[i + k]);
      }
    }
  }

 private:
  static constexpr bool kByGroup = Lanes::kTeam;
  // Distances whose bounds are asked for at a time.
  static constexpr int kAhead = Config::kLoops && !kByGroup ? 4 : 1;

  // What the distances looked at so far say: their largest bound, the most that all sums hold at least, and
  // the farthest that was needed when it was looked at.
  struct Seen {
    int largest, least, last;
  };
  __device__ __forceinline__ void look_at(Seen& seen, int o, int here, int spread) const {
    seen.largest = larger(seen.largest, here);
    seen.least = larger(seen.least, here - spread);
    if (here > needed_above(seen)) seen.last = o;
  }
  // As bound(), with the bounds of some distances on their way at a time: faster where each has a warp that
  // waits for them alone, slower elsewhere.
  __device__ __forceinline__ FarBound bound_ahead(int head, int first, int last) const {
    Seen seen{kEmpty, kEmpty, first - 1};
    int j = ring_index(head, first);
#pragma unroll 1
    for (int from = first; from <= last; from += kAhead) {
      int here[kAhead], spread[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const bool exists = from + k <= last;
        here[k] = exists ? scale(j) + durations_bound(from + k) : kEmpty;
        spread[k] = exists ? durations_spread(from + k) : 0;
        j = before(j);
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) look_at(seen, from + k, here[k], spread[k]);
    }
    return {seen.largest, needed_above(seen), first, seen.last};
  }
  // Bounds up to which a distance is not needed; in the log semiring numbers vanish beside the largest.
  __device__ __forceinline__ int needed_above(const Seen& seen) const {
    const int needed = seen.least - t_.unneeded_below;
    return Semiring::kIsLog ? larger(needed, seen.largest - O::kUnitsBias) : needed;
  }

  // Where the block at a ring index begins, in entries.
  __device__ __forceinline__ int starts_of(int j) const { return j * ring_width() * kBlock; }

  // Entry i + n of the table joins boundary i to the start n positions before the block's last; four starts
  // at a time. `units`: of the block and the distance, relative to the sums. kCut: only starts from `first`
  // on are within K of a boundary.
  template <bool kCut>
  __device__ __forceinline__ void add_distance(Real (&sums)[kBlock], int j, int o, int units,
                                               int first) const {
    const Real factor = O::of_units_in_range(units);
    const Real* table = static_cast<const Real*>(m_.duration_table) + (o - 1) * table_width() * kDistanceRow;
    const int source = starts_of(j);
    Real entries[2 * kBlock];
#pragma unroll
    for (int i = 0; i < kBlock; i += 4) load4(table + i, entries + i);
#pragma unroll
    for (int n = 0; n < kBlock; n += 4) {
      Real starts[4];
      load4(m_.ring.four(source, 3 - n / 4), starts);
      load4(table + kBlock + n, entries + kBlock + n);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Real start = O::times(starts[3 - k], factor);
#pragma unroll
        for (int i = 0; i < kBlock; ++i) sums[i] = O::times_plus(start, entries[i + n + k], sums[i]);
      }
      if (kCut && kBlock - 4 - n <= first) return;
    }
  }

  // In groups o - 1 and o, entry i + n + 1 joins boundary i to the start n positions before the block's last.
  // A group is read once, for the distance before the one that wants it first.
  __device__ __forceinline__ void add_by_group(Real (&sums)[kBlock], int head, int first, int last,
                                               int bound) const {
    const int stride = table_width() * kBlock;
    const Real* table = static_cast<const Real*>(m_.duration_table) + first * stride;
    Real shorter[kBlock], longer[kBlock];
    load_group(table - stride, shorter);
    load_group(table, longer);
    int j = ring_index(head, first);
#pragma unroll 1
    for (int o = first; o <= last; ++o) {
      if (o < last) table += stride;
      Real next[kBlock];
      load_group(table, next);
      const int relative = scale(j) - bound;
      const Real to_shorter = O::of_units_in_range(relative + row_bound(o - 1));
      const Real to_longer = O::of_units_in_range(relative + row_bound(o));
      const int source = starts_of(j);
#pragma unroll
      for (int n = 0; n < kBlock; n += 4) {
        Real starts[4];
        load4(m_.ring.four(source, 3 - n / 4), starts);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const Real for_shorter = O::times(starts[3 - k], to_shorter);
          const Real for_longer = O::times(starts[3 - k], to_longer);
#pragma unroll
          for (int i = 0; i < kBlock; ++i) {
            const int entry = i + n + k + 1;
            sums[i] = entry < kBlock ? O::times_plus(for_shorter, shorter[entry % kBlock], sums[i])
                                     : O::times_plus(for_longer, longer[entry % kBlock], sums[i]);
          }
        }
      }
#pragma unroll
      for (int i = 0; i < kBlock; ++i) {
        shorter[i] = longer[i];
        longer[i] = next[i];
      }
      j = before(j);
    }
  }
  __device__ __forceinline__ void load_group(const Real* group, Real (&entries)[kBlock]) const {
#pragma unroll
    for (int i = 0; i < kBlock; i += 4)
      load_entries<Lanes::kPlace>(group + turned(i, m_.table_turn), entries + i);
  }

  // Constants where a warp holds whole teams, so that shared memory is addressed by immediate offsets.
  __device__ __forceinline__ int ring_width() const {
    if constexpr (Lanes::kTeam) {
      return m_.ring.width;
    } else {
      return Lanes::kRingWidth;
    }
  }
  __device__ __forceinline__ int table_width() const {
    if constexpr (Lanes::kTeam) {
      return m_.table_width;
    } else {
      return Lanes::kTableWidth;
    }
  }
  __device__ __forceinline__ int scale(int j) const {
    return static_cast<int*>(m_.ring.scales)[j * ring_width()];
  }
  __device__ __forceinline__ int row_bound(int row) const {
    return static_cast<const int*>(m_.duration_bound)[row * table_width()];
  }
  __device__ __forceinline__ int durations_bound(int o) const {
    return kByGroup ? larger(row_bound(o - 1), row_bound(o)) : row_bound(o);
  }
  __device__ __forceinline__ int durations_spread(int o) const {
    return static_cast<const std::uint16_t*>(m_.duration_spread)[o * table_width()];
  }
  __device__ __forceinline__ int ring_index(int head, int distance) const {
    const int j = head - distance;
    return j < 0 ? j + last_ + 1 : j;
  }
  __device__ __forceinline__ int before(int j) const { return j == 0 ? last_ : j - 1; }

  const TablesView<Real>& t_;
  const Memory& m_;
  const int last_;  // index of the ring
};

}  // namespace semicrf::cuda
