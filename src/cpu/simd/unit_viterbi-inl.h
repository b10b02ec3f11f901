// The Viterbi kernel of models whose segments are one position long, K = 1 without a tail: a hidden Markov
// chain. The recursion has no durations, so positions follow each other as fast as the transition step
// allows, and the path is read off the messages of neighbouring positions. All in double, for both
// precisions: there is nothing to certify. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_UNIT_VITERBI_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_UNIT_VITERBI_INL_H_
#undef SEMICRF_CPU_SIMD_UNIT_VITERBI_INL_H_
#else
#define SEMICRF_CPU_SIMD_UNIT_VITERBI_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "cpu/chunk_kernel.h"
#include "cpu/simd/chain_tables-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class D>
struct UnitTables {
  explicit UnitTables(const ChainModel& chain)
      : model(&chain),
        labels(static_cast<std::size_t>(chain.num_labels)),
        width((labels + hn::Lanes(D()) - 1) / hn::Lanes(D()) * hn::Lanes(D())),
        transition(labels * width, kNegativeInfinity),
        into(labels * width, kNegativeInfinity),
        bias(width) {
    for (std::size_t from = 0; from < labels; ++from) {
      for (std::size_t to = 0; to < labels; ++to) {
        const double score = chain.transition[from * labels + to];
        transition[from * width + to] = score;
        into[to * width + from] = score;
      }
      bias[from] = chain.duration_bias[from];
    }
  }
  std::size_t bytes() const { return (2 * labels + 1) * width * sizeof(double); }

  const ChainModel* model;
  std::size_t labels;
  std::size_t width;                // labels rounded up to whole vectors
  AlignedArray<double> transition;  // (C, width) [from][to], -inf beyond C
  AlignedArray<double> into;        // (C, width) [to][from]
  AlignedArray<double> bias;        // (width) score of the one duration
};

// kVectors: vectors per row of labels.
template <class D, int kVectors>
class UnitViterbiKernel final : public ViterbiKernel {
 public:
  using Tables = UnitTables<D>;
  using V = hn::Vec<D>;

  explicit UnitViterbiKernel(std::shared_ptr<const Tables> tables)
      : t_(std::move(tables)), left_(t_->width), right_(t_->width) {}

  RunStates run(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                ChunkPath* path) override {
    RunStates states = sweep(scores, chunk, warmup, start);
    if (path == nullptr) return states;
    follow(states.exit);
    const std::size_t blocks = blocks_of(chunk);
    const ChunkPath::Kept kept = ChunkPath::kept_blocks(*t_->model, blocks);
    path->head = messages_of(scores, chunk, 0, kept.head);
    path->tail = kept.tail == 0 ? ViterbiChunk() : messages_of(scores, chunk, blocks - kept.tail, kept.tail);
    path->pieces.resize(path_.size());
    std::transform(path_.rbegin(), path_.rend(), path->pieces.begin(), [](std::int32_t label) {
      return ChunkPath::Piece{1, label};
    });
    path->rest.phase = chunk.begin == 0 ? TraceCursor::Phase::kDone : TraceCursor::Phase::kFindSource;
    path->rest.boundary = chunk.begin;
    path->rest.label = path_.front();
    return states;
  }
  void messages(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                ViterbiChunk& all) override {
    sweep(scores, chunk, warmup, start);
    all = messages_of(scores, chunk, 0, blocks_of(chunk));
  }
  RunStates forward(const ScoreWindow&, PositionRange, std::int64_t, RunStart,
                    const ForwardArrays&) override {
    throw std::logic_error("the kernel for K = 1 keeps no forward messages");
  }

  static std::size_t workspace_bytes(const Tables& tables, std::int64_t chunk) {
    return (static_cast<std::size_t>(chunk) + kBlock) *
           (tables.width * sizeof(double) + sizeof(std::int32_t));
  }

 private:
  static std::size_t blocks_of(PositionRange chunk) {
    return static_cast<std::size_t>((chunk.size() + kBlock - 1) / kBlock);
  }
  double* row(std::int64_t boundary) { return rows_.get() + static_cast<std::size_t>(boundary) * t_->width; }

  // One run from left to right. Messages are relative to origin + base + mass, the last two whole numbers.
  struct Run {
    explicit Run(std::size_t width)
        : scores(kBlock * width), rows(kBlock * width), before(width, kNegativeInfinity), reached(width) {}
    AlignedArray<double> scores;   // (16, width) of the block at work
    AlignedArray<double> rows;     // (16, width) alpha nobody keeps
    AlignedArray<double> before;   // (width) alpha one boundary before `reached`, on its scale
    AlignedArray<double> reached;  // (width) alpha where the run stands
    std::int64_t position = 0;
    double last_shift = 0;  // shift of the position passed last
    double origin = 0, origin_whole = 0, base = 0, mass = 0;
  };

  // Messages alpha of every boundary of the chunk into rows_, the states at its edges. A position waits for
  // the one before, so two halves of a chunk are run side by side, the right one after a warm-up of its own;
  // where that did not reach the truth the right half is run again.
  RunStates sweep(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start) {
    const auto length = static_cast<std::size_t>(chunk.size());
    if (rows_.size() < (length + 1) * t_->width) rows_ = AlignedArray<double>((length + 1) * t_->width);
    path_.resize(length);
    RunStates states;
    begin_run(left_, std::max<std::int64_t>(0, chunk.begin - warmup));
    if (start.kind == RunStart::Kind::kState) {
      left_.position = chunk.begin;
      std::copy(start.state->message.begin(), start.state->message.end(), left_.reached.get());
      left_.origin_whole = start.state->whole;
      left_.origin = start.state->offset;
    }
    pass(scores, left_, chunk.begin, nullptr);
    if (start.kind == RunStart::Kind::kWarm && chunk.begin > 0)
      states.entry = state_at(scores, chunk.begin, left_);
    std::copy_n(left_.reached.get(), t_->width, row(0));

    if (chunk.size() < 8 * warmup || !pass_halves(scores, chunk, warmup, states)) {
      pass(scores, left_, chunk.end, row(left_.position - chunk.begin + 1));
      states.exit = state_at(scores, chunk.end, left_);
    }
    return states;
  }

  // False: the right half does not know the truth, the left one ends where it begins.
  bool pass_halves(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStates& states) {
    const std::int64_t middle = chunk.begin + (chunk.size() + warmup) / 2 / kBlock * kBlock;
    begin_run(right_, middle - warmup);
    BoundaryState guess;
    while (left_.position < middle && right_.position < chunk.end) {
      const bool warm = right_.position < middle;
      step<2>(scores,
              {{{&left_, row(left_.position - chunk.begin + 1)},
                {&right_, warm ? right_.rows.get() : row(right_.position - chunk.begin + 1)}}},
              chunk.end);
      if (warm && right_.position == middle) guess = state_at(scores, middle, right_);
    }
    pass(scores, left_, middle, row(left_.position - chunk.begin + 1));
    pass(scores, right_, chunk.end, row(right_.position - chunk.begin + 1));
    const BoundaryState truth = state_at(scores, middle, left_);
    const auto shift = agreement(truth, guess, 1e-11, Precision::kDouble);
    if (!shift) return false;
    right_.origin += *shift;
    right_.origin_whole += truth.whole - guess.whole;
    states.exit = state_at(scores, chunk.end, right_);
    return true;
  }

  // All labels equal, at `position`.
  void begin_run(Run& run, std::int64_t position) const {
    std::fill_n(run.reached.get(), t_->width, kNegativeInfinity);
    std::fill_n(run.reached.get(), t_->labels, 0.0);
    run.position = position;
    run.last_shift = run.origin = run.origin_whole = run.base = run.mass = 0;
  }

  // Up to `end`; rows null: nobody keeps them.
  void pass(const ScoreWindow& scores, Run& run, std::int64_t end, double* rows) {
    while (run.position < end) {
      const std::int64_t begin = run.position;
      step<1>(scores, {{{&run, rows == nullptr ? run.rows.get() : rows}}}, end);
      if (rows != nullptr) rows += static_cast<std::size_t>(run.position - begin) * t_->width;
    }
  }

  // One block of each run, not beyond `limit`: alpha of the boundaries after its positions into `rows`,
  // relative to origin + base + mass where the block begins.
  struct Stretch {
    Run* run;
    double* rows;
  };
  template <std::size_t kRuns>
  void step(const ScoreWindow& scores, const std::array<Stretch, kRuns>& stretches, std::int64_t limit) {
    std::array<const double*, kRuns> from;
    std::array<std::size_t, kRuns> count;
    std::size_t most = 0;
    for (std::size_t r = 0; r < kRuns; ++r) {
      Run& run = *stretches[r].run;
      const std::int64_t end = std::min(run.position / kBlock * kBlock + kBlock, limit);
      count[r] = static_cast<std::size_t>(end - run.position);
      most = std::max(most, count[r]);
      load(scores, run, end);
      from[r] = run.reached.get();
    }
    for (std::size_t slot = 0; slot < most; ++slot) {
      for (std::size_t r = 0; r < kRuns; ++r) {
        if (kRuns > 1 && slot >= count[r]) continue;
        const Run& run = *stretches[r].run;
        double* to = stretches[r].rows + slot * t_->width;
        if (slot == 0 && run.position == 0) {
          first_scores(run, to);
        } else {
          advance(from[r], run.scores.get() + slot * t_->width, to);
        }
        from[r] = to;
      }
    }
    for (std::size_t r = 0; r < kRuns; ++r) finish(*stretches[r].run, stretches[r].rows, count[r]);
  }

  // Leaves the last row in `reached`, made small.
  void finish(Run& run, const double* rows, std::size_t count) const {
    const double* last = rows + (count - 1) * t_->width;
    std::copy_n(count > 1 ? last - t_->width : run.reached.get(), t_->width, run.before.get());
    std::copy_n(last, t_->width, run.reached.get());
    run.position += static_cast<std::int64_t>(count);
    const double largest = *std::max_element(last, last + t_->labels);
    if (largest == kNegativeInfinity) return;
    const double whole = std::floor(largest);
    for (std::size_t c = 0; c < t_->labels; ++c) {
      run.reached[c] -= whole;
      run.before[c] -= whole;
    }
    run.base += whole;
  }

  // alpha of boundary 1.
  void first_scores(const Run& run, double* to) const {
    if (t_->model->initial == InitialTerm::kUniform) return advance(run.reached.get(), run.scores.get(), to);
    std::fill_n(to, t_->width, kNegativeInfinity);
    std::copy_n(run.scores.get(), t_->labels, to);
  }

  // to(c) = score(c) + max over c' of from(c') + T[c',c]; two chains per vector.
  HWY_INLINE void advance(const double* from, const double* score, double* to) const {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    Kept<V> even[kVectors], odd[kVectors];
    for (int v = 0; v < kVectors; ++v) even[v] = odd[v] = hn::Set(d, kNegativeInfinity);
    const double* row = t_->transition.get();
    std::size_t c = 0;
    for (; c + 2 <= t_->labels; c += 2, row += 2 * t_->width) {
      const V first = hn::Set(d, from[c]), second = hn::Set(d, from[c + 1]);
      for (int v = 0; v < kVectors; ++v) {
        const std::size_t at = static_cast<std::size_t>(v) * lanes;
        even[v] = hn::Max(even[v], hn::Add(first, hn::Load(d, row + at)));
        odd[v] = hn::Max(odd[v], hn::Add(second, hn::Load(d, row + t_->width + at)));
      }
    }
    if (c < t_->labels) {
      const V last = hn::Set(d, from[c]);
      for (int v = 0; v < kVectors; ++v)
        even[v] = hn::Max(even[v], hn::Add(last, hn::Load(d, row + static_cast<std::size_t>(v) * lanes)));
    }
    for (int v = 0; v < kVectors; ++v) {
      const std::size_t at = static_cast<std::size_t>(v) * lanes;
      hn::Store(hn::Add(hn::Max(even[v], odd[v]), hn::Load(d, score + at)), d, to + at);
    }
  }

  // Everything that does not depend on the past, of positions [begin, end): centred emission, duration, start
  // and end score. Lanes beyond C are 0. Huge scores that all labels of a position share are taken out of it.
  void load(const ScoreWindow& scores, Run& run, std::int64_t end) {
    const D d;
    if (constant_.size() == 0 || !std::ranges::equal(scores.baseline, baseline_)) set_constant(scores);
    V largest = hn::Zero(d);
    const bool plain = scores.emissions.f32 != nullptr && !scores.subtract_position_max &&
                       scores.start_scores.empty() && scores.end_scores.empty() && run.position > 0 &&
                       end + static_cast<std::int64_t>(t_->width) < scores.end;
    if (plain) {
      largest = load_plain(scores, run, end);
    } else {
      double* to = run.scores.get();
      for (std::int64_t t = run.position; t < end; ++t, to += t_->width) {
        load_row(scores, t, to);
        for (std::size_t at = 0; at < t_->width; at += hn::Lanes(d))
          largest = hn::Max(largest, hn::Abs(hn::Load(d, to + at)));
      }
    }
    constexpr double kSmall = 4096;  // sixteen of them leave a double its digits
    run.last_shift = 0;
    if (hn::AllTrue(d, hn::Lt(largest, hn::Set(d, kSmall)))) return;
    double* to = run.scores.get();
    for (std::int64_t t = run.position; t < end; ++t, to += t_->width) {
      const double most = *std::max_element(to, to + t_->labels);
      run.last_shift = std::fabs(most) < kSmall || most == kNegativeInfinity ? 0 : std::round(most);
      for (std::size_t c = 0; c < t_->labels; ++c) to[c] -= run.last_shift;
      run.mass += run.last_shift;
    }
  }

  // Rows of single-precision emissions and nothing else; a vector may reach into the rows that follow. The
  // largest magnitudes.
  V load_plain(const ScoreWindow& scores, const Run& run, std::int64_t end) const {
    const D d;
    const hn::Rebind<float, D> df;
    const std::size_t lanes = hn::Lanes(d);
    Kept<V> constant[kVectors];
    for (int v = 0; v < kVectors; ++v)
      constant[v] = hn::Load(d, constant_.get() + static_cast<std::size_t>(v) * lanes);
    const auto used = hn::FirstN(d, t_->labels - (kVectors - 1) * lanes);  // labels of the last vector
    const float* from =
        scores.emissions.f32 + static_cast<std::size_t>(run.position - scores.begin) * t_->labels;
    double* to = const_cast<double*>(run.scores.get());
    V largest = hn::Zero(d);
    for (std::int64_t t = run.position; t < end; ++t, from += t_->labels, to += t_->width) {
      for (int v = 0; v < kVectors; ++v) {
        const std::size_t at = static_cast<std::size_t>(v) * lanes;
        V value = hn::Add(hn::PromoteTo(d, hn::LoadU(df, from + at)), constant[v]);
        if (v == kVectors - 1) value = hn::IfThenElseZero(used, value);
        largest = hn::Max(largest, hn::Abs(value));
        hn::Store(value, d, to + at);
      }
    }
    return largest;
  }

  void set_constant(const ScoreWindow& scores) {
    constant_ = AlignedArray<double>(t_->width);
    for (std::size_t c = 0; c < t_->labels; ++c)
      constant_[c] = t_->bias[c] - (scores.baseline.empty() ? 0.0 : scores.baseline[c]);
    baseline_.assign(scores.baseline.begin(), scores.baseline.end());
  }

  void load_row(const ScoreWindow& scores, std::int64_t t, double* to) const {
    const std::size_t row = static_cast<std::size_t>(t - scores.begin) * t_->labels;
    std::fill_n(to, t_->width, 0.0);
    for (std::size_t c = 0; c < t_->labels; ++c) to[c] = scores.emissions.at(row + c) + constant_[c];
    if (scores.subtract_position_max) {
      const double most = position_maximum(scores.emissions, row, t_->labels);
      for (std::size_t c = 0; c < t_->labels; ++c) to[c] -= most;
    }
    for (const ScoreArray* more : {&scores.start_scores, &scores.end_scores}) {
      if (more->empty()) continue;
      for (std::size_t c = 0; c < t_->labels; ++c) to[c] += more->at(row + c);
    }
    if (t == 0) add(t_->model->start_scores, to);
    if (t == scores.length - 1) add(t_->model->end_scores, to);
  }
  static void add(const std::vector<double>& values, double* to) {
    for (std::size_t c = 0; c < values.size(); ++c) to[c] += values[c];
  }
  // alpha of the boundary where the run stands, and the ring's one row: the same before duration and end
  // score.
  BoundaryState state_at(const ScoreWindow& scores, std::int64_t boundary, const Run& run) const {
    BoundaryState state;
    state.boundary = boundary;
    state.message.assign(run.reached.get(), run.reached.get() + t_->labels);
    if (boundary < scores.length) {
      const std::int64_t t = boundary - 1;
      const std::size_t row = static_cast<std::size_t>(t - scores.begin) * t_->labels;
      const double most =
          scores.subtract_position_max ? position_maximum(scores.emissions, row, t_->labels) : 0.0;
      state.ring.resize(t_->labels);
      for (std::size_t c = 0; c < t_->labels; ++c) {
        double started = t == 0 && t_->model->initial == InitialTerm::kNone ? 0.0 : kNegativeInfinity;
        if (started != 0.0) {
          for (std::size_t from = 0; from < t_->labels; ++from)
            started = std::max(started, run.before[from] + t_->transition[from * t_->width + c]);
        }
        if (t == 0 && !t_->model->start_scores.empty()) started += t_->model->start_scores[c];
        if (!scores.start_scores.empty()) started += scores.start_scores.at(row + c);
        const double centre = (scores.baseline.empty() ? 0.0 : scores.baseline[c]) + most + run.last_shift;
        state.ring[c] = started + (scores.emissions.at(row + c) - centre);
      }
    }
    double largest = kNegativeInfinity;
    for (const auto* values : {&state.ring, &state.message})
      for (const double value : *values) largest = std::max(largest, value);
    if (largest == kNegativeInfinity) return state;
    for (auto* values : {&state.ring, &state.message})
      for (double& value : *values) value -= largest;
    state.whole = run.origin_whole + (run.base + run.mass);
    state.offset = run.origin + largest;
    return state;
  }

  // The first label with the largest alpha + transition into `label`.
  HWY_INLINE std::int32_t source(const double* alpha, std::int32_t label) const {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const double* into = t_->into.get() + static_cast<std::size_t>(label) * t_->width;
    Kept<V> sums[kVectors];
    V most = hn::Set(d, kNegativeInfinity);
    for (int v = 0; v < kVectors; ++v) {
      const std::size_t at = static_cast<std::size_t>(v) * lanes;
      sums[v] = hn::Add(hn::Load(d, alpha + at), hn::Load(d, into + at));
      most = hn::Max(most, sums[v]);
    }
    most = hn::MaxOfLanes(d, most);
    std::uint64_t found = 0;
    for (int v = 0; v < kVectors; ++v) {
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, hn::Eq(sums[v], most), bits);
      found |= static_cast<std::uint64_t>(bits[0]) << (static_cast<std::size_t>(v) * lanes);
    }
    return std::countr_zero(found);  // -inf everywhere: the first
  }

  // The label of every position into path_: paths of parts of the chunk are followed side by side, which
  // hides the latency of each, and then joined: where the label from the right is the one that was found, so
  // is the rest.
  void follow(const BoundaryState& exit) {
    constexpr int kWalks = 8;
    const auto length = static_cast<std::int64_t>(path_.size());
    const std::int64_t stretch = (length + kWalks - 1) / kWalks;
    std::array<std::int32_t, kWalks> label{};
    std::array<std::int64_t, kWalks> begin{};  // walk w goes through [begin[w], begin[w] + stretch)
    int last = 0;
    best_final_score(exit, &last);
    for (std::size_t w = 0; w < kWalks; ++w) {
      begin[w] = std::min(length, stretch * static_cast<std::int64_t>(w));
      const std::int64_t end = std::min(length, begin[w] + stretch);
      const double* alpha = row(end);
      label[w] = end == length
                     ? last
                     : static_cast<std::int32_t>(std::max_element(alpha, alpha + t_->labels) - alpha);
    }
    for (std::int64_t i = stretch - 1; i >= 0; --i) {
      for (std::size_t w = 0; w < kWalks; ++w) {
        const std::int64_t position = begin[w] + i;
        if (position >= length) continue;
        path_[position] = label[w];
        label[w] = source(row(position), label[w]);
      }
    }
    for (std::size_t w = kWalks - 1; w > 0; --w) {
      for (std::int64_t t = begin[w] - 1; t >= 0 && begin[w] < length; --t) {
        const auto at = static_cast<std::size_t>(t);
        const std::int32_t from_right = source(row(t + 1), path_[at + 1]);
        if (path_[at] == from_right) break;
        path_[at] = from_right;
      }
    }
  }

  // Blocks of the chunk as exact ones. Only entries of one row are ever compared, and a segment of one
  // position has but one start: rows keep their own scale, starts are 0.
  ViterbiChunk messages_of(const ScoreWindow& scores, PositionRange chunk, std::size_t first,
                           std::size_t count) {
    const ViterbiChunk::Shape shape{t_->model->num_labels, false, false};
    const std::size_t values = shape.exact_values();
    ViterbiChunk out;
    out.reset(chunk.begin + kBlock * static_cast<std::int64_t>(first), count, shape);
    out.extra.assign(count * values, 0.0);
    std::fill_n(out.start_bound, count * t_->labels, std::numeric_limits<double>::infinity());
    std::fill_n(out.content, count * t_->labels, 0.0);
    for (std::size_t b = 0; b < count; ++b) {
      out.blocks.push_back({true, false, b * values});
      double* to = out.extra.data() + b * values;
      for (std::int64_t slot = 0; slot < kBlock; ++slot, to += t_->labels) {
        const std::int64_t boundary = kBlock * static_cast<std::int64_t>(first + b) + slot + 1;
        if (boundary <= std::min(chunk.size(), scores.length - chunk.begin))
          std::copy_n(row(boundary), t_->labels, to);
      }
    }
    return out;
  }

  std::shared_ptr<const Tables> t_;
  Run left_, right_;
  AlignedArray<double> rows_;      // (positions of the chunk + 1, width)
  AlignedArray<double> constant_;  // (width) duration score less baseline
  std::vector<double> baseline_;   // baseline of the sequence that `constant_` is for
  std::vector<std::int32_t> path_;
};

template <class D, int kVectors>
class UnitViterbiFactory final : public KernelFactory<ViterbiKernel> {
 public:
  explicit UnitViterbiFactory(std::shared_ptr<const UnitTables<D>> tables) : tables_(std::move(tables)) {}
  std::unique_ptr<ViterbiKernel> make() const override {
    return std::make_unique<UnitViterbiKernel<D, kVectors>>(tables_);
  }
  std::size_t table_bytes() const override { return tables_->bytes(); }
  std::size_t workspace_bytes(std::int64_t chunk) const override {
    return UnitViterbiKernel<D, kVectors>::workspace_bytes(*tables_, chunk);
  }
  std::size_t path_bytes(std::int64_t chunk) const override {
    return ChunkPath::bytes(*tables_->model, chunk, {tables_->model->num_labels, false, false});
  }

 private:
  std::shared_ptr<const UnitTables<D>> tables_;
};

// Null where rows of labels are too wide to be held in registers.
template <class D>
std::unique_ptr<KernelFactory<ViterbiKernel>> unit_viterbi_factory(const ChainModel& model) {
  auto tables = std::make_shared<const UnitTables<D>>(model);
  switch (tables->width / hn::Lanes(D())) {
    case 1:
      return std::make_unique<UnitViterbiFactory<D, 1>>(std::move(tables));
    case 2:
      return std::make_unique<UnitViterbiFactory<D, 2>>(std::move(tables));
    case 3:
      return std::make_unique<UnitViterbiFactory<D, 3>>(std::move(tables));
    case 4:
      return std::make_unique<UnitViterbiFactory<D, 4>>(std::move(tables));
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
