// The posterior kernel: forward over a chunk, then backward over it while posteriors fall out block by block.
// docs/algorithm.md, "Posteriors" and "The local log Z". Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_POSTERIOR_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_POSTERIOR_KERNEL_INL_H_
#undef SEMICRF_CPU_SIMD_POSTERIOR_KERNEL_INL_H_
#else
#define SEMICRF_CPU_SIMD_POSTERIOR_KERNEL_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>

#include "core/chain_model.h"
#include "cpu/simd/chunk_run-inl.h"
#include "cpu/simd/counts/chunk_counts-inl.h"
#include "cpu/simd/forward_store-inl.h"
#include "engine/cut_edges.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D>
class PosteriorKernelImpl final : public PosteriorKernel {
 public:
  using Tables = ChainTables<Real, D, LogSemiring>;
  using Run = BlockRun<Real, D, LogSemiring>;
  using Counts = ChunkCounts<Real, D>;
  using V = hn::Vec<D>;
  using DD = typename Run::DD;
  using VD = hn::Vec<DD>;
  using I = typename Run::I;
  using Messages = typename Run::Messages;

  // `cut_sums`: of models whose right edge is cut; else null.
  PosteriorKernelImpl(std::shared_ptr<const Tables> forward, std::shared_ptr<const Tables> backward,
                      std::shared_ptr<const CutEdgeSums> cut_sums)
      : forward_tables_(std::move(forward)),
        backward_tables_(std::move(backward)),
        cut_sums_(std::move(cut_sums)),
        forward_(*forward_tables_),
        backward_(*backward_tables_),
        width_(static_cast<std::size_t>(forward_tables_->padded)),
        labels_(static_cast<std::size_t>(forward_tables_->labels)),
        scratch_(width_),
        store_(*forward_tables_),
        anchor_(width_),
        start_(kBlock * width_),
        end_(kBlock * width_),
        beta_(width_),
        delta_(width_),
        gauge_(width_),
        bound_(width_),
        left_(width_),
        right_(width_),
        weights_(kBlock * width_) {}

  RunStates sweep(Direction direction, const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup,
                  RunStart start) override {
    const FlushSubnormals flush;
    const ScoreView view(scores, direction);
    Run& run = direction == Direction::kForward ? forward_ : backward_;
    return run_chunk(
        run, view, chunk, warmup, start, scratch_, [](std::int64_t) {}, [](std::int64_t, const Messages&) {});
  }

  RunStates forward(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                    const ForwardArrays& out) override {
    const FlushSubnormals flush;
    const ScoreView view(scores, Direction::kForward);
    ForwardRows<Real, D, LogSemiring> rows(*forward_tables_, out);
    return run_chunk(
        forward_, view, chunk, warmup, start, scratch_, [&](std::int64_t) { rows.before(forward_); },
        [&](std::int64_t block, const Messages& m) { rows.write(forward_, chunk, block, m); });
  }

  Result posteriors(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup,
                    std::int64_t anchor_spacing, RunStart forward, RunStart backward,
                    const PosteriorArrays& out) override {
    const FlushSubnormals flush;
    Result result;
    const ScoreView ahead(scores, Direction::kForward);
    const bool counting = out.counts != nullptr;
    if (counting && !counts_) counts_ = std::make_unique<Counts>(*forward_tables_, *backward_tables_);
    store_.reset(chunk.size(), counting && forward_tables_->tail);
    result.forward = run_chunk(
        forward_, ahead, chunk, warmup, forward, scratch_,
        [&](std::int64_t boundary) {
          if (counting && boundary == chunk.begin) counts_->start_left(forward_);
        },
        [&](std::int64_t, const Messages& m) { store_.append(m, forward_.tail_log(), forward_.base()); });
    const ScoreView back(scores, Direction::kBackward);
    chunk_ = chunk;
    out_ = out;
    report_ = ChunkReport();
    const auto before = [&](std::int64_t run_boundary) {
      const std::int64_t boundary = back.boundary_of(run_boundary);
      if (boundary == chunk.end) {
        if (counting) counts_->start_right(backward_, chunk.end != scores.length);
        if (chunk.end == scores.length && cut_sums_) {
          anchor_at_cut(result.forward.exit);
        } else {
          anchor(back, boundary);
        }
      } else if (boundary % anchor_spacing == 0 && ((chunk.begin == 0 && !forward_tables_->cut_begin) ||
                                                    boundary - chunk.begin >= forward_tables_->duration)) {
        anchor(back, boundary);
      }
    };
    const auto after = [&](std::int64_t run_block, const Messages& m) { combine(back, run_block, m); };
    result.backward = run_chunk(backward_, back, chunk, warmup, backward, scratch_, before, after);
    report_.fallbacks += result.forward.fallbacks + result.backward.fallbacks;
    result.report = report_;
    if (counting) counts_->finish(result.counts);
    return result;
  }

 private:
  // --- posteriors of one block ---

  // Run block `run_block` of the backward direction covers the same positions as one forward block; forward
  // slot j meets backward slot 15 - j.
  void combine(const ScoreView& view, std::int64_t run_block, const Messages& back) {
    const std::int64_t begin = view.boundary_of((run_block + 1) * kBlock);
    const auto block = static_cast<std::size_t>((begin - chunk_.begin) / kBlock);
    const int slots = static_cast<int>(std::min<std::int64_t>(kBlock, chunk_.end - begin));
    const double log_z = anchor_.log_z + (anchor_.base - (store_.base(block) + back.base));
    if (store_.exact(block) || back.exact) {
      exact_products(block, slots, log_z, back);
    } else {
      fast_products(block, log_z, back);
    }
    const double mass = accumulate(begin, slots);
    if (out_.counts != nullptr && anchor_.log_z != kNegativeInfinity) {
      counts_->add({store_, block, back, backward_, slots, log_z + std::log(mass)}, begin == 0);
    }
  }

  // start_[j] = p_start(begin + j), end_[j] = p_end(begin + j). A start message lacks the bound of the
  // transitions into its label, and the alpha of the other direction has it, so that what they are multiplied
  // with is the same for all labels: e^(both scales - log Z) and the units of both at the boundary. It is
  // split evenly so that neither partner leaves the range of Real before they meet.
  void fast_products(std::size_t block, double log_z, const Messages& back) {
    const D d;
    const auto& units = store_.units(block);
    const double scales = store_.scale(block) + back.scale - log_z;
    const double whole = std::round(scales / kLog2);
    const auto rest = static_cast<Real>(std::exp(scales - whole * kLog2));
    for (std::size_t j = 0; j < kBlock; ++j) {
      const std::size_t mine = j * width_;
      const std::size_t theirs = (kBlock - 1 - j) * width_;
      const Halves start(whole, units[j], back.units[kBlock - j], rest);
      const Halves end(whole, units[j + 1], back.units[kBlock - 1 - j], rest);
      for (std::size_t c = 0; c < width_; c += hn::Lanes(d)) {
        const V starts = hn::Mul(hn::Mul(hn::Load(d, store_.start(block) + mine + c), start.first),
                                 hn::Mul(hn::Load(d, back.alpha + theirs + c), start.second));
        const V ends = hn::Mul(hn::Mul(hn::Load(d, store_.alpha(block) + mine + c), end.first),
                               hn::Mul(hn::Load(d, back.start + theirs + c), end.second));
        hn::Store(starts, d, start_.get() + mine + c);
        hn::Store(ends, d, end_.get() + mine + c);
      }
    }
    // An alpha at the run's last boundary is certified by a block that neither run has looked at yet.
    const std::size_t last = (kBlock - 1) * width_;
    edge_products(back.alpha_number + last, back.alpha_whole + last, store_.start(block), whole,
                  static_cast<double>(units[0]), rest, start_.get());
    edge_products(store_.last_alpha(block), store_.last_alpha_whole(block), back.start, whole,
                  static_cast<double>(back.units[0]), rest, end_.get() + last);
  }
  // Products at an edge with a row of alpha as numbers times whole units.
  void edge_products(const Real* alpha, const typename Run::Whole* alpha_whole, const Real* start,
                     double whole, double start_units, Real rest, Real* out) const {
    const D d;
    const typename Run::DI di;
    const double bounded = std::clamp<double>(whole + start_units, kLeastWhole, -kLeastWhole);
    const I common = hn::Set(di, static_cast<typename Run::Whole>(bounded));
    for (std::size_t c = 0; c < width_; c += hn::Lanes(d)) {
      const I units = hn::Add(hn::Load(di, alpha_whole + c), common);
      const I half = hn::ShiftRight<1>(units);
      const V first = Run::moved(hn::Mul(hn::Load(d, alpha + c), hn::Set(d, rest)), half);
      const V second = Run::moved(hn::Load(d, start + c), hn::Sub(units, half));
      hn::Store(hn::Mul(first, second), d, out + c);
    }
  }
  // rest x 2^(whole + a + b) as two factors of about half the size.
  struct Halves {
    HWY_INLINE Halves(double whole, typename Run::Whole a, typename Run::Whole b, Real rest) {
      const typename Run::DI di;
      constexpr double kRange = 2.0 * std::numeric_limits<Real>::max_exponent - 4;
      const double units = std::clamp(whole + static_cast<double>(a + b), -2 * kRange, kRange);
      const double half = std::floor(units / 2);
      first =
          hn::Mul(Run::factor_of(hn::Set(di, static_cast<typename Run::Whole>(half))), hn::Set(D(), rest));
      second = Run::factor_of(hn::Set(di, static_cast<typename Run::Whole>(units - half)));
    }
    Kept<V> first, second;
  };

  void exact_products(std::size_t block, int slots, double log_z, const Messages& back) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(slots); ++j) {
      const std::size_t mine = j * width_;
      store_.load_starts(block, j, left_.get());
      back.load_alpha(*backward_tables_, kBlock - 1 - j, right_.get());
      multiply(log_z, start_.get() + mine);
      store_.load_alpha(block, j, left_.get());
      back.load_starts(*backward_tables_, kBlock - 1 - j, right_.get());
      multiply(log_z, end_.get() + mine);
    }
  }
  // exp(left_ + right_ - log_z), 0 in the padding.
  void multiply(double log_z, Real* to) const {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD both = hn::Add(hn::Load(dd, left_.get() + c), hn::Load(dd, right_.get() + c));
      Run::store_real(hn::Exp(dd, hn::Sub(both, hn::Set(dd, log_z))), to + c);
    }
    std::fill(to + labels_, to + width_, Real(0));
  }

  // Right to left: P(c|t) = mass that crosses the boundary t+1 + mass that ends there; what does not start at
  // t crosses t. Returns the mean of the sums over all labels, which are 1 but for rounding.
  double accumulate(std::int64_t begin, int slots) {
    const D d;
    HWY_ALIGN Real total[kBlock];
    HWY_ALIGN Real starts[kBlock];
    HWY_ALIGN Real plogp[kBlock];
    const V zero = hn::Zero(d);
    const bool want_rows = out_.labels != nullptr || out_.starts != nullptr || out_.ends != nullptr;
    for (int j = slots - 1; j >= 0; --j) {
      const std::size_t row = static_cast<std::size_t>(j) * width_;
      V sum = zero, start_sum = zero, information = zero;
      for (std::size_t c = 0; c < width_; c += hn::Lanes(d)) {
        const V start = hn::Load(d, start_.get() + row + c);
        const V label = hn::Add(hn::Load(d, anchor_.crossing.get() + c), hn::Load(d, end_.get() + row + c));
        hn::Store(hn::Sub(label, start), d, anchor_.crossing.get() + c);
        const V clamped = hn::Max(label, zero);
        sum = hn::Add(sum, label);
        start_sum = hn::Add(start_sum, start);
        const V tiny = hn::Set(d, static_cast<Real>(1e-30));
        if (out_.sums) information = hn::MulAdd(clamped, hn::Log(d, hn::Max(clamped, tiny)), information);
        if (want_rows) hn::Store(clamped, d, weights_.get() + row + c);
      }
      total[j] = hn::GetLane(hn::SumOfLanes(d, sum));
      starts[j] = hn::GetLane(hn::SumOfLanes(d, start_sum));
      plogp[j] = hn::GetLane(hn::SumOfLanes(d, information));
    }
    double mass = 0;
    for (int j = slots - 1; j >= 0; --j) {
      const double norm = static_cast<double>(total[j]);
      mass += norm;
      const double boundary = std::clamp(static_cast<double>(starts[j]) / norm, 0.0, 1.0);
      const std::int64_t at = begin + j - chunk_.begin;
      if (out_.boundary != nullptr) out_.boundary[at] = boundary;
      if (want_rows) write_rows(static_cast<std::size_t>(j), static_cast<std::size_t>(at), 1.0 / norm);
      report_.max_normalization_error = std::max(report_.max_normalization_error, std::fabs(norm - 1.0));
      if (!out_.sums) continue;
      report_.label_entropy += std::log(norm) - static_cast<double>(plogp[j]) / norm;
      report_.boundary_mass += boundary;
      if (boundary > 0) report_.boundary_plogp += boundary * std::log(boundary);
    }
    return mass / slots;
  }

  void write_rows(std::size_t j, std::size_t at, double scale) const {
    const auto write = [&](double* to, const Real* row) {
      if (to == nullptr) return;
      for (std::size_t c = 0; c < labels_; ++c)
        to[at * labels_ + c] = std::min(1.0, static_cast<double>(row[c]) * scale);
    };
    write(out_.labels, weights_.get() + j * width_);
    write(out_.starts, start_.get() + j * width_);
    write(out_.ends, end_.get() + j * width_);
  }

  // --- the local log Z and the mass that crosses boundary b ---

  // The backward run stands at b; sets anchor_.log_z, anchor_.base and anchor_.crossing. Logarithms here are
  // relative to the base of the forward block that ends at b plus the base of the backward run.
  void anchor(const ScoreView& view, std::int64_t b) {
    const std::size_t last = last_block_before(b);
    const auto slot = static_cast<std::size_t>((b - 1 - chunk_.begin) % kBlock);
    std::fill_n(anchor_.crossing_log.get(), width_, kNegativeInfinity);
    if (b == view.window().length) {
      std::fill_n(beta_.get(), width_, 0.0);
    } else {
      backward_.load_carry_logs(delta_.get());
      backward_.start_messages_exact(delta_.get(), beta_.get());
    }
    double ending = kNegativeInfinity;
    for (std::size_t c = 0; c < labels_; ++c)
      ending = log_add(ending, store_.alpha_value(last, slot, c) + beta_[c]);
    double log_z = ending;
    if (b != view.window().length && (forward_tables_->duration > 1 || forward_tables_->tail)) {
      const double lost = crossing_fast(view, b);
      for (std::size_t c = 0; c < labels_; ++c) log_z = log_add(log_z, anchor_.crossing_log[c]);
      if (!(lost < log_z - kLostMargin)) {
        std::fill_n(anchor_.crossing_log.get(), width_, kNegativeInfinity);
        ++report_.fallbacks;
        crossing_exact(view, b, true);
        log_z = ending;
        for (std::size_t c = 0; c < labels_; ++c) log_z = log_add(log_z, anchor_.crossing_log[c]);
      }
    }
    take_anchor(last, log_z);
  }
  // At a cut, where the forward run ended in `state`: segments end there or anywhere beyond.
  void anchor_at_cut(const BoundaryState& state) {
    const std::size_t last = last_block_before(state.boundary);
    const double scale = (state.offset - forward_.origin()) + (forward_.base() - store_.base(last));
    double log_z = kNegativeInfinity;
    for (std::size_t c = 0; c < labels_; ++c) {
      anchor_.crossing_log[c] = cut_sums_->crossing(state, static_cast<int>(c)) + scale;
      log_z = log_add(log_z, log_add(anchor_.crossing_log[c], state.message[c] + scale));
    }
    take_anchor(last, log_z);
  }
  void take_anchor(std::size_t last, double log_z) {
    anchor_.log_z = log_z;
    anchor_.base = store_.base(last) + backward_.base();
    for (std::size_t c = 0; c < width_; ++c) {
      anchor_.crossing[c] =
          c < labels_ ? static_cast<Real>(std::exp(anchor_.crossing_log[c] - log_z)) : Real(0);
    }
  }
  std::size_t last_block_before(std::int64_t b) const {
    return static_cast<std::size_t>((b - 1 - chunk_.begin) / kBlock);
  }
  static constexpr double kLostMargin =
      sizeof(Real) == sizeof(float) ? 20 : 36;  // e^-20 = 2e-9, e^-36 = 2e-16

  // Segments [s, e) with s < b < e and e - s <= K, from the forward store and the far part of the backward
  // recursion taken beyond b. Returns the logarithm of what may have been lost; +inf when a block was out of
  // range.
  double crossing_fast(const ScoreView& view, std::int64_t b) {
    std::fill_n(gauge_.get(), width_, 0.0);
    const std::size_t last = last_block_before(b);
    double lost = kNegativeInfinity;
    const std::int64_t run_block = view.run_boundary_of(b) / kBlock;
    for (int ahead = 0; ahead < backward_tables_->offsets; ++ahead) {
      const std::int64_t begin = b - (ahead + std::int64_t{1}) * kBlock;
      if (begin < chunk_.begin) break;
      const auto block = static_cast<std::size_t>((begin - chunk_.begin) / kBlock);
      if (!backward_.look_ahead(view, run_block + ahead, ahead, gauge_.get(), bound_.get())) {
        return std::numeric_limits<double>::infinity();
      }
      for (std::size_t c = 0; c < labels_; ++c) {
        if (bound_[c] == kNegativeInfinity) continue;
        const Crossing crossing = meet(block, c);
        const double scale = store_.base(block) - store_.base(last) + bound_[c];
        anchor_.crossing_log[c] = log_add(anchor_.crossing_log[c], crossing.mass + scale);
        lost = log_add(lost, crossing.weight + scale + backward_tables_->least.log_lost);
      }
      for (std::size_t c = 0; c < width_; ++c) {
        const bool cut = backward_.factors().first_cut(c) < kBlock;
        gauge_[c] = cut ? kNegativeInfinity : gauge_[c] + backward_.factors().sum()[c];
      }
    }
    if (forward_tables_->tail) crossing_exact(view, b, false);
    return lost;
  }

  // Logarithms of what one block adds to the mass of a label that crosses the anchor.
  struct Crossing {
    double mass = kNegativeInfinity;
    double weight =
        kNegativeInfinity;  // the sum of G x factor: what a lost term would have been multiplied with
  };
  // Sum over the block's positions of G x far x factor.
  Crossing meet(std::size_t block, std::size_t c) const {
    const auto lanes = static_cast<std::size_t>(backward_tables_->lanes);
    const std::size_t at = backward_tables_->panel_index(static_cast<int>(c / lanes), 0, kBlock) + c % lanes;
    const auto& factors = backward_.factors();
    // A forbidden position is crossed by nothing that starts left of it.
    const std::size_t first = kBlock - static_cast<std::size_t>(factors.first_cut(c));
    if (store_.exact(block)) return meet_logs(block, c, first, at);
    // In double, relative to the largest units.
    const auto& units = store_.units(block);
    std::array<std::int64_t, kBlock> powers{};
    std::int64_t most = kDead;
    for (std::size_t j = first; j < kBlock; ++j) {
      powers[j] = std::int64_t{units[j]} + factors.alpha_whole()[at + (kBlock - 1 - j) * lanes];
      most = std::max(most, powers[j]);
    }
    double sum = 0, weight = 0;
    for (std::size_t j = first; j < kBlock; ++j) {
      if (powers[j] < most - 1000) continue;
      const std::size_t theirs = at + (kBlock - 1 - j) * lanes;
      const double power = std::bit_cast<double>(static_cast<std::uint64_t>(powers[j] - most + 1023) << 52);
      const double by = static_cast<double>(store_.start(block)[j * width_ + c]) *
                        static_cast<double>(factors.alpha()[theirs]) * power;
      sum += by * static_cast<double>(backward_.far().sums()[theirs]);
      weight += by;
    }
    const double scale =
        static_cast<double>(most + forward_tables_->transitions.into_whole[c]) * kLog2 + store_.scale(block);
    const auto log = [&](double x) { return x > 0 ? std::log(x) + scale : kNegativeInfinity; };
    return {log(sum), log(weight)};
  }
  // What crosses where the block is in logarithms.
  Crossing meet_logs(std::size_t block, std::size_t c, std::size_t first, std::size_t at) const {
    const auto lanes = static_cast<std::size_t>(backward_tables_->lanes);
    const auto& factors = backward_.factors();
    Crossing out;
    for (std::size_t j = first; j < kBlock; ++j) {
      const std::size_t theirs = at + (kBlock - 1 - j) * lanes;
      const double by = store_.start_value(block, j, c) +
                        Run::log_value(factors.alpha()[theirs], factors.alpha_whole()[theirs]);
      const double far = static_cast<double>(backward_.far().sums()[theirs]);
      if (far > 0) out.mass = log_add(out.mass, by + std::log(far));
      out.weight = log_add(out.weight, by);
    }
    return out;
  }

  // The crossing mass in double logarithms: segments of at most K positions (when `body`), and those with a
  // tail.
  void crossing_exact(const ScoreView& view, std::int64_t b, bool body) {
    const int duration = forward_tables_->duration;
    const int reach = static_cast<int>(std::min<std::int64_t>(duration, b - chunk_.begin));
    gather_starts(view, b, reach);
    gather_ends(duration);
    for (std::size_t c = 0; c < labels_; ++c) {
      double sum = kNegativeInfinity;
      if (body) sum = crossing_body(c, reach);
      if (forward_tables_->tail && forward_tables_->tails.log[c] != kNegativeInfinity)
        sum = log_add(sum, crossing_tail(b, c, reach));
      anchor_.crossing_log[c] = log_add(anchor_.crossing_log[c], sum);
    }
  }

  // exact_.starts[(d-1), c]: log of gamma at s = b - d with content up to b.
  void gather_starts(const ScoreView& view, std::int64_t b, int reach) {
    const std::size_t last = last_block_before(b);
    exact_.starts.assign(static_cast<std::size_t>(reach) * labels_, kNegativeInfinity);
    std::fill_n(gauge_.get(), width_, 0.0);
    const std::int64_t run_block = view.run_boundary_of(b) / kBlock;
    for (int d = 1; d <= reach; ++d) {
      const std::int64_t s = b - d;
      const auto block = static_cast<std::size_t>((s - chunk_.begin) / kBlock);
      const auto slot = static_cast<std::size_t>((s - chunk_.begin) % kBlock);
      const std::size_t theirs = (kBlock - 1 - slot) * width_;
      if (d % kBlock == 1) backward_.load_block(view, run_block + (d - 1) / kBlock);
      for (std::size_t c = 0; c < labels_; ++c) {
        gauge_[c] += backward_.content()[theirs + c];
        double value =
            store_.start_value(block, slot, c) + (store_.base(block) - store_.base(last)) + gauge_[c];
        if (backward_.has_edge_scores()) value += backward_.last_scores()[theirs + c];
        exact_.starts[static_cast<std::size_t>(d - 1) * labels_ + c] = value;
      }
    }
  }
  // exact_.ends[(d-1), c]: the same of segments that end at b + d.
  void gather_ends(int duration) {
    exact_.ends.resize(static_cast<std::size_t>(duration) * labels_);
    for (int d = 1; d <= duration; ++d) {
      backward_.load_ring_logs(d, bound_.get());
      std::copy_n(bound_.get(), labels_, exact_.ends.data() + static_cast<std::size_t>(d - 1) * labels_);
    }
  }

  // Log sum over left, right >= 1, left + right <= K of start(left) + end(right) + bias(left + right).
  double crossing_body(std::size_t c, int reach) {
    const int duration = forward_tables_->duration;
    const DD dd;
    const auto step = static_cast<int>(hn::Lanes(dd));
    // Padded by a vector of -inf: rows need not end at a whole vector.
    const std::size_t room = static_cast<std::size_t>(duration) + hn::Lanes(dd);
    exact_.column_ends.assign(room, kNegativeInfinity);
    exact_.column_bias.assign(room, kNegativeInfinity);
    for (int k = 1; k <= duration; ++k) {
      const auto i = static_cast<std::size_t>(k - 1);
      exact_.column_ends[i] = exact_.ends[i * labels_ + c];
      exact_.column_bias[i] = forward_tables_->bias[i * width_ + c];
    }
    const auto for_row = [&](int left, auto visit) HWY_ATTR {
      for (int right = 1; left + right <= duration; right += step) {
        visit(hn::Add(hn::LoadU(dd, exact_.column_ends.data() + right - 1),
                      hn::LoadU(dd, exact_.column_bias.data() + left + right - 1)));
      }
    };
    const auto start_at = [&](int left) {
      return exact_.starts[static_cast<std::size_t>(left - 1) * labels_ + c];
    };
    std::vector<double>& rows = exact_.column_rows;
    rows.assign(reach, kNegativeInfinity);
    double largest = kNegativeInfinity;
    for (int left = 1; left <= reach; ++left) {
      if (start_at(left) == kNegativeInfinity) continue;
      VD most = hn::Set(dd, kNegativeInfinity);
      for_row(left, [&](VD x) HWY_ATTR { most = hn::Max(most, x); });
      rows[left - 1] = hn::GetLane(hn::MaxOfLanes(dd, most)) + start_at(left);
      largest = std::max(largest, rows[left - 1]);
    }
    if (largest == kNegativeInfinity) return largest;
    VD sum = hn::Zero(dd);
    for (int left = 1; left <= reach; ++left) {
      if (!(rows[left - 1] - largest > kNegligible)) continue;
      const VD shift = hn::Set(dd, start_at(left) - largest);
      for_row(left, [&](VD x) HWY_ATTR { sum = hn::Add(sum, hn::Exp(dd, hn::Add(x, shift))); });
    }
    return largest + std::log(hn::GetLane(hn::SumOfLanes(dd, sum)));
  }
  static constexpr double kNegligible = -60;  // K^2 such terms are far below an ulp of the sum

  double crossing_tail(std::int64_t b, std::size_t c, int reach) const {
    const int duration = forward_tables_->duration;
    const double log_q = forward_tables_->tails.log[c];
    const double last = forward_tables_->last.log[c];
    const auto ends = [&](int d) { return exact_.ends[static_cast<std::size_t>(d - 1) * labels_ + c]; };
    // Starts within K of b whose segment is longer than K.
    double sum = kNegativeInfinity;
    const double tail_at_b = backward_.tail_log()[c];
    double tail = tail_at_b;
    for (int d = 1; d <= reach; ++d) {
      tail = log_add(tail, ends(duration + 1 - d) + last) + log_q;
      sum = log_add(sum, exact_.starts[static_cast<std::size_t>(d - 1) * labels_ + c] + tail);
    }
    // Starts more than K before b: the forward tail at b, and any end beyond b.
    double beyond = tail_at_b == kNegativeInfinity ? kNegativeInfinity : tail_at_b - last + duration * log_q;
    for (int d = 1; d <= duration; ++d) beyond = log_add(beyond, ends(d) + d * log_q);
    return log_add(sum, store_.tail_log(last_block_before(b))[c] + beyond);
  }

  // What the last anchor says.
  struct Anchor {
    explicit Anchor(std::size_t width) : crossing(width), crossing_log(width) {}
    double log_z = 0;             // local log Z, relative to `base`
    double base = 0;              // sum of the bases of both runs there
    AlignedArray<Real> crossing;  // (padded) mass that crosses the boundary reached
    AlignedArray<double> crossing_log;
  };
  // What an anchor in double logarithms gathers.
  struct ExactAnchor {
    std::vector<double> starts, ends;                           // (K, C)
    std::vector<double> column_ends, column_bias, column_rows;  // columns of one label
  };

  std::shared_ptr<const Tables> forward_tables_, backward_tables_;
  std::shared_ptr<const CutEdgeSums> cut_sums_;
  Run forward_, backward_;
  std::size_t width_, labels_;
  ScratchMessages<Real, typename Run::Whole> scratch_;
  ForwardStore<Real, D> store_;
  std::unique_ptr<Counts> counts_;  // once they were asked for
  Anchor anchor_;

  PositionRange chunk_;
  PosteriorArrays out_;
  ChunkReport report_;
  AlignedArray<Real> start_, end_;  // (16, padded) p_start, p_end of the block
  AlignedArray<double> beta_, delta_, gauge_, bound_;
  AlignedArray<double> left_, right_;  // (padded) logarithms of the messages on both sides of a boundary
  AlignedArray<Real> weights_;         // (16, padded) label posteriors of the block
  ExactAnchor exact_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
