// The forward-backward pass of models with K = 1, with or without a tail: a hidden Markov chain. A segment of
// label c goes on with weight q_c, the tail's, so that a message is one number per label, in double and
// relative to a power of two per position; nothing else is carried. docs/algorithm.md, "K = 1". In float
// precision exponentials of scores, and logarithms for entropies, are float. Included once per instruction
// set.
//
//   alpha_{t+1}(c) = x_t(c) ( sum over c' of alpha_t(c') A[c',c] + q_c alpha_t(c) )      A = e^(T + B[1])
//   E_t(c)         = x_t(c) ( beta_{t+1}(c) + q_c E_{t+1}(c) )                           x = e^(centred
//   score) beta_t(c')     = sum over c of A[c',c] E_t(c) P(c|t)         = alpha_{t+1}(c) ( beta_{t+1}(c) +
//   q_c E_{t+1}(c) ) / Z
#if defined(SEMICRF_CPU_SIMD_UNIT_POSTERIOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_UNIT_POSTERIOR_INL_H_
#undef SEMICRF_CPU_SIMD_UNIT_POSTERIOR_INL_H_
#else
#define SEMICRF_CPU_SIMD_UNIT_POSTERIOR_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/chain_model.h"
#include "cpu/chunk_kernel.h"
#include "cpu/simd/chain_tables-inl.h"
#include "cpu/simd/chunk_run-inl.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// The chain in linear numbers. Rows of labels are padded with zeros to whole vectors.
template <class D>
struct UnitChain {
  UnitChain(const ChainModel& chain, Precision precision)
      : model(&chain),
        single(precision == Precision::kFloat),
        labels(static_cast<std::size_t>(chain.num_labels)),
        width((labels + hn::Lanes(D()) - 1) / hn::Lanes(D()) * hn::Lanes(D())),
        into(labels * width, 0.0),
        out_of(labels * width, 0.0),
        stay(width, 0.0) {
    double most = kNegativeInfinity;
    for (std::size_t from = 0; from < labels; ++from) {
      most = std::max(most, log_stay(from));
      for (std::size_t to = 0; to < labels; ++to) most = std::max(most, log_step(from, to));
    }
    shift = std::isfinite(most) ? std::round(most) : 0.0;
    for (std::size_t from = 0; from < labels; ++from) {
      stay[from] = std::exp(log_stay(from) - shift);
      for (std::size_t to = 0; to < labels; ++to)
        into[from * width + to] = out_of[to * width + from] = std::exp(log_step(from, to) - shift);
    }
  }

  double log_stay(std::size_t c) const { return model->has_tail() ? model->log_tail[c] : kNegativeInfinity; }
  double log_step(std::size_t from, std::size_t to) const {
    return model->transition[from * labels + to] + model->duration_bias[to];
  }
  // Whether a label takes part, whatever its score was before, in what any other is at the next position.
  // Then a number that vanishes beside others (below e^-700 of them) is never missed: each label is renewed,
  // at every position, by numbers that are at least e^-40 of the largest.
  bool mixes() const {
    constexpr double kLeast = -40;
    constexpr double kWidest = 200;  // start and end scores are smaller
    for (std::size_t from = 0; from < labels; ++from) {
      if (!std::isfinite(model->duration_bias[from])) return false;
      for (const std::vector<double>* scores : {&model->start_scores, &model->end_scores})
        if (!scores->empty() && !(std::fabs((*scores)[from]) < kWidest)) return false;
      for (std::size_t to = 0; to < labels; ++to) {
        const double both = from == to ? log_add(log_step(from, to), log_stay(from)) : log_step(from, to);
        if (!(both - shift > kLeast)) return false;
      }
    }
    return true;
  }
  std::size_t bytes() const { return (2 * labels + 1) * width * sizeof(double); }

  const ChainModel* model;
  bool single;
  std::size_t labels, width;
  double shift;                 // whole: what every step is relative to
  AlignedArray<double> into;    // (C, width) [from][to] e^(T + B[1] - shift)
  AlignedArray<double> out_of;  // (C, width) [to][from] the same
  AlignedArray<double> stay;    // (width) q e^-shift
};

template <class D, int kVectors>
class UnitPosteriorKernel final : public PosteriorKernel {
 public:
  using Chain = UnitChain<D>;
  using V = hn::Vec<D>;

  // `general`: for windows with boundary scores, for messages, and for positions at which nothing is
  // possible.
  UnitPosteriorKernel(std::shared_ptr<const Chain> chain, const KernelFactory<PosteriorKernel>& general)
      : chain_(std::move(chain)),
        general_factory_(general),
        centre_(chain_->width, 0.0),
        narrow_(kRows * chain_->width, 0.0f),
        message_(chain_->width, 0.0),
        open_(chain_->width, 0.0),
        after_(2 * chain_->width, 0.0) {}

  RunStates sweep(Direction direction, const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup,
                  RunStart start) override {
    const FlushSubnormals flush;
    const bool forward = direction == Direction::kForward;
    RunStates states;
    begin_chunk(scores, forward ? first_of(chunk, warmup, start) : chunk.begin, chunk.end);
    const bool done = is_fit(scores) &&
                      (forward ? run_forward(scores, chunk, start, states)
                               : load_scores(scores, chunk, x(chunk.begin), inside_) &&
                                     run_backward(scores, chunk, warmup, start, states, [](auto&&...) {}));
    return done ? states : general().sweep(direction, scores, chunk, warmup, start);
  }

  RunStates forward(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                    const ForwardArrays& out) override {
    return general().forward(scores, chunk, warmup, start, out);
  }

  Result posteriors(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup,
                    std::int64_t anchor_spacing, RunStart forward, RunStart backward,
                    const PosteriorArrays& out) override {
    const FlushSubnormals flush;
    Result result;
    begin_sums(chunk, out);
    begin_chunk(scores, first_of(chunk, warmup, forward), chunk.end);
    const bool done = is_fit(scores) && run_forward(scores, chunk, forward, result.forward) &&
                      run_backward(scores, chunk, warmup, backward, result.backward,
                                   [this](std::int64_t b, const Row& beta, const Row& open, const Row& both)
                                       HWY_ATTR { add_boundary(b, beta, open, both); });
    if (!done) return general().posteriors(scores, chunk, warmup, anchor_spacing, forward, backward, out);
    finish_sums(result);
    return result;
  }

  static std::size_t workspace_bytes(const Chain& chain, std::int64_t chunk) {
    constexpr std::size_t kWarmup = 256;
    return (static_cast<std::size_t>(chunk) + kWarmup + 1) *
               (2 * chain.width * sizeof(double) + sizeof(std::int32_t)) +
           kWarmup * chain.width * sizeof(double) + static_cast<std::size_t>(chunk) * sizeof(double);
  }

 private:
  using Row = Kept<V>[kVectors];
  static constexpr std::int64_t kRescale = 4;   // positions between powers of two
  static constexpr std::int64_t kRows = 16;     // positions whose exponentials are made together
  static constexpr std::size_t kTogether = 16;  // boundaries whose transitions are counted at a time

  // What a run's numbers are relative to: e^(origin + whole) 2^units.
  struct Scale {
    double origin = 0, whole = 0;
    std::int64_t units = 0;
  };

  PosteriorKernel& general() {
    if (!general_) general_ = general_factory_.make();
    return *general_;
  }
  static std::int64_t first_of(PositionRange chunk, std::int64_t warmup, RunStart start) {
    return start.kind == RunStart::Kind::kState ? chunk.begin
                                                : std::max<std::int64_t>(0, chunk.begin - warmup);
  }

  // --- rows of labels ---

  static constexpr std::size_t at(int v) { return static_cast<std::size_t>(v) * hn::Lanes(D()); }
  static HWY_INLINE void load(const double* from, Row& row) {
    for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(D(), from + at(v));
  }
  static HWY_INLINE void store(const Row& row, double* to) {
    for (int v = 0; v < kVectors; ++v) hn::Store(row[v], D(), to + at(v));
  }
  static HWY_INLINE double largest_of(const Row& row) {
    V most = row[0];
    for (int v = 1; v < kVectors; ++v) most = hn::Max(most, row[v]);
    return hn::GetLane(hn::MaxOfLanes(D(), most));
  }
  static HWY_INLINE double sum_of(const Row& row) {
    V sum = row[0];
    for (int v = 1; v < kVectors; ++v) sum = hn::Add(sum, row[v]);
    return hn::GetLane(hn::SumOfLanes(D(), sum));
  }
  // sums += sum over c of numbers(c) matrix[c]; two chains per vector.
  HWY_INLINE void multiply(const double* numbers, const AlignedArray<double>& matrix, Row& sums) const {
    const D d;
    const double* row = matrix.get();
    const std::size_t width = chain_->width, labels = chain_->labels;
    Row odd;
    for (int v = 0; v < kVectors; ++v) odd[v] = hn::Zero(d);
    std::size_t c = 0;
    for (; c + 2 <= labels; c += 2, row += 2 * width) {
      const V first = hn::Set(d, numbers[c]), second = hn::Set(d, numbers[c + 1]);
      for (int v = 0; v < kVectors; ++v) {
        sums[v] = hn::MulAdd(first, hn::Load(d, row + at(v)), sums[v]);
        odd[v] = hn::MulAdd(second, hn::Load(d, row + width + at(v)), odd[v]);
      }
    }
    if (c < labels) {
      const V last = hn::Set(d, numbers[c]);
      for (int v = 0; v < kVectors; ++v) sums[v] = hn::MulAdd(last, hn::Load(d, row + at(v)), sums[v]);
    }
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::Add(sums[v], odd[v]);
  }
  // The exponent of a positive number.
  static int exponent_of(double number) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(number) >> 52) - 1023;
  }
  static double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }

  // --- scores ---

  double* x(std::int64_t t) { return scores_.get() + static_cast<std::size_t>(t - first_) * chain_->width; }
  double* alpha(std::int64_t b) {
    return alphas_.get() + static_cast<std::size_t>(b - first_) * chain_->width;
  }
  std::int32_t& units(std::int64_t b) { return units_[b - first_]; }

  static bool is_fit(const ScoreWindow& scores) {
    return scores.start_scores.empty() && scores.end_scores.empty();
  }
  // Room for positions [first, end).
  void begin_chunk(const ScoreWindow& scores, std::int64_t first, std::int64_t end) {
    first_ = first;
    const auto rows = static_cast<std::size_t>(end - first + 1);
    if (units_.size() < rows) {
      alphas_ = AlignedArray<double>(rows * chain_->width);
      scores_ = AlignedArray<double>(rows * chain_->width);
      units_.resize(rows);
    }
    std::fill_n(centre_.get(), chain_->width, 0.0);
    std::ranges::copy(scores.baseline, centre_.get());
    before_ = inside_ = 0;
  }
  // x of a range into `to`, positions with large scores relative to a whole number near their largest; the
  // sum of these is added to `whole`. False: at one of them nothing is possible.
  bool load_scores(const ScoreWindow& scores, PositionRange range, double* to, double& whole) {
    for (std::int64_t t = range.begin; t < range.end; t += kRows, to += kRows * chain_->width)
      if (!load_group(scores, {t, std::min(range.end, t + kRows)}, to, whole)) return false;
    return true;
  }
  // Loads the scores of at most kRows positions, as above.
  HWY_INLINE bool load_group(const ScoreWindow& scores, PositionRange range, double* to, double& whole) {
    const auto rows = static_cast<std::size_t>(range.size());
    bool narrow = chain_->single;
    if (load_rows(scores, range, to)) {
      for (std::size_t row = 0; row < rows; ++row)
        if (!take_near(to + row * chain_->width, whole, narrow)) return false;
    }
    narrow ? exponentials_in_float(to, rows) : exponentials(to, rows);
    return true;
  }
  // Takes a whole number near their largest from the scores of a position. `narrow` falls where a float has
  // no room for their exponentials. False: nothing is possible here.
  HWY_INLINE bool take_near(double* to, double& whole, bool& narrow) const {
    const D d;
    constexpr double kNarrow = -80;
    Row row;
    load(to, row);
    const double near = std::round(largest_of(row));
    if (near == kNegativeInfinity) return false;
    whole += near;
    for (int v = 0; v < kVectors; ++v) {
      row[v] = hn::Sub(row[v], hn::Set(d, near));
      const auto low =
          hn::And(hn::Lt(row[v], hn::Set(d, kNarrow)), hn::Gt(row[v], hn::Set(d, kNegativeInfinity)));
      narrow = narrow && hn::AllFalse(d, low);
    }
    store(row, to);
    return true;
  }
  HWY_INLINE void exponentials(double* to, std::size_t rows) const {
    const D d;
    const V least = hn::Set(d, -700.0);
    for (double* const end = to + rows * chain_->width; to != end; to += hn::Lanes(d)) {
      const V score = hn::Load(d, to);
      hn::Store(hn::IfThenElseZero(hn::Gt(score, least), hn::Exp(d, hn::Max(score, least))), d, to);
    }
  }
  HWY_INLINE void exponentials_in_float(double* to, std::size_t rows) {
    const D d;
    const hn::Rebind<float, D> half;
    const hn::CappedTag<float, kRows> whole;  // kRows rows of any width are whole vectors
    const std::size_t count = rows * chain_->width;
    float* const narrow = narrow_.get();
    for (std::size_t i = 0; i < count; i += hn::Lanes(d))
      hn::Store(hn::DemoteTo(half, hn::Load(d, to + i)), half, narrow + i);
    const auto least = hn::Set(whole, -87.0f);
    for (std::size_t i = 0; i < count; i += hn::Lanes(whole)) {
      const auto score = hn::Load(whole, narrow + i);
      hn::Store(hn::IfThenElseZero(hn::Gt(score, least), hn::Exp(whole, hn::Max(score, least))), whole,
                narrow + i);
    }
    for (std::size_t i = 0; i < count; i += hn::Lanes(d))
      hn::Store(hn::PromoteTo(d, hn::Load(half, narrow + i)), d, to + i);
  }
  // Centred scores, -inf in the padding. Whether one is so large that its position needs a scale.
  bool load_rows(const ScoreWindow& scores, PositionRange range, double* to) const {
    const D d;
    const hn::Rebind<float, D> df;
    const std::size_t labels = chain_->labels;
    const auto used = hn::FirstN(d, labels - at(kVectors - 1));  // labels of the last vector
    const bool plain = scores.emissions.f32 != nullptr && !scores.subtract_position_max;
    const std::size_t values = static_cast<std::size_t>(scores.end - scores.begin) * labels;
    std::size_t from = static_cast<std::size_t>(range.begin - scores.begin) * labels;
    V largest = hn::Zero(d);
    for (std::int64_t t = range.begin; t < range.end; ++t, from += labels, to += chain_->width) {
      Row row;
      if (plain && from + chain_->width <= values) {
        for (int v = 0; v < kVectors; ++v)
          row[v] = hn::Sub(hn::PromoteTo(d, hn::LoadU(df, scores.emissions.f32 + from + at(v))),
                           hn::Load(d, centre_.get() + at(v)));
      } else {
        load_row(scores, from, to);
        load(to, row);
      }
      for (int v = 0; v + 1 < kVectors; ++v) largest = hn::Max(largest, hn::Abs(row[v]));
      largest = hn::Max(largest, hn::Abs(hn::IfThenElseZero(used, row[kVectors - 1])));
      row[kVectors - 1] = hn::IfThenElse(used, row[kVectors - 1], hn::Set(d, kNegativeInfinity));
      store(row, to);
    }
    constexpr double kLarge = 16;
    return !hn::AllTrue(d, hn::Lt(largest, hn::Set(d, kLarge)));
  }
  void load_row(const ScoreWindow& scores, std::size_t from, double* to) const {
    const double most =
        scores.subtract_position_max ? position_maximum(scores.emissions, from, chain_->labels) : 0.0;
    std::fill_n(to, chain_->width, kNegativeInfinity);
    for (std::size_t c = 0; c < chain_->labels; ++c)
      to[c] = scores.emissions.at(from + c) - centre_[c] - most;
  }

  // --- forward ---

  // alpha of every boundary from first_ on. False: nothing is possible.
  bool run_forward(const ScoreWindow& scores, PositionRange chunk, RunStart start, RunStates& states) {
    ahead_ = Scale();
    std::fill_n(alpha(first_), chain_->width, 0.0);
    std::fill_n(alpha(first_), chain_->labels, 1.0);
    units(first_) = 0;
    if (start.kind == RunStart::Kind::kState) {
      ahead_ = {start.state->offset, start.state->whole, 0};
      for (std::size_t c = 0; c < chain_->labels; ++c) alpha(first_)[c] = std::exp(start.state->message[c]);
    }
    if (!advance(scores, {first_, chunk.begin}, before_)) return false;
    ahead_.whole += before_;
    states.mass_before = before_;
    if (start.kind == RunStart::Kind::kWarm && chunk.begin > 0)
      states.entry = forward_state(scores, chunk.begin);
    if (!advance(scores, chunk, inside_)) return false;
    ahead_.whole += inside_;
    states.exit = forward_state(scores, chunk.end);
    return true;
  }

  // A group of exponentials while the sums of the one before are under way.
  bool advance(const ScoreWindow& scores, PositionRange range, double& whole) {
    for (std::int64_t t = range.begin; t < range.end; t += kRows) {
      const PositionRange group{t, std::min(range.end, t + kRows)};
      if (!load_group(scores, group, x(t), whole) || !advance(group.begin, group.end)) return false;
    }
    return true;
  }
  bool advance(std::int64_t begin, std::int64_t end) {
    const D d;
    ahead_.whole += static_cast<double>(end - begin) * chain_->shift;
    if (begin == 0 && begin < end) first_alpha(begin++);
    Row row, stay, sums, scores;
    load(chain_->stay.get(), stay);
    load(alpha(begin), row);
    for (std::int64_t t = begin; t < end; ++t) {
      const double* from = alpha(t);
      load(x(t), scores);
      if (t % kRescale == 0) {
        const double most = largest_of(row);
        if (!(most > 0)) return false;
        const int exponent = exponent_of(most);
        ahead_.units += exponent;
        for (int v = 0; v < kVectors; ++v)
          scores[v] = hn::Mul(scores[v], hn::Set(d, power_of_two(-exponent)));
      }
      for (int v = 0; v < kVectors; ++v) sums[v] = hn::Mul(stay[v], row[v]);
      multiply(from, chain_->into, sums);
      for (int v = 0; v < kVectors; ++v) row[v] = hn::Mul(sums[v], scores[v]);
      store(row, alpha(t + 1));
      units(t + 1) = static_cast<std::int32_t>(ahead_.units);
    }
    return largest_of(row) > 0;
  }
  // Nothing comes before position 0.
  void first_alpha(std::int64_t t) {
    const ChainModel& model = *chain_->model;
    std::fill_n(alpha(t + 1), chain_->width, 0.0);
    units(t + 1) = units(t);
    for (std::size_t c = 0; c < chain_->labels; ++c) {
      double start =
          model.initial == InitialTerm::kNone ? std::exp(model.duration_bias[c] - chain_->shift) : 0;
      for (std::size_t from = 0; model.initial == InitialTerm::kUniform && from < chain_->labels; ++from)
        start += chain_->into[from * chain_->width + c];
      alpha(t + 1)[c] = start * x(t)[c] * std::exp(model.start_scores.empty() ? 0.0 : model.start_scores[c]);
    }
  }

  BoundaryState forward_state(const ScoreWindow& scores, std::int64_t b) {
    const ChainModel& model = *chain_->model;
    const std::size_t labels = chain_->labels;
    const bool at_end = b == scores.length, tail = model.has_tail(), first = b == 1;
    BoundaryState state;
    state.boundary = b;
    state.message.resize(labels);
    state.ring.resize(at_end ? 0 : labels);
    state.tail.assign(tail ? labels : 0, kNegativeInfinity);
    const double before = static_cast<double>(units(b - 1) - units(b)) * kLog2;
    for (std::size_t c = 0; c < labels; ++c) {
      const double here = std::log(alpha(b)[c]);
      const double step = std::log(x(b - 1)[c]) + before;
      state.message[c] = here + (at_end && !model.end_scores.empty() ? model.end_scores[c] : 0.0);
      if (tail && !first) state.tail[c] = std::log(chain_->stay[c] * alpha(b - 1)[c]) + step;
      if (at_end) continue;
      double start = 0;
      for (std::size_t from = 0; from < labels; ++from)
        start += alpha(b - 1)[from] * chain_->into[from * chain_->width + c];
      state.ring[c] = (first ? here : std::log(start) + step) - model.duration_bias[c];
    }
    return relative_to_largest(std::move(state), ahead_);
  }
  static BoundaryState relative_to_largest(BoundaryState state, const Scale& scale) {
    double largest = kNegativeInfinity;
    for (const auto* values : {&state.ring, &state.message, &state.tail})
      for (const double value : *values) largest = std::max(largest, value);
    for (auto* values : {&state.ring, &state.message, &state.tail})
      for (double& value : *values) value -= largest;
    const double power = static_cast<double>(scale.units) * kLog2, near = std::round(power);
    state.whole = scale.whole + near;
    state.offset = scale.origin + largest + (power - near);
    return state;
  }

  // --- backward ---

  // visit(b, beta, open, both) at each boundary of the chunk from right to left; `open`: E, `both`: beta + q
  // E, which is what follows a position that the label has. False: nothing is possible.
  template <class Visit>
  bool run_backward(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                    RunStates& states, Visit visit) {
    const ChainModel& model = *chain_->model;
    const std::size_t labels = chain_->labels;
    const bool warm = start.kind == RunStart::Kind::kWarm;
    const std::int64_t last = warm ? std::min(scores.length, chunk.end + warmup) : chunk.end;
    behind_ = Scale();
    std::fill_n(message_.get(), chain_->width, 0.0);
    std::fill_n(open_.get(), chain_->width, 0.0);
    std::fill_n(message_.get(), labels, 1.0);
    if (!warm) {
      behind_ = {start.state->offset, start.state->whole, 0};
      take_open(*start.state);
    } else if (last < scores.length) {
      std::fill_n(open_.get(), labels, 1.0);
    } else {
      for (std::size_t c = 0; c < model.end_scores.size(); ++c) message_[c] = std::exp(model.end_scores[c]);
    }
    const auto rows = static_cast<std::size_t>(last - chunk.end);
    if (beyond_.size() < rows * chain_->width) beyond_ = AlignedArray<double>(rows * chain_->width);
    if (!load_scores(scores, {chunk.end, last}, beyond_.get(), behind_.whole) ||
        !retreat({chunk.end, last}, beyond_.get(), [](auto&&...) {}))
      return false;
    if (last > chunk.end) states.entry = backward_state(chunk.end, beyond_.get());
    if (!retreat(chunk, x(chunk.begin), visit)) return false;
    Row beta, open, both;
    load_both(beta, open, both);
    visit(chunk.begin, beta, open, both);
    behind_.whole += inside_;
    states.exit = backward_state(chunk.begin, x(chunk.begin));
    return true;
  }
  void take_open(const BoundaryState& state) {
    for (std::size_t c = 0; c < chain_->labels; ++c) {
      open_[c] = std::exp(state.ring[c]);
      if (!state.tail.empty()) open_[c] += std::exp(state.tail[c] - chain_->model->duration_bias[c]);
    }
    Row sums;
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(D());
    multiply(open_.get(), chain_->out_of, sums);
    store(sums, message_.get());
    behind_.whole += chain_->shift;
  }
  HWY_INLINE void load_both(Row& beta, Row& open, Row& both) const {
    load(message_.get(), beta);
    load(open_.get(), open);
    for (int v = 0; v < kVectors; ++v)
      both[v] = hn::MulAdd(hn::Load(D(), chain_->stay.get() + at(v)), open[v], beta[v]);
  }

  // From the right end of a range to its left one. `rows`: x of its positions.
  template <class Visit>
  bool retreat(PositionRange range, const double* rows, Visit visit) {
    const D d;
    Row beta, open, both;
    load_both(beta, open, both);
    for (std::int64_t b = range.end; b > range.begin; --b) {
      const double* scores = rows + static_cast<std::size_t>(b - 1 - range.begin) * chain_->width;
      visit(b, beta, open, both);
      if (b == range.begin + 1) {
        store(beta, after_.get());
        store(open, after_.get() + chain_->width);
        units_after_ = behind_.units;
      }
      V by = hn::Set(d, 1.0);
      if (b % kRescale == 0) {
        const double most = largest_of(both);
        if (!(most > 0)) return false;
        const int exponent = exponent_of(most);
        behind_.units += exponent;
        by = hn::Set(d, power_of_two(-exponent));
      }
      for (int v = 0; v < kVectors; ++v) {
        open[v] = hn::Mul(both[v], hn::Mul(hn::Load(d, scores + at(v)), by));
        beta[v] = hn::Zero(d);
      }
      store(open, open_.get());
      multiply(open_.get(), chain_->out_of, beta);
      for (int v = 0; v < kVectors; ++v)
        both[v] = hn::MulAdd(hn::Load(d, chain_->stay.get() + at(v)), open[v], beta[v]);
    }
    store(beta, message_.get());
    behind_.whole += static_cast<double>(range.size()) * chain_->shift;
    return range.size() == 0 || largest_of(both) > 0;
  }

  // `x`: of the position right of the boundary, which the run has just passed.
  BoundaryState backward_state(std::int64_t b, const double* x) const {
    const ChainModel& model = *chain_->model;
    const std::size_t labels = chain_->labels;
    const bool tail = model.has_tail();
    BoundaryState state;
    state.boundary = b;
    state.message.resize(labels);
    state.ring.resize(b == 0 ? 0 : labels);
    state.tail.assign(tail ? labels : 0, kNegativeInfinity);
    const double before = static_cast<double>(units_after_ - behind_.units) * kLog2;
    for (std::size_t c = 0; c < labels; ++c) {
      const double step = std::log(x[c]) + before;
      state.message[c] = std::log(open_[c]) + model.duration_bias[c];
      if (b == 0 && !model.start_scores.empty()) state.message[c] += model.start_scores[c];
      if (b > 0) state.ring[c] = std::log(after_[c]) + step;
      if (tail)
        state.tail[c] = std::log(chain_->stay[c] * after_[chain_->width + c]) + step + model.duration_bias[c];
    }
    // beta has passed one transition more than what is open here.
    Scale scale = behind_;
    scale.whole -= chain_->shift;
    return relative_to_largest(std::move(state), scale);
  }

  // --- posteriors ---

  void begin_sums(PositionRange chunk, const PosteriorArrays& out) {
    chunk_ = chunk;
    out_ = out;
    report_ = ChunkReport();
    boundary_.resize(chunk.size());
    for (int v = 0; v < kVectors; ++v) entropy_[v] = hn::Zero(D());
    float_entropy_ = 0;
    waiting_rows_ = 0;
    known_mass_ = 0;
    if (out.counts == nullptr) return;
    pairs_.assign(chain_->labels * chain_->width, 0.0);
    if (first_row_.size() == 0) {
      first_row_ = AlignedArray<double>(chain_->width);
      waiting_ = AlignedArray<double>(kTogether * chain_->width);
    }
    waits_ = 0;
  }

  // At boundary b, which the position before it (if it is of the chunk) and the one behind it share.
  HWY_INLINE void add_boundary(std::int64_t b, const Row& beta, const Row& open, const Row& both) {
    const D d;
    const std::size_t labels = chain_->labels;
    Row mass;
    const bool wants_ends = out_.sums || out_.boundary != nullptr || out_.ends != nullptr;
    if (b > 0) {
      Row before;
      load(alpha(b), before);
      for (int v = 0; v < kVectors; ++v) mass[v] = hn::Mul(before[v], both[v]);
      const double sum = sum_of(mass);
      const V by = hn::Set(d, 1 / sum);
      for (int v = 0; v < kVectors; ++v) mass[v] = hn::Min(hn::Mul(mass[v], by), hn::Set(d, 1.0));
      if (wants_ends) {
        Row ends;
        for (int v = 0; v < kVectors; ++v)
          ends[v] = hn::Min(hn::Mul(hn::Mul(before[v], beta[v]), by), hn::Set(d, 1.0));
        if (b > chunk_.begin) write(ends, out_.ends, static_cast<std::size_t>(b - 1 - chunk_.begin) * labels);
        if (b < chunk_.end) boundary_[b - chunk_.begin] = std::min(1.0, sum_of(ends));
      }
      if (b % kMeasured == 0 || b == chunk_.end) measure(b, sum);
      if (b > chunk_.begin) {
        const auto row = static_cast<std::size_t>(b - 1 - chunk_.begin) * labels;
        if (out_.sums) add_entropy(mass);
        write(mass, out_.labels, row);
        if (b == 1) write(mass, out_.starts, 0);
        if (b == 1 && out_.counts != nullptr) store(mass, first_row_.get());
      }
      if (b == chunk_.end) return;
      if (out_.starts != nullptr) {
        Row starts;
        for (int v = 0; v < kVectors; ++v) starts[v] = hn::Zero(d);
        multiply(alpha(b), chain_->into, starts);
        for (int v = 0; v < kVectors; ++v)
          starts[v] = hn::Min(hn::Mul(starts[v], hn::Mul(open[v], by)), hn::Set(d, 1.0));
        write(starts, out_.starts, static_cast<std::size_t>(b - chunk_.begin) * labels);
      }
      if (out_.counts == nullptr) return;
      for (int v = 0; v < kVectors; ++v)
        hn::Store(hn::Mul(open[v], by), d, waiting_.get() + waits_ * chain_->width + at(v));
      waiting_at_[waits_++] = b;
      if (waits_ == kTogether) count_pairs();
    } else {
      boundary_[0] = 1;
    }
  }
  // In float, rows wait for their logarithms; what rounding p to a float r takes from -p ln p is r - p,
  // nearly.
  HWY_INLINE void add_entropy(const Row& mass) {
    const D d;
    if (!chain_->single) {
      for (int v = 0; v < kVectors; ++v)
        entropy_[v] = hn::NegMulAdd(mass[v], hn::Log(d, hn::Max(mass[v], hn::Set(d, 1e-300))), entropy_[v]);
      return;
    }
    const hn::Rebind<float, D> half;
    float* const to = narrow_.get() + waiting_rows_ * chain_->width;
    for (int v = 0; v < kVectors; ++v) {
      const auto rounded = hn::DemoteTo(half, mass[v]);
      hn::Store(rounded, half, to + at(v));
      entropy_[v] = hn::Add(entropy_[v], hn::Sub(hn::PromoteTo(d, rounded), mass[v]));
    }
    if (++waiting_rows_ == static_cast<std::size_t>(kRows)) add_float_entropies();
  }
  void add_float_entropies() {
    const hn::CappedTag<float, kRows> whole;
    const std::size_t count = waiting_rows_ * chain_->width, lanes = hn::Lanes(whole);
    const std::size_t padded = (count + lanes - 1) / lanes * lanes;
    std::fill(narrow_.get() + count, narrow_.get() + padded, 0.0f);
    auto sum = hn::Zero(whole);
    for (std::size_t i = 0; i < padded; i += lanes) {
      const auto p = hn::Load(whole, narrow_.get() + i);
      sum = hn::NegMulAdd(p, hn::Log(whole, hn::Max(p, hn::Set(whole, 1e-37f))), sum);
    }
    float_entropy_ += static_cast<double>(hn::GetLane(hn::SumOfLanes(whole, sum)));
    waiting_rows_ = 0;
  }
  // Rows of the output are not padded: a whole vector would reach into the row behind.
  HWY_INLINE void write(const Row& row, double* to, std::size_t index) const {
    if (to == nullptr) return;
    for (int v = 0; v + 1 < kVectors; ++v) hn::StoreU(row[v], D(), to + index + at(v));
    HWY_ALIGN double last[hn::MaxLanes(D())];
    hn::Store(row[kVectors - 1], D(), last);
    const std::size_t done = at(kVectors - 1);
    for (std::size_t c = done; c < chain_->labels; ++c) to[index + c] = last[c - done];
  }
  // The mass of all segmentations is the same at every boundary.
  void measure(std::int64_t b, double sum) {
    const double mass = static_cast<double>(units(b) + behind_.units) + std::log2(sum);
    if (b == chunk_.end) known_mass_ = mass;
    report_.max_normalization_error =
        std::max(report_.max_normalization_error, std::fabs(std::exp2(mass - known_mass_) - 1));
  }
  static constexpr std::int64_t kMeasured = 64;

  // pairs_[c', c] += alpha_b(c') E_b(c) / mass, for the boundaries that wait.
  void count_pairs() {
    const D d;
    for (std::size_t from = 0; from < chain_->labels; ++from) {
      double* const to = pairs_.data() + from * chain_->width;
      Row sums;
      for (int v = 0; v < kVectors; ++v) sums[v] = hn::LoadU(d, to + at(v));
      for (std::size_t i = 0; i < waits_; ++i) {
        const V by = hn::Set(d, alpha(waiting_at_[i])[from]);
        for (int v = 0; v < kVectors; ++v)
          sums[v] = hn::MulAdd(by, hn::Load(d, waiting_.get() + i * chain_->width + at(v)), sums[v]);
      }
      for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, to + at(v));
    }
    waits_ = 0;
  }

  void finish_sums(Result& result) {
    add_float_entropies();
    report_.label_entropy = sum_of(entropy_) + float_entropy_;
    if (out_.sums || out_.boundary != nullptr) finish_boundaries();
    result.report = report_;
    if (out_.counts != nullptr) finish_counts(result.counts);
  }
  void finish_boundaries() {
    const D d;
    V mass = hn::Zero(d), plogp = hn::Zero(d);
    const std::size_t n = boundary_.size(), lanes = hn::Lanes(d);
    boundary_.resize(n + lanes, 0.0);  // a whole vector at the end
    for (std::size_t i = 0; i < n; i += lanes) {
      const V p = hn::LoadU(d, boundary_.data() + i);
      mass = hn::Add(mass, p);
      plogp = hn::MulAdd(p, hn::Log(d, hn::Max(p, hn::Set(d, 1e-300))), plogp);
    }
    report_.boundary_mass = hn::GetLane(hn::SumOfLanes(d, mass));
    report_.boundary_plogp = hn::GetLane(hn::SumOfLanes(d, plogp));
    if (out_.boundary != nullptr) std::copy_n(boundary_.data(), n, out_.boundary);
  }
  void finish_counts(ExpectedCounts& counts) {
    count_pairs();
    const std::size_t labels = chain_->labels, width = chain_->width;
    counts.shape_for(*chain_->model);
    for (std::size_t to = 0; to < labels; ++to) {
      for (std::size_t from = 0; from < labels; ++from) {
        const double count = pairs_[from * width + to] * chain_->into[from * width + to];
        counts.transition[from * labels + to] = count;
        counts.duration[to] += count;
      }
      if (!counts.tail.empty()) counts.tail[to] = pairs_[to * width + to] * chain_->stay[to];
    }
    if (chunk_.begin > 0) return;
    for (std::size_t to = 0; to < labels; ++to) {
      counts.duration[to] += first_row_[to];
      if (chain_->model->initial != InitialTerm::kUniform) continue;
      double sum = 0;
      for (std::size_t from = 0; from < labels; ++from) sum += chain_->into[from * width + to];
      for (std::size_t from = 0; from < labels && sum > 0; ++from)
        counts.transition[from * labels + to] += first_row_[to] * chain_->into[from * width + to] / sum;
    }
  }

  std::shared_ptr<const Chain> chain_;
  const KernelFactory<PosteriorKernel>& general_factory_;
  std::unique_ptr<PosteriorKernel> general_;
  AlignedArray<double> centre_;  // (width) baseline
  AlignedArray<float> narrow_;   // (kRows, width) scores on their way to exponentials

  std::int64_t first_ = 0;  // position and boundary of the first rows
  AlignedArray<double> alphas_, scores_, beyond_;
  std::vector<std::int32_t> units_;  // powers of two of every alpha
  double before_ = 0, inside_ = 0;   // whole numbers taken out of the scores before and inside the chunk
  Scale ahead_, behind_;
  AlignedArray<double> message_, open_;  // (width) beta and E where the backward run stands
  AlignedArray<double> after_;           // (2, width) the same one boundary to the right
  std::int64_t units_after_ = 0;         // and their power of two

  PositionRange chunk_;
  PosteriorArrays out_;
  ChunkReport report_;
  Kept<V> entropy_[kVectors];
  double float_entropy_ = 0;
  std::size_t waiting_rows_ = 0;  // rows of narrow_ whose entropy is not added yet
  std::vector<double> boundary_;
  double known_mass_ = 0;                 // log2 of the mass at the chunk's end
  std::vector<double> pairs_;             // (C, width)
  AlignedArray<double> first_row_;        // (width) P(c|0)
  AlignedArray<double> waiting_;          // (16, width) E / mass of boundaries
  std::int64_t waiting_at_[kTogether]{};  // these boundaries
  std::size_t waits_ = 0;
};

template <class D, int kVectors>
class UnitPosteriorFactory final : public KernelFactory<PosteriorKernel> {
 public:
  using Kernel = UnitPosteriorKernel<D, kVectors>;
  UnitPosteriorFactory(std::shared_ptr<const UnitChain<D>> chain,
                       std::unique_ptr<KernelFactory<PosteriorKernel>> general)
      : chain_(std::move(chain)), general_(std::move(general)) {}
  std::unique_ptr<PosteriorKernel> make() const override {
    return std::make_unique<Kernel>(chain_, *general_);
  }
  std::size_t table_bytes() const override { return chain_->bytes() + general_->table_bytes(); }
  std::size_t workspace_bytes(std::int64_t chunk) const override {
    return usual_workspace_bytes(chunk) + general_->workspace_bytes(chunk);
  }
  std::size_t usual_workspace_bytes(std::int64_t chunk) const override {
    return Kernel::workspace_bytes(*chain_, chunk);
  }
  std::size_t counts_bytes(std::int64_t chunk) const override { return general_->counts_bytes(chunk); }

 private:
  std::shared_ptr<const UnitChain<D>> chain_;
  std::unique_ptr<KernelFactory<PosteriorKernel>> general_;
};

// `general` where the chain is not one for this kernel, or has more labels than kVectors and more vectors
// hold.
template <class D, int kVectors = 1>
std::unique_ptr<KernelFactory<PosteriorKernel>> unit_posterior_factory(
    const ChainModel& model, Precision precision, std::unique_ptr<KernelFactory<PosteriorKernel>> general) {
  constexpr int kMostVectors = 8;
  if (static_cast<std::size_t>(model.num_labels) > kVectors * hn::Lanes(D())) {
    if constexpr (kVectors < kMostVectors)
      return unit_posterior_factory<D, kVectors + 1>(model, precision, std::move(general));
    return general;
  }
  auto chain = std::make_shared<const UnitChain<D>>(model, precision);
  if (!chain->mixes()) return general;
  return std::make_unique<UnitPosteriorFactory<D, kVectors>>(std::move(chain), std::move(general));
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
