// One direction of the recursion over one chunk, block by block (docs/algorithm.md, "Blocks"). A lane holds
// what belongs to its label: the carried alpha, the scales, the sums over durations of the block's 16
// boundaries. The ring of earlier starts and the duration table lie in shared memory, or in device memory
// where they do not fit. Nothing but alpha goes from label to label, through a row of shared memory at every
// boundary.
#pragma once

#include "cuda/block_factors.cuh"
#include "cuda/exact_block.cuh"
#include "cuda/lanes.cuh"
#include "cuda/run_state.cuh"
#include "cuda/run_types.h"
#include "cuda/team_memory.cuh"

namespace semicrf::cuda {

template <class Real, class Semiring, class Lanes, int kRows>
class BlockRun {
 public:
  using O = Ops<Real, Semiring>;
  using L = Limits<Semiring, Real>;

  __device__ BlockRun(const RunParameters<Real>& p, const Lanes& lanes, const TeamMemory<Real>& memory)
      : p_(p), t_(p.tables), lanes_(lanes), m_(memory) {
    label_ = lanes.c < t_.labels ? lanes.c : t_.labels - 1;
    if constexpr (kRows > 0) {
#pragma unroll
      for (int from = 0; from < kRows; ++from) {
        transition_[from] = from < t_.labels ? t_.transition[from * t_.width + label_] : O::zero();
      }
    }
  }

  // One run; the whole team together. A team without a task (`active` false) keeps the others of its warp
  // company.
  __device__ void run(int index, bool active) {
    active_ = active;
    task_ = p_.tasks + index;
    sequence_ = &p_.sequences[task_->sequence];
    rounded_ = (sequence_->length + kBlock - 1) / kBlock * kBlock;
    begin_run();
    position_ = task_->from;
    if (!active) position_ = task_->end;
    while (lanes_.kTeam ? position_ < task_->end : lanes_.any_team(position_ < task_->end)) {
      const bool running = position_ < task_->end;
      const std::int64_t limit = position_ < task_->begin ? task_->begin : task_->end;
      const std::int64_t block = position_ / kBlock;
      const int first = static_cast<int>(position_ - block * kBlock);
      const std::int64_t block_end = (block + 1) * kBlock < limit ? (block + 1) * kBlock : limit;
      const bool marked = running && position_ >= task_->begin &&
                          (position_ == task_->begin || boundary_of(position_) % p_.mark == 0);
      if (leads() && lanes_.any_team(marked)) export_state(marked);
      if (running && position_ == task_->begin) {
        if (lanes_.valid && lanes_.c == 0) p_.reports[index].mass_before = mass_;
        fallbacks_ = 0;
      }
      step(running, block, first, static_cast<int>(block_end - block * kBlock));
      if (running) position_ = block_end;
    }
    if (!leads()) return;
    export_state(active);
    if (active && lanes_.valid && lanes_.c == 0) {
      RunReport& report = p_.reports[index];
      report.mass_inside = mass_ - report.mass_before;
      report.origin = origin();
      report.origin_whole = origin_whole();
      report.fallbacks = fallbacks_;
    }
  }

 private:
  // Constants where a warp holds whole teams, so that shared memory is addressed by immediate offsets.
  __device__ int ring_width() const {
    if constexpr (Lanes::kTeam) {
      return m_.ring_width;
    } else {
      return Lanes::kRingWidth;
    }
  }
  __device__ int table_width() const {
    if constexpr (Lanes::kTeam) {
      return m_.table_width;
    } else {
      return Lanes::kTableWidth;
    }
  }
  // Lanes that have memory of their own.
  __device__ bool has_memory() const {
    if constexpr (Lanes::kTeam) {
      return lanes_.valid;
    } else {
      return lanes_.c < Lanes::kTableWidth;
    }
  }
  __device__ bool leads() const {
    if constexpr (Lanes::kTeam) {
      return lanes_.leads;
    } else {
      return true;
    }
  }
  __device__ std::int64_t boundary_of(std::int64_t r) const { return p_.backward ? rounded_ - r : r; }
  __device__ int ring_index(int distance) const {
    const int j = head_ - distance;
    return j < 0 ? j + t_.ring_blocks : j;
  }

  // What the run's values are relative to besides base and mass, when it began from a state.
  __device__ double origin() const { return task_->start == StartKind::kState ? task_->start_offset : 0.0; }
  __device__ double origin_whole() const {
    return task_->start == StartKind::kState ? task_->start_whole : 0.0;
  }
  // With the pointers that only rare paths need.
  __device__ TeamMemory<Real> whole_memory() const {
    TeamMemory<Real> m = m_;
    exact_memory(p_, m_.team, lanes_.c, m);
    return m;
  }

  // --- how a run begins ---

  __device__ void begin_run() {
    head_ = 0;
    base_ = level_ = growth_ = mass_ = pending_ = 0;
    fallbacks_ = 0;
    first_of_sequence_ = task_->start == StartKind::kEdge;
    tail_log_ = kNone;
    const bool warm = task_->start == StartKind::kWarm;
    const bool state = task_->start == StartKind::kState;
    if (!leads()) {
      return;
    }
    if (has_memory()) {
      const bool open = warm && lanes_.valid;
      for (int block = 0; block < t_.ring_blocks; ++block) {
        for (int slot = 0; slot < kBlock; ++slot) {
          m_.ring[(static_cast<std::int64_t>(block) * kBlock + slot) * ring_width()] =
              open ? O::one() : O::zero();
        }
        m_.ring_scale[static_cast<std::int64_t>(block) * ring_width()] = open ? 0.0 : kNone;
        if (lanes_.c == 0) m_.has_log[block] = 0;
      }
    }
    carry_ = lanes_.valid ? O::one() : O::zero();
    carry_scale_ = lanes_.valid ? 0.0 : kNone;
    if (warm && t_.tail && t_.log_tail[label_] != kNone) tail_log_ = 0;
    const bool from_state = state && active_;
    if (lanes_.any_team(from_state)) {
      double alpha = kNone;
      if (from_state && lanes_.valid) {
        const Messages messages =
            read_state<Real, Semiring>(p_, whole_memory(), task_->start_state, lanes_.c, ring_width());
        alpha = messages.alpha;
        tail_log_ = messages.tail;
      }
      set_carry(alpha, from_state);
    }
    lanes_.sync();
  }

  // Carries alpha given as a logarithm; the scales of all labels differ by whole units.
  __device__ void set_carry(double alpha, bool mine) {
    const double largest = lanes_.most(mine && lanes_.valid ? alpha : kNone);
    if (!mine) return;
    const bool none = !(alpha > kNone) || !lanes_.valid;
    carry_scale_ = none ? kNone : largest + quantized<Semiring>(alpha - largest);
    carry_ = none ? O::zero()
                  : static_cast<Real>(Semiring::kIsLog ? exp(alpha - carry_scale_) : alpha - carry_scale_);
    if (largest == kNone)
      level_ = kNone;
    else
      level_ = largest;
  }

  // --- the state at the boundary reached ---

  // Slot of the state at the boundary reached.
  __device__ int state_slot() const {
    if (position_ == task_->begin) return task_->first_state;
    const std::int64_t t = boundary_of(position_);
    const std::int64_t origin = boundary_of(task_->begin);
    const std::int64_t marks = p_.backward ? ((origin + p_.mark - 1) / p_.mark * p_.mark - t) / p_.mark
                                           : (t - origin / p_.mark * p_.mark + p_.mark - 1) / p_.mark;
    return task_->first_state + static_cast<int>(marks);
  }
  __device__ void export_state(bool mine) {
    Boundary at;
    at.mine = mine;
    // Behind a block that the sequence's end cuts the ring is not aligned, and nobody needs it.
    at.with_ring = position_ % kBlock == 0;
    at.slot = state_slot();
    at.head = head_;
    at.alpha = to_log<Real, Semiring>(carry_) + carry_scale_;
    at.tail = tail_log_;
    at.pending = pending_;
    at.whole = origin_whole() + (base_ + mass_);
    at.offset = origin();
    write_state<Real, Semiring, Lanes>(p_, whole_memory(), lanes_, at, ring_width());
  }
  // --- one block ---

  // The block [16 block, 16 block + 16) of run positions, of which first..last-1 belong to the sequence.
  __device__ void step(bool running, std::int64_t block, int first, int last) {
    const bool whole = first == 0 && last == kBlock;
    const bool plain_start = !first_of_sequence_ || t_.initial_transition;
    const bool storing = running && position_ >= task_->begin && p_.store.alpha != nullptr;
    const std::int64_t first_run = p_.backward ? rounded_ - sequence_->length : 0;
    const std::int64_t last_run = p_.backward ? rounded_ : sequence_->length;
    const bool first_here = block * kBlock + first == first_run;
    const bool last_here = block * kBlock + last == last_run;
    // Rows of this block in the scores; those of a cut block are not all there.
    std::int64_t row0 = p_.backward ? rounded_ - 1 - block * kBlock : block * kBlock;
    row0 -= sequence_->begin;
    const int direction = p_.backward ? -1 : 1;
    const DeviceScores first_scores = p_.backward ? sequence_->ends : sequence_->starts;
    const DeviceScores last_scores = p_.backward ? sequence_->starts : sequence_->ends;
    const bool edges = first_here || last_here || first_scores.f32 != nullptr ||
                       first_scores.f64 != nullptr || last_scores.f32 != nullptr ||
                       last_scores.f64 != nullptr;
    const bool readable = running && whole;
    const auto score_row = [&](int slot) {
      return readable ? (row0 + direction * slot) * t_.labels + label_ : label_;
    };

    const std::int64_t store_row =
        storing ? (boundary_of(block * kBlock) - (p_.backward ? kBlock : 0)) - p_.store.first_token : 0;

    double ring_bound = kNone;
    double common = kNone;
    double bound = kNone;
    bool idle_alpha = false;
    Real far[kBlock];
    const auto bounds = [&](double ring) {
      ring_bound = ring;
      double growth =
          growth_ < -kLargestGrowth ? -kLargestGrowth : (growth_ > kLargestGrowth ? kLargestGrowth : growth_);
      common = level_ + quantized<Semiring>(growth / 2);
      bound = ring_bound;
      if (t_.tail) bound = fmax(bound, fmax(tail_log_ + t_.log_tail[label_], far_tail_bound()));
      double first_score = 0;
      if (edges)
        first_score = score_at(first_scores, score_row(0)) + (first_here ? t_.first_scores[label_] : 0.0);
      bound = fmax(bound, common + t_.transition_bound[label_] + first_score + m_.offset_bound[0]);
      idle_alpha = !(bound > kNone);
      const double anchor = common == kNone ? 0.0 : common;
      bound = idle_alpha ? anchor : anchor + quantized<Semiring>(bound - anchor);
    };
    if constexpr (Lanes::kTeam) {
      const double anchor = level_ > kNone ? level_ : 0.0;
      if (lanes_.valid) {
        m_.broadcast[lanes_.c] = pending_;
        m_.broadcast[t_.labels + lanes_.c] = anchor;
      }
      __syncthreads();
      const double reference = gather_parts(far);
      __syncthreads();
      if (!lanes_.leads) {
        head_ = head_ + 1 == t_.ring_blocks ? 0 : head_ + 1;
        return;
      }
      pending_ = 0;
      double ring = kNone;
      if (lanes_.has_label) {
        for (int s = 0; s < p_.splits; ++s) ring = fmax(ring, m_.part_bound[s * t_.labels + lanes_.c]);
      }
      bounds(ring);
      add_parts(far, reference - bound);
    } else {
      bounds(has_memory() ? fold_pending() : kNone);
      gather_far(far, bound);
    }

    // Factors exp(S + last score), S from the block's first boundary, and what bounds their exponents. Blocks
    // of large scores, with boundary scores, or read in double take the long way.
    const bool plain_scores =
        sequence_->emissions.f32 != nullptr && !sequence_->subtract_position_max && !edges;
    FactorRange<Real> range;
    range.clear();
    Real alpha_factor[kBlock];
    bool small = plain_scores;
    if (plain_scores)
      small = plain_factors(score_row(0), readable ? direction * t_.labels : 0, alpha_factor, &range);
    BlockFactors<Real> long_way;
    const bool slow = lanes_.any_team(!small && (lanes_.valid || !plain_scores));
    if (slow) {
      FactorSource source;
      source.row = readable ? row0 : 0;
      source.step = readable ? direction : 0;
      source.first_here = first_here;
      source.last_here = last_here;
      source.edges = edges;
      source.backward = p_.backward != 0;
      source.shift = storing && p_.store.shift != nullptr ? p_.store.shift + store_row : nullptr;
      block_factors<Real, Semiring, Lanes>(t_, *sequence_, source, lanes_, &long_way);
      range = long_way.range;
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot) alpha_factor[slot] = long_way.alpha[slot];
    } else if (storing && p_.store.shift != nullptr && lanes_.valid && lanes_.c == 0) {
      for (int slot = 0; slot < kBlock; ++slot) p_.store.shift[store_row + slot] = 0;
    }
    const double block_mass = slow ? range.mass : 0.0;
    const Real lowest_start = range.lowest_start;
    const Real lowest_alpha = range.lowest_alpha;
    const double block_sum = range.sum;
    bool good = range.finite && range.highest <= static_cast<Real>(L::kExponent) &&
                -lowest_start <= static_cast<Real>(L::kExponent) &&
                -lowest_alpha <= static_cast<Real>(L::kExponent);

    const double out_of = t_.source_bound[label_];
    const double to_alpha_log = bound - common + out_of;
    const double to_near_log = common - bound + t_.transition_bound[label_] + m_.offset_bound[0];
    good = good && common > kNone && to_alpha_log <= L::kExponent && to_near_log <= L::kExponent;
    if constexpr (Semiring::kIsLog) {
      // No product of two factors may vanish on its own: what it is multiplied with can be large. Zeros are
      // exact.
      const double least = fmin(to_alpha_log + static_cast<double>(lowest_alpha),
                                to_near_log > kNone ? to_near_log + static_cast<double>(lowest_start) : 0.0);
      good = good && (out_of == kNone || least >= L::kIgnore);
    }
    const Real to_alpha = from_power<Real, Semiring>(to_alpha_log);
    const Real to_near = from_power<Real, Semiring>(to_near_log);
    Real alpha = O::times(from_power<Real, Semiring>(carry_scale_ - common + out_of), carry_);
    if (!(carry_scale_ > kNone)) alpha = O::zero();

    // The tail at the block's first boundary, relative to the bound.
    Real tail = O::zero();
    bool tail_idle = true;
    if (t_.tail) {
      tail = from_log<Real, Semiring>(tail_log_ - bound);
      tail_idle = t_.log_tail[label_] == kNone ||
                  (t_.duration >= kBlock && tail_log_ == kNone && far_tail_bound() == kNone);
    }

    prefetch_rows(row0 + direction * kBlock);
    // The 16 boundaries in turn.
    const bool idle_start = !(t_.transition_bound[label_] > kNone);
    const bool writes = storing && lanes_.valid;
    const int out_step = p_.backward ? -t_.labels : t_.labels;
    const std::int64_t out_first = (store_row + out_slot(0)) * t_.labels + lanes_.c;
    Real* out_alpha = p_.store.alpha + out_first;
    Real* out_start = p_.store.start + out_first;
    Real fresh[kBlock];
    Real least_total = O::one(), least_start = O::one(), least_stored = O::one(), least_gamma = O::one();
    Real most_stored = O::zero(), most_gamma = O::zero(), least_tail = O::one();
    Real stored = O::zero();
    Real start_factor = O::one();
    TailRun<Real> tail_run;
    if (t_.tail) {
      tail_run.t = &t_;
      tail_run.near = whole_memory().near;
      tail_run.ring = m_.ring;
      tail_run.near_table = m_.near_table;
      tail_run.ring_scale = m_.ring_scale;
      tail_run.tail = tail;
      tail_run.bound = bound;
      tail_run.head = head_;
      tail_run.label = label_;
      tail_run.ring_width = ring_width();
      tail_run.table_width = table_width();
      tail_run.out_step = out_step;
      tail_run.has_memory = has_memory();
      tail_run.valid = lanes_.valid;
      tail_run.out = writes && p_.store.tail != nullptr ? p_.store.tail + out_first : nullptr;
    }
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      Real* row = m_.alpha + (slot % 2) * m_.alpha_width;
      if (Lanes::kTeam ? lanes_.valid : lanes_.c < kRows) row[lanes_.c] = lanes_.valid ? alpha : O::zero();
      lanes_.sync();
      const Real start = sum_over_sources(row);
      if (slow) start_factor = long_way.start[slot];
      const Real gamma = O::times(start, start_factor);
      const Real near = O::times(start, O::times(start_factor, to_near));
      fresh[slot] = gamma;
#pragma unroll
      for (int i = slot; i < kBlock; ++i) {
        far[i] = O::times_plus(near, m_.near_table[(i - slot) * table_width()], far[i]);
      }
      Real total = far[slot];
      if (t_.tail) {
        tail = next_tail<Real, Semiring>(&tail_run, slot, near);
        least_tail = smaller(least_tail, tail);
        total = O::plus(total, tail);
      }
      stored = O::times(total, alpha_factor[slot]);
      alpha = O::times(total, O::times(alpha_factor[slot], to_alpha));
      if (writes) {
        *out_alpha = stored;
        *out_start = Semiring::kIsLog ? start : gamma;
        out_alpha += out_step;
        out_start += out_step;
      }
      least_total = smaller(least_total, total);
      least_start = smaller(least_start, start);
      least_stored = smaller(least_stored, stored);
      least_gamma = smaller(least_gamma, gamma);
      most_stored = larger(most_stored, stored);
      most_gamma = larger(most_gamma, gamma);
      if constexpr (Semiring::kIsLog) {
        start_factor = reciprocal(alpha_factor[slot]);
      } else {
        start_factor = -alpha_factor[slot];
      }
    }
    const Real most = larger(larger(most_stored, O::times(most_stored, to_alpha)),
                             larger(most_gamma, O::times(most_gamma, to_near)));
    Real total_limit = t_.least_total;
    Real start_limit = t_.least_start;
    if constexpr (Semiring::kIsLog) {
      // What vanished in a table stood for less than e^kIgnore of the number it is multiplied with. Numbers
      // of other labels count, too.
      if (t_.near_vanished || t_.transition_vanished) {
        const Real growth = larger(lanes_.most(lanes_.valid ? most : Real(1)), Real(1));
        if (t_.near_vanished) total_limit *= growth;
        if (t_.transition_vanished) start_limit *= growth;
      }
    } else {
      start_limit = static_cast<Real>(L::kSmallest);
    }
    // Sums that are zero because nothing leads there are known beforehand.
    constexpr Real kSmallest = static_cast<Real>(L::kSmallest);
    good = good && (idle_alpha || (least_total >= total_limit && least_stored >= kSmallest)) &&
           (idle_start || (least_start >= start_limit && least_gamma >= kSmallest)) &&
           most <= static_cast<Real>(L::kLargest);
    if (t_.tail) {
      good = good && (tail_idle || (least_tail >= kSmallest && tail <= static_cast<Real>(L::kLargest)));
    }
    const bool refused = lanes_.any(lanes_.valid && !good);
    const bool fast = running && whole && plain_start && !refused;
    const bool exact = running && !fast;

    double exact_sum = 0;
    if (lanes_.any_team(exact)) {
      // The sums over durations once more: the recursion has added to them.
      if constexpr (Lanes::kTeam) {
        add_parts(far, part_reference() - bound);
      } else {
        gather_far(far, bound);
      }
      run_exact(exact, block, first, last, bound, ring_bound, far, storing, &exact_sum);
      if (exact && whole && plain_start) ++fallbacks_;
    }
    if (fast) {
      if (writes) {
        const std::int64_t store_block = store_row / kBlock * t_.labels + lanes_.c;
        p_.store.alpha_scale[store_block] = bound;
        p_.store.start_scale[store_block] = common + t_.transition_bound[label_];
        p_.store.content[store_block] = block_sum;
        if (lanes_.c == 0) {
          p_.store.base[store_row / kBlock] = base_;
          p_.store.mass[store_row / kBlock] = mass_;
          p_.store.exact[store_row / kBlock] = 0;
        }
      }
      // alpha near 1 (log semiring), and the tail.
      if constexpr (Semiring::kIsLog) {
        const int exponent = stored > Real(0) ? exponent_of(stored) : 0;
        carry_ = stored > Real(0) ? stored * power_of_two(-exponent, Real()) : Real(0);
        carry_scale_ = stored > Real(0) ? fma(static_cast<double>(exponent), kLog2, bound) : kNone;
      } else {
        carry_ = stored;
        carry_scale_ = bound;
      }
      if (!lanes_.valid) {
        carry_ = O::zero();
        carry_scale_ = kNone;
      }
      // The decay was rounded to a Real 16 times over.
      if (t_.tail) tail_log_ = to_log<Real, Semiring>(tail) + bound + block_sum + t_.tail_correction[label_];
      mass_ += block_mass;
    }
    // Numbers of the block's starts go into the ring, the largest of a label in [1, 2), or 0 (max).
    {
      Real largest = fresh[0], least = fresh[0];
#pragma unroll
      for (int slot = 1; slot < kBlock; ++slot) {
        largest = larger(largest, fresh[slot]);
        least = smaller(least, fresh[slot]);
      }
      const double fresh_scale = common + t_.transition_bound[label_];
      bool vanished = false;
      double up = kNone;
      Real by = O::one();
      if constexpr (Semiring::kIsLog) {
        if (largest > Real(0)) {
          const int exponent = exponent_of(largest);
          by = power_of_two(-exponent, Real());
          up = exponent * kLog2;
          vanished = exponent - (least > Real(0) ? exponent_of(least) : -100000) > L::kWidestRange;
        }
      } else {
        if (largest > O::zero()) {
          by = -largest;
          up = static_cast<double>(largest);
        }
      }
      const bool any_vanished = Semiring::kIsLog && lanes_.any_team(fast && lanes_.valid && vanished);
      const bool keep = any_vanished && lanes_.any(fast && lanes_.valid && vanished);
      if (fast && lanes_.valid) {
        m_.ring_scale[static_cast<std::int64_t>(head_) * ring_width()] = fresh_scale + up;
        if (writes) p_.store.start_bound[store_row / kBlock * t_.labels + lanes_.c] = fresh_scale + up;
        Real* to = m_.ring + static_cast<std::int64_t>(head_) * kBlock * ring_width();
#pragma unroll
        for (int slot = 0; slot < kBlock; ++slot) to[slot * ring_width()] = O::times(fresh[slot], by);
        if (lanes_.c == 0) m_.has_log[head_] = keep ? 1 : 0;
        if (keep) {
#pragma unroll 1
          for (int slot = 0; slot < kBlock; ++slot) {
            Real value = fresh[0];
#pragma unroll
            for (int i = 1; i < kBlock; ++i) value = i == slot ? fresh[i] : value;
            whole_memory().logs[(static_cast<std::int64_t>(head_) * kBlock + slot) * t_.labels] =
                up == kNone ? kNone : to_log<Real, Semiring>(value) - up;
          }
        }
      }
    }
    // A whole number near the largest alpha goes into the base.
    const double largest =
        lanes_.most(lanes_.valid ? magnitude<Real, Semiring>(carry_) + carry_scale_ : kNone);
    double shift = 0;
    if (largest != kNone) {
      growth_ = level_ > kNone ? largest - level_ : 0.0;
      shift = floor(largest);
      level_ = largest - shift;
      carry_scale_ -= shift;
      tail_log_ -= shift;
      if (running) base_ += shift;
    } else {
      level_ = kNone;
    }
    if (fast) pending_ = block_sum - shift;
    if (exact) {
      pending_ = 0;
      if (lanes_.valid)
        shift_ring<Real, Semiring>(t_, whole_memory(), lanes_.c, ring_width(), head_, exact_sum, shift);
    }
    if (!lanes_.kTeam) lanes_.sync();
    if (running) {
      first_of_sequence_ = false;
      head_ = head_ + 1 == t_.ring_blocks ? 0 : head_ + 1;
    }
  }

  __device__ int out_slot(int slot) const { return p_.backward ? kBlock - 1 - slot : slot; }

  // --- loading and centring ---

  // Scores read as they are, rows `step` entries apart. False when one is large: then all labels' share goes
  // out.
  __device__ __forceinline__ bool plain_factors(std::int64_t at, int step, Real (&alpha_factor)[kBlock],
                                                FactorRange<Real>* range) const {
    Real x[kBlock];
    const float* scores = sequence_->emissions.f32 + at;
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      x[slot] = static_cast<Real>(*scores);
      scores += step;
    }
    Wide<Real> sum = Wide<Real>::of(0);
    Real size = 0, highest = 0, lowest = 0;
    const auto include = [&](int slot, Wide<Real> content) {
      size = larger(size, content.high < Real(0) ? -content.high : content.high);
      sum.add(content);
      highest = larger(highest, sum.high);
      lowest = smaller(lowest, sum.high);
      alpha_factor[slot] = number_of<Real, Semiring>(sum);
    };
    if (sequence_->baseline != nullptr) {
      const Wide<Real> baseline = Wide<Real>::of(-sequence_->baseline[label_]);
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot) {
        Wide<Real> content = Wide<Real>::exactly(x[slot]);
        content.add(baseline);
        include(slot, content);
      }
    } else {
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot) include(slot, Wide<Real>::exactly(x[slot]));
    }
    // A start's exponent is the negative of the sum before it.
    range->clear();
    range->highest = larger(highest, -lowest);
    range->lowest_alpha = lowest;
    range->lowest_start = -highest;
    range->sum = sum.value();
    return size <= static_cast<Real>(kSmallScore);
  }
  // Asks for the rows of the next block.
  __device__ __forceinline__ void prefetch_rows(std::int64_t row) const {
#if defined(__CUDA_ARCH__)
    constexpr int kLine = 128 / sizeof(float);
    const std::int64_t first = (p_.backward ? row - (kBlock - 1) : row) * t_.labels + lanes_.c * kLine;
    if (sequence_->emissions.f32 != nullptr && lanes_.c * kLine < kBlock * t_.labels && first >= 0 &&
        first < sequence_->rows * t_.labels) {
      asm volatile("prefetch.global.L1 [%0];" ::"l"(sequence_->emissions.f32 + first));
    }
#else
    (void)row;
#endif
  }

  // --- the far part: segments that began in an earlier block ---

  // Moves the ring's scales to the boundary reached; returns the bound of what the ring can contribute.
  __device__ double fold_pending() {
    double bound = kNone;
    for (int o = 1; o <= t_.ring_blocks; ++o) {
      double* scale = m_.ring_scale + static_cast<std::int64_t>(ring_index(o)) * ring_width();
      const double value = *scale + pending_;
      *scale = value;
      if (o <= t_.offsets) bound = fmax(bound, value + m_.offset_bound[o * table_width()]);
    }
    pending_ = 0;
    return bound;
  }
  // Tail entries of the ring: the oldest block or two.
  __device__ double far_tail_bound() const {
    double largest = kNone;
    if (!has_memory()) return largest;
    for (int o = t_.ring_blocks > 1 ? t_.ring_blocks - 1 : 1; o <= t_.ring_blocks; ++o) {
      largest = fmax(largest, m_.ring_scale[static_cast<std::int64_t>(ring_index(o)) * ring_width()]);
    }
    return largest + t_.last_bias[label_] + t_.log_tail[label_];
  }
  __device__ Real far_factor(int block, int o, double bound) const {
    const double x = m_.ring_scale[static_cast<std::int64_t>(block) * ring_width()] +
                     m_.offset_bound[o * table_width()] - bound;
    if constexpr (Semiring::kIsLog) {
      return x >= L::kIgnore ? from_log<Real, Semiring>(x) : Real(0);
    } else {
      return static_cast<Real>(x);
    }
  }

  __device__ __forceinline__ void clear(Real (&sums)[kBlock]) const {
#pragma unroll
    for (int i = 0; i < kBlock; ++i) sums[i] = O::zero();
  }
  __device__ __forceinline__ void gather_far(Real (&far)[kBlock], double bound) const {
    clear(far);
    if (!has_memory()) return;
    for (int o = 1; o <= t_.offsets; ++o) {
      const int block = ring_index(o);
      add_block(far, block, o, far_factor(block, o, bound));
    }
  }

  // 16 boundaries against the 16 starts of one earlier block: the table slides past in registers.
  __device__ __forceinline__ void add_block(Real (&far)[kBlock], int block, int o, Real factor) const {
    const Real* source = m_.ring + static_cast<std::int64_t>(block) * kBlock * ring_width();
    const Real* table = m_.offset_table + static_cast<std::int64_t>(o - 1) * kOffsetEntries * table_width();
    const int first = kBlock * o + 1 - t_.duration;
    if (first <= 0) {
      Real window[kBlock];
#pragma unroll
      for (int i = 0; i < kBlock; ++i) window[i] = table[i * table_width()];
#pragma unroll
      for (int n = 0; n < kBlock; ++n) {
        const Real g = O::times(source[(kBlock - 1 - n) * ring_width()], factor);
#pragma unroll
        for (int i = 0; i < kBlock; ++i) far[i] = O::times_plus(g, window[(i + n) % kBlock], far[i]);
        if (n + 1 < kBlock) window[n] = table[(kBlock + n) * table_width()];
      }
    } else {
      // The last block or two: only starts that are within K of some boundary.
#pragma unroll 1
      for (int q = first; q < kBlock; ++q) {
        const Real g = O::times(source[q * ring_width()], factor);
        const Real* entry = table + (kBlock - 1 - q) * table_width();
#pragma unroll
        for (int i = 0; i < kBlock; ++i) far[i] = O::times_plus(g, entry[i * table_width()], far[i]);
      }
    }
  }

  // --- block teams: every part takes the ring blocks of its turn ---

  __device__ double gather_parts(Real (&far)[kBlock]) {
    clear(far);
    double bound = kNone;
    const bool mine = lanes_.has_label && lanes_.split < p_.splits;
    if (mine) {
      const double pending = m_.broadcast[lanes_.c];
      for (int j = lanes_.split; j < t_.ring_blocks; j += p_.splits) {
        double* scale = m_.ring_scale + static_cast<std::int64_t>(j) * ring_width();
        const double value = *scale + pending;
        *scale = value;
        const int o = j < head_ ? head_ - j : head_ - j + t_.ring_blocks;
        if (o <= t_.offsets) bound = fmax(bound, value + m_.offset_bound[o * table_width()]);
      }
      m_.part_bound[lanes_.split * t_.labels + lanes_.c] = bound;
    }
    __syncthreads();
    const double reference = part_reference();
    if (mine) {
      for (int j = lanes_.split; j < t_.ring_blocks; j += p_.splits) {
        const int o = j < head_ ? head_ - j : head_ - j + t_.ring_blocks;
        if (o <= t_.offsets) add_block(far, j, o, far_factor(j, o, reference));
      }
      Real* out = m_.part_sum + lanes_.split * kBlock * t_.labels + lanes_.c;
#pragma unroll
      for (int i = 0; i < kBlock; ++i) out[i * t_.labels] = far[i];
    }
    return reference;
  }
  // What the parts' sums are relative to: a whole number of units from the scale of alpha.
  __device__ double part_reference() const {
    if (!lanes_.has_label) return 0;
    double largest = kNone;
    for (int s = 0; s < p_.splits; ++s) largest = fmax(largest, m_.part_bound[s * t_.labels + lanes_.c]);
    const double anchor = m_.broadcast[t_.labels + lanes_.c];
    return largest == kNone ? anchor : anchor + quantized<Semiring>(largest - anchor);
  }
  __device__ void add_parts(Real (&far)[kBlock], double relative) const {
    clear(far);
    if (!lanes_.has_label) return;
    const Real by = from_power<Real, Semiring>(relative);
    for (int s = 0; s < p_.splits; ++s) {
      const Real* in = m_.part_sum + s * kBlock * t_.labels + lanes_.c;
#pragma unroll
      for (int i = 0; i < kBlock; ++i) far[i] = O::plus(far[i], in[i * t_.labels]);
    }
#pragma unroll
    for (int i = 0; i < kBlock; ++i) far[i] = O::times(far[i], by);
  }

  // --- the recursion's parts ---

  __device__ __forceinline__ Real sum_over_sources(const Real* alpha) const {
    Real even = O::zero(), odd = O::zero();
    if constexpr (kRows > 0) {
      static_assert(sizeof(Real) == sizeof(float));
#pragma unroll
      for (int from = 0; from < kRows; from += 4) {
        const float4 values = *reinterpret_cast<const float4*>(alpha + from);
        even = O::times_plus(values.x, transition_[from], even);
        odd = O::times_plus(values.y, transition_[from + 1], odd);
        even = O::times_plus(values.z, transition_[from + 2], even);
        odd = O::times_plus(values.w, transition_[from + 3], odd);
      }
    } else {
      const Real* column = t_.transition + label_;
      int from = 0;
      for (; from + 1 < t_.labels; from += 2) {
        even = O::times_plus(alpha[from], column[from * t_.width], even);
        odd = O::times_plus(alpha[from + 1], column[(from + 1) * t_.width], odd);
      }
      if (from < t_.labels) even = O::times_plus(alpha[from], column[from * t_.width], even);
    }
    return O::plus(even, odd);
  }

  // --- the exact path ---

  __device__ __forceinline__ void run_exact(bool mine, std::int64_t block, int first, int last, double bound,
                                            double ring_bound, const Real (&far)[kBlock], bool storing,
                                            double* content) {
    int pool = -1;
    const bool keeps = mine && storing;
    std::int64_t store_row = 0;
    if (keeps) store_row = boundary_of(block * kBlock) - (p_.backward ? kBlock : 0) - p_.store.first_token;
    if (keeps && lanes_.valid && lanes_.c == 0) {
      pool = atomicAdd(p_.store.pool_used, 1);
      p_.store.exact[store_row / kBlock] = pool + 1;
      p_.store.base[store_row / kBlock] = base_;
      p_.store.mass[store_row / kBlock] = mass_;
    }
    pool = static_cast<int>(lanes_.most(static_cast<double>(pool)));
    const bool has_room = keeps && pool >= 0 && pool < p_.store.pool_slots;
    const std::int64_t pool_at = static_cast<std::int64_t>(pool) * kBlock * t_.labels + lanes_.c;
    const TeamMemory<Real> m = whole_memory();
    if (mine && lanes_.valid) {
#pragma unroll
      for (int i = 0; i < kBlock; ++i) m.far[i * t_.labels] = to_log<Real, Semiring>(far[i]);
    }
    ExactBlock<Real> x;
    x.sequence = sequence_;
    x.ring = m_.ring;
    x.ring_scale = m_.ring_scale;
    x.width = ring_width();
    x.logs = m.logs;
    x.near = m.near;
    x.far = m.far;
    x.started = m.started;
    x.alpha_row = m.alpha_row;
    x.has_log = m.has_log;
    x.head = head_;
    x.backward = p_.backward;
    x.block = block;
    x.first_slot = first;
    x.last_slot = last;
    x.active = mine;
    x.first_of_sequence = first_of_sequence_;
    x.bound = bound;
    x.ring_bound = ring_bound;
    x.alpha = lanes_.valid ? to_log<Real, Semiring>(carry_) + carry_scale_ : kNone;
    x.tail = tail_log_;
    x.content_sum = 0;
    x.mass = 0;
    x.fallbacks = 0;
    x.out_alpha = has_room ? p_.store.pool_alpha + pool_at : nullptr;
    x.out_start = has_room ? p_.store.pool_start + pool_at : nullptr;
    x.out_tail = has_room && p_.store.pool_tail != nullptr ? p_.store.pool_tail + pool_at : nullptr;
    x.shift = keeps && p_.store.shift != nullptr ? p_.store.shift + store_row : nullptr;
    exact_block<Real, Semiring, Lanes>(t_, lanes_, x);
    if (mine) {
      if (keeps && lanes_.valid) p_.store.content[store_row / kBlock * t_.labels + lanes_.c] = x.content_sum;
      tail_log_ = x.tail;
      mass_ += x.mass;
      fallbacks_ += x.fallbacks;
      *content = x.content_sum;
    }
    set_carry_of(x.alpha, mine);
  }
  __device__ void set_carry_of(double alpha, bool mine) {
    const double level = level_;
    set_carry(alpha, mine);
    level_ = level;
  }
  static constexpr double kLargestGrowth = 100;

  const RunParameters<Real>& p_;
  const TablesView<Real>& t_;
  const Lanes lanes_;
  const TeamMemory<Real>& m_;
  const RunTask* task_ = nullptr;
  const SequenceView* sequence_ = nullptr;
  std::int64_t rounded_ = 0, position_ = 0;
  int label_ = 0, head_ = 0, fallbacks_ = 0;
  bool active_ = false, first_of_sequence_ = false;
  Real transition_[kRows > 0 ? kRows : 1];
  Real carry_;
  double carry_scale_ = kNone, tail_log_ = kNone, pending_ = 0;
  // Every logarithm is relative to origin + origin_whole + base + mass, the last three whole numbers.
  double base_ = 0, level_ = 0, growth_ = 0, mass_ = 0;
};

}  // namespace semicrf::cuda
