#include "sites/site_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "engine/batch.h"
#include "engine/boundary_state.h"
#include "sites/gap_steps.h"

namespace semicrf {
namespace {

constexpr std::int64_t kWholeSequence = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kScoredTogether = 1 << 14;  // sites per task of a thread
constexpr int kMostStays = std::numeric_limits<std::int16_t>::max();

// Numbers as they are. Exact enough where every label can follow every other in any gap: what a site makes
// too small for a double, the next gap would have drowned.
struct Linear {
  static double number(double score) { return std::exp(score); }
  static double times(double a, double b) { return a * b; }
  static double over(double a, double b) { return a / b; }
  static double linear(double a) { return a; }
  static double logarithm(double a) { return std::log(a); }
  template <class Term>
  static double sum(std::size_t count, Term term) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += term(i);
    return sum;
  }
};

// Logarithms, for all other models.
struct Logarithms {
  static double number(double score) { return score; }
  static double times(double a, double b) { return a + b; }
  static double over(double a, double b) { return a == kNegativeInfinity ? a : a - b; }
  static double linear(double a) { return std::exp(a); }
  static double logarithm(double a) { return a; }
  template <class Term>
  static double sum(std::size_t count, Term term) {
    double largest = kNegativeInfinity;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, term(i));
    if (largest == kNegativeInfinity) return largest;
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::exp(term(i) - largest);
    return largest + std::log(sum);
  }
};

// Calls visit(std::integral_constant<int, C>), C being 0 where it is no constant.
template <class Visit>
auto with_labels(std::size_t labels, Visit visit) {
  switch (labels) {
    case 2:
      return visit(std::integral_constant<int, 2>());
    case 3:
      return visit(std::integral_constant<int, 3>());
    case 4:
      return visit(std::integral_constant<int, 4>());
    case 5:
      return visit(std::integral_constant<int, 5>());
    default:
      return visit(std::integral_constant<int, 0>());
  }
}

struct Sums {
  bool feasible = false;
  double level = kNegativeInfinity;  // logarithm that `last` is relative to
  std::vector<double> last;          // (C): log alpha at the end, without end scores
  ChunkReport report;
};

class PathMessages : public ViterbiMessages {
 public:
  PathMessages(std::size_t labels, std::vector<std::int16_t> from)
      : labels_(labels), from_(std::move(from)) {}
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override {
    for (std::int64_t t = cursor.boundary - 1; t >= 0; --t) {
      const int from = from_[t * labels_ + cursor.label];
      if (from == kMostStays) continue;
      reversed.push_back({t, cursor.segment_end, cursor.label});
      cursor.segment_end = t;
      cursor.label = from;
    }
    cursor = {TraceCursor::Phase::kDone, 0, 0, 0};
    return false;
  }

 private:
  std::size_t labels_;
  std::vector<std::int16_t>
      from_;  // (n, C): label before the segment that starts here; kMostStays: none does
};

class SiteEngine : public Engine {
 public:
  SiteEngine(ChainModel model, std::span<const std::uint32_t> at, int threads)
      : Engine({"sites", "sites, double", std::move(model), Precision::kDouble,
                ChunkGrid{kWholeSequence, 0, 0.0}},
               nullptr, one_by_one_),
        labels_(this->model().num_labels),
        threads_(threads),
        gap_of_(at.size()),
        steps_(this->model(), number_gaps(at)) {
    if (this->model().num_labels >= kMostStays) throw std::logic_error("too many labels for sites");
  }

  std::size_t viterbi_bytes(std::int64_t positions, bool keep) const override {
    return positions * labels_ * (sizeof(double) + (keep ? sizeof(std::int16_t) : 0)) + gap_bytes();
  }
  std::size_t posterior_bytes(std::int64_t positions, bool counts) const override {
    return positions * (2 * labels_ + 1) * sizeof(double) + gap_bytes() * (counts ? 2 : 1);
  }

  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep_messages) override {
    check_whole(scores, range, left);
    const std::vector<GapSteps::Best> steps = steps_.best();
    std::vector<std::int16_t> back(keep_messages ? gap_of_.size() * labels_ : 0);
    std::vector<double> best = first_scores(Semiring::kMax), next(labels_);
    double whole = 0;
    for (std::size_t t = 0; t < gap_of_.size(); ++t) {
      std::int16_t* const from = keep_messages ? &back[t * labels_] : nullptr;
      if (t > 0) {
        const GapSteps::Best& step = steps[gap_of_[t]];
        for (std::size_t c = 0; c < labels_; ++c) {
          double most = kNegativeInfinity;
          std::size_t source = 0;
          for (std::size_t k = 0; k < labels_; ++k) {
            const double score = best[k] + step.change[k * labels_ + c];
            if (score > most) {
              most = score;
              source = k;
            }
          }
          const bool stays = best[c] + step.stay[c] > most;
          next[c] = stays ? best[c] + step.stay[c] : most;
          if (from != nullptr) from[c] = stays ? kMostStays : static_cast<std::int16_t>(source);
        }
        best.swap(next);
      }
      for (std::size_t c = 0; c < labels_; ++c) best[c] += score(scores, t, c);
      const double top = *std::ranges::max_element(best);
      if (top == kNegativeInfinity) break;
      if (std::fabs(top) < kRise) continue;
      for (double& value : best) value -= std::rint(top);
      whole += std::rint(top);
    }
    ViterbiWindow window;
    window.right = state(std::move(best), whole, range.end);
    window.chunks.resize(1);
    if (keep_messages) window.messages = std::make_unique<PathMessages>(labels_, std::move(back));
    return window;
  }

  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override {
    check_whole(scores, range, left);
    if (right != nullptr || out.on_device != nullptr || out.features != nullptr)
      throw std::logic_error("sites have no windows, and no sums of features");
    const Sums sums = sum_up(scores, &out);
    PosteriorWindow window;
    window.right_forward = state(sums.last, sums.level, range.end);
    window.left_backward = state(std::vector<double>(labels_, 0.0), 0, 0);
    window.right_warmed.boundary = range.end;
    window.chunks.push_back(sums.report);
    return window;
  }

  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override {
    check_whole(scores, range, left);
    if (out.starts != nullptr || out.ends != nullptr || out.tails != nullptr)
      throw std::logic_error("sites have no forward messages but log Z");
    const Sums sums = sum_up(scores, nullptr);
    ForwardWindow window;
    window.right = state(sums.last, sums.level, range.end);
    window.chunks.resize(1);
    return window;
  }

 private:
  static constexpr double kRise = 0x1p20;  // best scores that are larger lose their whole units

  // Fills gap_of_, and gives the different distances, sorted.
  std::vector<std::int64_t> number_gaps(std::span<const std::uint32_t> at) {
    constexpr std::int64_t kShort = 1 << 16;  // distances that are looked up in a table
    std::vector<std::uint32_t> places(kShort);
    std::vector<std::int64_t> gaps;
    for (std::size_t t = 1; t < at.size(); ++t) {
      if (at[t] <= at[t - 1]) throw std::logic_error("sites that are not sorted");
      const std::uint32_t gap = at[t] - at[t - 1];
      if (gap >= kShort || std::exchange(places[gap], 1) == 0) gaps.push_back(gap);
    }
    std::ranges::sort(gaps);
    gaps.erase(std::unique(gaps.begin(), gaps.end()), gaps.end());
    for (std::size_t i = 0; i < gaps.size() && gaps[i] < kShort; ++i)
      places[gaps[i]] = static_cast<std::uint32_t>(i);
    for (std::size_t t = 1; t < at.size(); ++t) {
      const std::uint32_t gap = at[t] - at[t - 1];
      gap_of_[t] = gap < kShort
                       ? places[gap]
                       : static_cast<std::uint32_t>(std::ranges::lower_bound(gaps, gap) - gaps.begin());
    }
    return gaps;
  }
  std::size_t gap_bytes() const {
    return gap_of_.size() * sizeof(std::uint32_t) + 4 * gaps() * labels_ * labels_ * sizeof(double);
  }
  std::size_t gaps() const { return steps_.gaps(); }

  void check_whole(const ScoreWindow& scores, PositionRange range, const BoundaryState* left) const {
    if (range.begin != 0 || range.end != scores.length || wide(scores.length) != gap_of_.size() ||
        left != nullptr || !scores.start_scores.empty() || !scores.end_scores.empty() ||
        !scores.features.empty())
      throw std::logic_error("the sites of a sequence are one window of scores, without starts and ends");
  }

  // What a segment has at the first site, but for its score there.
  std::vector<double> first_scores(Semiring semiring) const {
    std::vector<double> first(labels_);
    for (std::size_t c = 0; c < labels_; ++c) {
      const int label = static_cast<int>(c);
      first[c] = model().start_scores[c] + initial_term(model(), label) + model().duration_bias[c];
      if (semiring == Semiring::kMax && first[c] > kNegativeInfinity)
        first[c] -= initial_gain(model(), label);
    }
    return first;
  }
  // Centred.
  double score(const ScoreWindow& scores, std::size_t t, std::size_t c) const {
    const double base = scores.baseline.empty() ? 0 : scores.baseline[c];
    const double most =
        scores.subtract_position_max ? position_maximum(scores.emissions, t * labels_, labels_) : 0;
    return scores.emissions.at(t * labels_ + c) - base - most;
  }
  // `level`: the logarithm that the message is relative to.
  BoundaryState state(std::vector<double> message, double level, std::int64_t boundary) const {
    BoundaryState state;
    state.boundary = boundary;
    state.offset = level;
    if (boundary > 0)
      for (std::size_t c = 0; c < labels_; ++c) message[c] += model().end_scores[c];
    state.message = std::move(message);
    state.ring.assign(labels_, kNegativeInfinity);
    if (model().has_tail()) state.tail.assign(labels_, kNegativeInfinity);
    return normalised(std::move(state));
  }
  Sums sum_up(const ScoreWindow& scores, const PosteriorArrays* out) const {
    constexpr double kLeast = 1e-100;
    return with_labels(labels_, [&](auto labels) {
      if (steps_.least() >= kLeast) return Sweep<Linear, labels()>(*this, scores, out).run();
      return Sweep<Logarithms, 0>(*this, scores, out).run();
    });
  }

  template <class Numbers, int kLabels>
  class Sweep {
   public:
    Sweep(const SiteEngine& engine, const ScoreWindow& scores, const PosteriorArrays* out)
        : engine_(engine),
          sites_(engine.gap_of_.size()),
          out_(out),
          by_site_(sites_ * labels()),
          tops_(sites_) {
      all_ = numbers(engine.steps_, &GapSteps::all);
      stay_ = numbers(engine.steps_, &GapSteps::stay);
      parallel_ranges(engine.threads_, 0, static_cast<std::int64_t>(sites_), kScoredTogether,
                      [&](std::int64_t from, std::int64_t to) {
                        for (std::int64_t t = from; t < to; ++t) prepare(scores, t);
                      });
    }

    Sums run() {
      forward();
      if (sums_.feasible && out_ != nullptr) backward();
      return std::move(sums_);
    }

   private:
    std::size_t labels() const {
      if constexpr (kLabels > 0) return kLabels;
      return engine_.labels_;
    }
    std::vector<double> numbers(const GapSteps& steps,
                                std::span<const double> (GapSteps::*of)(std::size_t) const) const {
      std::vector<double> all;
      for (std::size_t gap = 0; gap < engine_.gaps(); ++gap)
        for (const double number : (steps.*of)(gap))
          all.push_back(std::is_same_v<Numbers, Linear> ? number : std::log(number));
      return all;
    }

    // The scores of a site, relative to the largest.
    void prepare(const ScoreWindow& scores, std::size_t t) {
      double* const row = &by_site_[t * labels()];
      double top = kNegativeInfinity;
      for (std::size_t c = 0; c < labels(); ++c) {
        row[c] = engine_.score(scores, t, c);
        top = std::max(top, row[c]);
      }
      tops_[t] = top;
      if (top == kNegativeInfinity) top = 0;
      for (std::size_t c = 0; c < labels(); ++c) row[c] = Numbers::number(row[c] - top);
    }
    double normalise(double* row) const {
      const double sum = Numbers::sum(labels(), [&](std::size_t c) { return row[c]; });
      for (std::size_t c = 0; c < labels(); ++c) row[c] = Numbers::over(row[c], sum);
      return Numbers::logarithm(sum);
    }

    void forward() {
      sums_.last.assign(labels(), kNegativeInfinity);
      alpha_.resize(out_ != nullptr ? by_site_.size() : labels());
      std::vector<double> before(labels());
      double sum = 0;
      for (std::size_t t = 0; t < sites_; ++t) {
        double* const row = out_ != nullptr ? &alpha_[t * labels()] : alpha_.data();
        const double* const scores = &by_site_[t * labels()];
        if (t == 0) {
          const std::vector<double> first = engine_.first_scores(Semiring::kLog);
          const double top = *std::ranges::max_element(first);
          if (top == kNegativeInfinity) return;
          sum += top;
          for (std::size_t c = 0; c < labels(); ++c) row[c] = Numbers::number(first[c] - top);
        } else {
          const double* const step = &all_[engine_.gap_of_[t] * labels() * labels()];
          for (std::size_t c = 0; c < labels(); ++c)
            row[c] = Numbers::sum(
                labels(), [&](std::size_t k) { return Numbers::times(before[k], step[k * labels() + c]); });
        }
        for (std::size_t c = 0; c < labels(); ++c) row[c] = Numbers::times(row[c], scores[c]);
        const double level = normalise(row);
        if (!(level > kNegativeInfinity)) return;
        sum += level + tops_[t];
        std::copy_n(row, labels(), before.begin());
      }
      length_ = 0;
      for (std::size_t t = 1; t < sites_; ++t)
        length_ += static_cast<double>(engine_.steps_.length(engine_.gap_of_[t]));
      sums_.level = sum + length_ * engine_.steps_.growth();
      for (std::size_t c = 0; c < labels(); ++c) {
        sums_.last[c] = Numbers::logarithm(before[c]);
        sums_.feasible |= sums_.last[c] + engine_.model().end_scores[c] > kNegativeInfinity;
      }
    }

    void backward() {
      std::vector<double> beta(labels()), ahead(labels()), weights(labels()), stays(labels()), none(labels());
      const std::size_t entries = labels() * labels();
      std::vector<double> pairs(out_->counts != nullptr ? engine_.gaps() * entries : 0);
      const double top = *std::ranges::max_element(engine_.model().end_scores);
      for (std::size_t c = 0; c < labels(); ++c)
        beta[c] = Numbers::number(engine_.model().end_scores[c] - top);
      ExpectedCounts counts;
      counts.shape_for(engine_.model());
      for (std::size_t t = sites_; t-- > 0;) {
        const double* const alpha = &alpha_[t * labels()];
        for (std::size_t c = 0; c < labels(); ++c) weights[c] = Numbers::times(alpha[c], beta[c]);
        normalise(weights.data());
        for (double& weight : weights) weight = Numbers::linear(weight);
        // `stays` are those of the gap on the right.
        if (out_->ends != nullptr)
          for (std::size_t c = 0; c < labels(); ++c)
            out_->ends[t * labels() + c] = std::max(0.0, weights[c] - (t + 1 < sites_ ? stays[c] : 0));
        if (t > 0) {
          const std::uint32_t gap = engine_.gap_of_[t];
          const double* const step = &all_[gap * entries];
          const double* const before = alpha - labels();
          for (std::size_t c = 0; c < labels(); ++c)
            ahead[c] = Numbers::times(beta[c], by_site_[t * labels() + c]);
          for (std::size_t k = 0; k < labels(); ++k)
            beta[k] = Numbers::sum(
                labels(), [&](std::size_t c) { return Numbers::times(step[k * labels() + c], ahead[c]); });
          const double norm =
              Numbers::sum(labels(), [&](std::size_t k) { return Numbers::times(before[k], beta[k]); });
          for (std::size_t c = 0; c < labels(); ++c)
            stays[c] = Numbers::linear(Numbers::over(
                Numbers::times(Numbers::times(before[c], stay_[gap * labels() + c]), ahead[c]), norm));
          if (!pairs.empty())
            for (std::size_t k = 0; k < labels(); ++k)
              for (std::size_t c = 0; c < labels(); ++c)
                pairs[gap * entries + k * labels() + c] +=
                    Numbers::linear(Numbers::over(Numbers::times(before[k], ahead[c]), norm));
          normalise(beta.data());
        }
        report(t, weights, t > 0 ? stays : none);
      }
      if (out_->counts == nullptr) return;
      engine_.steps_.add_counts(pairs, counts.transition, counts.tail);
      for (std::size_t i = 0; i < entries; ++i) counts.duration[i % labels()] += counts.transition[i];
      for (std::size_t c = 0; c < labels(); ++c) add_first(weights[c], c, counts);
      out_->counts->shape_for(engine_.model());
      out_->counts->add(counts);
    }

    // The segment at the first site.
    void add_first(double weight, std::size_t c, ExpectedCounts& counts) const {
      counts.duration[c] += weight;
      const ChainModel& model = engine_.model();
      if (model.initial != InitialTerm::kUniform || weight == 0) return;
      const double into = initial_term(model, static_cast<int>(c));
      for (std::size_t from = 0; from < labels(); ++from)
        counts.transition[from * labels() + c] +=
            weight * std::exp(model.transition[from * labels() + c] - into);
    }

    // Posteriors of a site; `stays`: that the segment was there at the site before.
    void report(std::size_t t, const std::vector<double>& weights, const std::vector<double>& stays) {
      double boundary = 0;
      for (std::size_t c = 0; c < labels(); ++c) {
        const double start = std::max(0.0, weights[c] - stays[c]);
        boundary += start;
        if (out_->labels != nullptr) out_->labels[t * labels() + c] = weights[c];
        if (out_->starts != nullptr) out_->starts[t * labels() + c] = start;
        if (out_->sums && weights[c] > 0) sums_.report.label_entropy -= weights[c] * std::log(weights[c]);
      }
      boundary = std::min(boundary, 1.0);
      if (out_->boundary != nullptr) out_->boundary[t] = boundary;
      sums_.report.boundary_mass += boundary;
      if (out_->sums && boundary > 0) sums_.report.boundary_plogp += boundary * std::log(boundary);
    }

    const SiteEngine& engine_;
    std::size_t sites_;
    const PosteriorArrays* out_;
    std::vector<double> by_site_;     // (n, C): scores of the sites
    std::vector<double> tops_;        // (n): logarithms that they are relative to
    std::vector<double> all_, stay_;  // GapSteps::all() and stay(), by gap
    std::vector<double> alpha_;       // (n, C), or of one site
    double length_ = 0;
    Sums sums_;
  };

  std::size_t labels_;
  int threads_;
  std::vector<std::uint32_t> gap_of_;  // (n): place of the distance to the site before
  GapSteps steps_;
  OneByOne one_by_one_{*this};
};

}  // namespace

std::unique_ptr<Engine> make_site_engine(ChainModel model, std::span<const std::uint32_t> at, int threads) {
  return std::make_unique<SiteEngine>(std::move(model), at, threads);
}

bool is_site_engine(const Engine& engine) { return dynamic_cast<const SiteEngine*>(&engine) != nullptr; }

}  // namespace semicrf
