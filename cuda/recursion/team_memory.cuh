// Where a team keeps what does not fit into registers.
#pragma once

#include <type_traits>

#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/run_types.h"
#include "cuda/tables/numbers.cuh"
#include "cuda/tables/tile_config.h"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

// A pointer that is known to point to shared memory: half the registers, and addresses with immediate
// offsets.
template <class T>
struct SharedPointer {
  unsigned offset = 0;
  __device__ __forceinline__ operator T*() const { return reinterpret_cast<T*>(shared_memory + offset); }
  __device__ __forceinline__ SharedPointer from(int entries) const {
    return {offset + static_cast<unsigned>(entries * static_cast<int>(sizeof(T)))};
  }
};
template <class T, bool kShared>
using MemoryPointer = std::conditional_t<kShared, SharedPointer<T>, T*>;

// The ring of earlier starts, as seen by the lane of one label. A block's scale counts units from `gauge`;
// what exactly its numbers are relative to: see BlockRun.
template <class Real, bool kShared, bool kScalesShared = kShared>
struct Ring {
  MemoryPointer<Real, kShared> numbers;      // (blocks, width, 16), offset to the lane
  MemoryPointer<int, kScalesShared> scales;  // (blocks, width), offset to the lane
  int width;
  int turn;  // turn in the order of the parts

  __device__ __forceinline__ int part(int n) const { return (n ^ turn) * 4; }
  __device__ __forceinline__ Real* block(int j) const {
    return static_cast<Real*>(numbers) + j * width * kBlock;
  }
  // Four numbers of a block `at` entries into the ring: as what a lane has begins at a multiple of its size,
  // the part is one logical operation.
  __device__ __forceinline__ Real* four(int at, int n) const {
    if constexpr (kShared) {
      static_assert(kBlock * sizeof(Real) == kSharedAlignment);
      const auto part = static_cast<unsigned>((n ^ turn) * 4 * static_cast<int>(sizeof(Real)));
      return SharedPointer<Real>{numbers.from(at).offset ^ part};
    } else {
      return numbers + at + part(n);
    }
  }
  __device__ __forceinline__ Real& at(int j, int slot) const { return block(j)[part(slot / 4) + slot % 4]; }
  __device__ __forceinline__ int& scale(int j) const { return static_cast<int*>(scales)[j * width]; }
};

// What a block's starts have besides the ring's numbers: nothing; logarithms; what is too small for a number
// beside the block's largest (max: so far below that it has few digits).
inline constexpr int kHasLogs = 1;
inline constexpr int kHasVanished = 2;

// The logarithm of a number times 2^units, to the accuracy of the number. Without branches: 16 of them are
// found at a time.
__device__ inline double log_of_number(float x, int units = 0) {
  const int exponent = exponent_of(x);
  const double value = fma(static_cast<double>(exponent + units), kLog2,
                           static_cast<double>(logf(x * power_of_two(-exponent, float()))));
  return x > 0.0f ? value : kNone;
}
__device__ inline double log_of_number(double x) { return x > 0 ? log(x) : kNone; }

// The ring with what only rare paths look at. Pointers are offset to the label, but those of all labels. A
// ring block's numbers are relative to its scale, `gauge` and `rest`: see BlockRun.
template <class Real, class Semiring>
struct ExactMemory {
  using O = Ops<Real, Semiring>;
  Ring<Real, false> ring;
  double* logs;        // (blocks, 17, C) starts relative to the block's scale, then a scale that is far away
  int* has_log;        // (blocks) what of a block's starts is there
  double *near, *far;  // (16, C)
  double *alpha_row, *weights;  // (C) of all labels: logarithms; numbers relative to the largest
  double* alpha;                // where it is far below
  int labels;

  __device__ double& log_at(int j, int slot) const {
    return logs[(static_cast<std::int64_t>(j) * (kBlock + 1) + slot) * labels];
  }
  // Scales far below are kept as doubles, and so are those far above, which look as if they were far below:
  // who puts one there, and is told so, lets no fast path see the ring.
  __device__ double& far_scale(int j) const { return log_at(j, kBlock); }
  __device__ inline double units(int j) const {
    const int scale = ring.scale(j);
    return is_far_below(scale) ? far_scale(j) : static_cast<double>(scale);
  }
  __device__ inline bool set_units(int j, double units) const {
    const bool far = fabs(units) > kWidestScale;
    ring.scale(j) = far ? kFarBelow : static_cast<int>(units);
    if (far) far_scale(j) = units;
    return units > kWidestScale;
  }
  // A ring block's scale as a logarithm: what its numbers have as a factor at the boundary reached.
  __device__ inline double log_scale(int j, int gauge, double rest) const {
    if (is_empty(ring.scale(j))) return kNone;
    return (units(j) + gauge) * Semiring::kUnit + rest;
  }
  // The start of a segment at one place of the ring, as a logarithm at the boundary reached.
  __device__ inline double start_log(int j, int slot, int gauge, double rest) const {
    const double scale = log_scale(j, gauge, rest);
    if (scale == kNone) return kNone;
    return scale + row_log(j, slot);
  }
  // The start at one place of the ring, relative to the block's scale.
  __device__ inline double row_log(int j, int slot) const {
    if (has_log[j] == kHasLogs || (sizeof(Real) == sizeof(double) && has_vanished(j, slot)))
      return log_at(j, slot);
    const Scaled<Real> row = row_scaled(j, slot);
    return O::to_log(row.number) + static_cast<double>(row.units) * Semiring::kUnit;
  }
  // And as a number with units of its own.
  __device__ inline Scaled<Real> row_scaled(int j, int slot) const {
    if (has_log[j] == kHasLogs) return O::scaled_from_log(log_at(j, slot));
    if (!has_vanished(j, slot)) return {ring.at(j, slot), 0};
    if constexpr (sizeof(Real) == sizeof(double)) {
      return O::scaled_from_log(log_at(j, slot));
    } else {
      return kept_start(log_at(j, slot));
    }
  }
  // All rows of a block relative to its scale. What they need of memory is asked for together.
  __device__ inline void rows_log(int j, double (&values)[kBlock]) const {
    const int has = has_log[j];
    if (has == kHasLogs || (has == kHasVanished && sizeof(Real) == sizeof(double))) {
#pragma unroll(sizeof(Real) == sizeof(float) ? 16 : 1)
      for (int slot = 0; slot < kBlock; ++slot)
        values[slot] = sizeof(Real) == sizeof(float) ? log_at(j, slot) : row_log(j, slot);
      return;
    }
    Real numbers[kBlock];
    int units[kBlock] = {};
#pragma unroll
    for (int n = 0; n < kBlock; n += 4) load4(ring.block(j) + ring.part(n / 4), numbers + n);
    if constexpr (sizeof(Real) == sizeof(float)) {
      if (has == kHasVanished) {
        double kept[kBlock];
#pragma unroll
        for (int slot = 0; slot < kBlock; ++slot) kept[slot] = log_at(j, slot);
#pragma unroll
        for (int slot = 0; slot < kBlock; ++slot) {
          const Scaled<Real> start = kept_start(kept[slot]);
          const bool lost = is_low(numbers[slot]);
          numbers[slot] = lost ? start.number : numbers[slot];
          units[slot] = lost ? start.units : 0;
        }
      }
    }
#pragma unroll(sizeof(Real) == sizeof(float) ? 16 : 1)
    for (int slot = 0; slot < kBlock; ++slot) {
      if constexpr (!Semiring::kIsLog) {
        values[slot] = static_cast<double>(numbers[slot]) + units[slot];
      } else if constexpr (sizeof(Real) == sizeof(float)) {
        values[slot] = log_of_number(numbers[slot], units[slot]);
      } else {
        values[slot] = log_of_number(numbers[slot]);
      }
    }
  }
  // Whether the ring's number is not all there is.
  __device__ inline bool has_vanished(int j, int slot) const {
    return has_log[j] == kHasVanished && is_low(ring.at(j, slot));
  }
  __device__ static bool is_low(Real number) {
    constexpr int kMargin = Semiring::kIsLog ? 10 : 4;
    return !(number >= O::of_units(kLowNumber - kMargin));
  }
  // A start with its units relative to the block's scale. It is read where the ring's number has lost bits.
  __device__ inline void keep_vanished(int j, int slot, Real number, int units) const {
    const bool something = number > O::zero();
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (something && units + O::units_in(number) >= kLowNumber) return;
      log_at(j, slot) = O::to_log(number) + units * Semiring::kUnit;
    } else {
      const auto low = static_cast<unsigned>(__float_as_int(number));
      log_at(j, slot) = __longlong_as_double(static_cast<long long>(
          static_cast<unsigned long long>(static_cast<unsigned>(something ? units : 0)) << 32 | low));
    }
  }
  __device__ static Scaled<Real> kept_start(double both) {
    const long long kept = __double_as_longlong(both);
    return {__int_as_float(static_cast<int>(kept & 0xffffffffll)), static_cast<int>(kept >> 32)};
  }
  static constexpr int kLowNumber = !Semiring::kIsLog ? -40 : (sizeof(Real) == sizeof(double) ? -900 : -90);
  // 16 starts, given as logarithms at the boundary reached, into a block of the ring. Returns whether its
  // scale is far above.
  template <class Start>
  __device__ inline bool keep_starts(int j, int gauge, double rest, Start start) const {
    double largest = kNone;
    bool far_above = false;
    for (int slot = 0; slot < kBlock; ++slot) largest = fmax(largest, start(slot));
    if (largest == kNone) {
      ring.scale(j) = kEmpty;
    } else {
      far_above = set_units(j, floor((largest - rest) * (1 / Semiring::kUnit)) - gauge);
    }
    const double scale = log_scale(j, gauge, rest);
#pragma unroll 4
    for (int slot = 0; slot < kBlock; ++slot) {
      const double value = largest == kNone ? kNone : start(slot) - scale;
      log_at(j, slot) = value;
      Real number = O::zero();
      if constexpr (Semiring::kIsLog) {
        if (value > Limits<Semiring, Real>::kIgnore) number = static_cast<Real>(exp(value));
      } else {
        number = static_cast<Real>(value);
      }
      ring.at(j, slot) = number;
    }
    return far_above;
  }
};

// Four entries of a table.
template <MemoryPlace kPlace, class Real>
__device__ __forceinline__ void load_entries(const Real* from, Real* to) {
  if constexpr (kPlace == MemoryPlace::kRingShared || kPlace == MemoryPlace::kScalesShared) {
    load4_constant(from, to);
  } else {
    load4(from, to);
  }
}

// Memory of one team. Pointers but `alpha`, `levels`, `transitions` and `part*` are offset to the lane's
// label.
template <class Real, MemoryPlace kPlace>
struct TeamMemory {
  static constexpr bool kTablesShared = kPlace == MemoryPlace::kAllShared;
  static constexpr bool kRingShared = kTablesShared || kPlace == MemoryPlace::kRingShared;
  static constexpr bool kScalesShared = kPlace != MemoryPlace::kAnywhere;
  // By distance (a warp's teams) or by group (block teams), see ChainTables. Strides: table_width rows, and
  // table_width.
  MemoryPointer<const Real, kTablesShared> duration_table;
  MemoryPointer<const int, kScalesShared> duration_bound;
  MemoryPointer<const std::uint16_t, kScalesShared> duration_spread;
  // Durations within a block, four of every label side by side; warps whose boundaries are a loop.
  SharedPointer<const Real> near_table;
  int table_turn;
  int table_width;
  Ring<Real, kRingShared, kScalesShared> ring;
  SharedPointer<Real> alpha;  // (2, alpha_width) of all labels, rows aligned to 16 bytes
  int alpha_width;
  SharedPointer<int> levels;  // (2, warps): of the alphas that each of several leading warps wrote there
  const Real* transitions;    // (C, width), for whom they are not in registers
  // Starts of the block at hand, as in the ring, each with its units; where boundaries are a loop.
  SharedPointer<Real> start_numbers;
  SharedPointer<int> start_units;
  // Block teams: what the parts of the ring found for this block and the next; whether the ring is to be put
  // on another gauge after it (2).
  int parts;                      // per label, after the lanes of a warp have put theirs together
  SharedPointer<int> part_bound;  // (2, parts, labels)
  SharedPointer<Real> part_sum;   // (2, parts, labels, 16)
  SharedPointer<int> regauge;
  int team;
};

// The memory of a thread of run_warps: sums of numbers that the kernel was given, made anew where they would
// hold registers that others want.
template <class Real, class Lanes>
__device__ __forceinline__ TeamMemory<Real, Lanes::kPlace> warp_memory(const RunParameters<Real>& p,
                                                                       unsigned thread) {
  const WarpLayout& layout = p.layout;
  const int warp = static_cast<int>(thread / 32);
  const int label = static_cast<int>(thread % Lanes::kWidth);
  const int group = static_cast<int>(thread % 32) / Lanes::kWidth;
  const int column = label < Lanes::kTableWidth ? label : 0;
  const int lane = group * Lanes::kWidth + column;
  const unsigned part = layout.warps + static_cast<unsigned>(warp) * layout.each;
  TeamMemory<Real, Lanes::kPlace> m;
  m.duration_bound = SharedPointer<const int>{0}.from(column);
  m.duration_spread = SharedPointer<const std::uint16_t>{layout.spreads}.from(column);
  m.duration_table = SharedPointer<const Real>{layout.table}.from(column * kDistanceRow);
  m.near_table = SharedPointer<const Real>{layout.near}.from(column * 4);
  m.table_turn = 0;
  m.table_width = Lanes::kTableWidth;
  m.ring.width = Lanes::kRingWidth;
  m.ring.turn = turn_of(lane);
  m.ring.scales = SharedPointer<int>{part}.from(lane);
  m.ring.numbers = SharedPointer<Real>{part + layout.numbers}.from(lane * kBlock);
  m.start_numbers = SharedPointer<Real>{part + layout.start_numbers}.from(lane * kBlock);
  m.start_units = SharedPointer<int>{part + layout.start_units}.from(lane * kBlock);
  m.alpha_width = kAlphaWidth;
  m.alpha = SharedPointer<Real>{part + layout.alpha}.from(group * Lanes::kWidth);
  m.transitions = p.tables.transition;
  m.parts = 0;
  m.team = (static_cast<int>(blockIdx.x) * static_cast<int>(blockDim.x / 32) + warp) * Lanes::kGroups + group;
  return m;
}

// What a copy of the recursion is compiled for. kRows: labels that its sums over sources are unrolled for; 0:
// any number of them.
template <class RealType, class SemiringType, class LanesType, int kUnrolledRows, bool kRegisters = false,
          bool kOutOfLine = false>
struct RunConfig {
  static constexpr bool kManyRegisters = kRegisters;  // 255 a thread
  using Real = RealType;
  using Semiring = SemiringType;
  using Lanes = LanesType;
  using O = Ops<Real, Semiring>;
  using L = Limits<Semiring, Real>;
  using Memory = TeamMemory<Real, Lanes::kPlace>;
  using Exact = ExactMemory<Real, Semiring>;
  static constexpr int kRows = kUnrolledRows;
  // Whether the boundaries of a block are a loop, and its starts wait in shared memory, where registers would
  // not hold them. What teams of few labels do is short enough as it is.
  static constexpr bool kLoops = kRows > 0 && Lanes::kLoops && !kOutOfLine;
  // Whether durations within a block but the first four are read where they are wanted.
  static constexpr bool kNearShared = kLoops && !Lanes::kTeam;
  // The configuration of functions out of line, which have one boundary at a time.
  using OutOfLine = RunConfig<Real, Semiring, Lanes, kRows, false, true>;
};

// The starts of the block at hand, each with its units, until it is known whether the block stands: a number
// of zero has units of kEmpty. In shared memory, four at a time, as registers have no index.
template <class Config, bool kShared = Config::kLoops>
class BlockStarts {
 public:
  using Real = typename Config::Real;
  template <class Memory>
  __device__ __forceinline__ BlockStarts(const Memory& m, bool has_memory)
      : numbers_(m.start_numbers), units_(m.start_units), turn_(m.ring.turn), has_memory_(has_memory) {}
  template <int kCount>
  __device__ __forceinline__ void keep(int from, const Real (&numbers)[kCount], const int (&units)[kCount]) {
    static_assert(kCount == 4);
    if (!has_memory_) return;
    const int at = (from / 4 ^ turn_) * 4;
    store4(numbers_ + at, numbers[0], numbers[1], numbers[2], numbers[3]);
    store4(reinterpret_cast<Real*>(static_cast<int*>(units_)) + at, __int_as_float(units[0]),
           __int_as_float(units[1]), __int_as_float(units[2]), __int_as_float(units[3]));
  }
  // Four other numbers, where those of starts will be. A lane without memory takes another's, for nobody.
  __device__ __forceinline__ void park(int from, const Real* numbers) const {
    if (!has_memory_) return;
    store4(numbers_ + (from / 4 ^ turn_) * 4, numbers[0], numbers[1], numbers[2], numbers[3]);
  }
  __device__ __forceinline__ void take(int from, Real (&numbers)[4]) const {
    load4(numbers_ + (from / 4 ^ turn_) * 4, numbers);
  }
  __device__ __forceinline__ void get(int from, Real (&numbers)[4], int (&units)[4]) const {
    const int at = (from / 4 ^ in_register(turn_)) * 4;
    load4(numbers_ + at, numbers);
    load4(units_ + at, units);
  }

 private:
  SharedPointer<Real> numbers_;
  SharedPointer<int> units_;
  int turn_;
  bool has_memory_;
};
template <class Config>
class BlockStarts<Config, false> {
 public:
  using Real = typename Config::Real;
  template <class Memory>
  __device__ __forceinline__ BlockStarts(const Memory&, bool) {}
  template <int kCount>
  __device__ __forceinline__ void keep(int from, const Real (&numbers)[kCount], const int (&units)[kCount]) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) numbers_[from + k] = numbers[k], units_[from + k] = units[k];
  }
  // Those up to a slot begin nothing that goes on.
  __device__ __forceinline__ void forget(int slot) {
    for (int s = 0; s <= slot; ++s)
      numbers_[s] = Ops<Real, typename Config::Semiring>::zero(), units_[s] = kEmpty;
  }
  __device__ __forceinline__ void get(int from, Real (&numbers)[4], int (&units)[4]) const {
#pragma unroll
    for (int k = 0; k < 4; ++k) numbers[k] = numbers_[from + k], units[k] = units_[from + k];
  }

 private:
  Real numbers_[kBlock];
  int units_[kBlock];
};

// What slow_block keeps of a block, slot by slot: messages as numbers with units of their own, and the
// content up to the slot's right boundary with the rest.
template <class Real>
struct BlockRecord {
  Scaled<Real> starts[kBlock], sources[kBlock], alphas[kBlock], tails[kBlock];
  double content[kBlock];
  int first_cut = -1, cut = -1;  // the first and the last slot whose position is forbidden
};

template <class Config>
__device__ __forceinline__ typename Config::Exact exact_memory(const RunParameters<typename Config::Real>& p,
                                                               const typename Config::Memory& m, int c) {
  const auto& t = p.tables;
  const int label = c < t.labels ? c : t.labels - 1;
  const std::int64_t labels = t.labels;
  const std::int64_t blocks = static_cast<std::int64_t>(m.team) * t.ring_blocks;
  double* rows = p.exact_rows + static_cast<std::int64_t>(m.team) * kExactRows * labels;
  typename Config::Exact e;
  e.ring = {m.ring.numbers, m.ring.scales, m.ring.width, m.ring.turn};
  e.logs = p.exact_logs + blocks * (kBlock + 1) * labels + label;
  e.has_log = p.ring_has_log + blocks;
  e.near = rows + label;
  e.far = rows + kBlock * labels + label;
  e.alpha_row = rows + 2 * kBlock * labels;
  e.weights = e.alpha_row + labels;
  e.alpha = e.weights + labels + label;
  e.labels = t.labels;
  return e;
}

}  // namespace semicrf::cuda
