#include "analyses/posteriors/expected_score.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>

#include "core/chain_model.h"
#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "engine/masks.h"
#include "model/scores/linear_heads.h"

namespace semicrf {

namespace {

constexpr std::int64_t kRows = 256;  // positions whose scores are kept at a time
constexpr double kResidueBand = 16;
// A score of size s costs what is added to it 1.1e-16 s, which is the error of a posterior made of that.
constexpr double kMaskRounding = 0x1p-46;

// p times score; nothing where P forbids it, whatever rounding has left of p.
template <class CountedScore>
double term(double p, double score, CountedScore counted_score) {
  if (p <= 0) return 0;
  if (score == kNegativeInfinity && counted_score() == kNegativeInfinity) return 0;
  return p * score;
}

// The error of a product whose first factor has an error as large as itself.
double size_of(double p, double score) {
  return p > 0 && score > kNegativeInfinity ? p * std::fabs(score) : 0;
}

}  // namespace

PosteriorRounding PosteriorRounding::of(Precision precision) {
  // Errors as measured, see docs/algorithm.md, "Entropies".
  if (precision == Precision::kFloat) return {.absolute = 3e-8, .relative = 2e-6, .residue = 0x1p-20};
  return {.absolute = 1e-14, .relative = 4e-9, .residue = 0x1p-42};
}

// The expectations of up to kRows positions.
class ScoredStretch {
 public:
  ScoredStretch(const ExpectedScore& whole, const PosteriorBlock& block, const ScoreWindow& counted,
                const ScoreWindow& scored)
      : labels_(whole.scored_.num_labels),
        length_(scored.length),
        has_edges_(!scored.start_scores.empty() || !scored.end_scores.empty() ||
                   scored.features.start != nullptr || scored.features.finish != nullptr),
        same_(&counted == &scored && &whole.counted_ == &whole.scored_),
        rounding_(whole.rounding_),
        block_(block),
        counted_(whole.counted_, counted),
        scored_(whole.scored_, scored),
        scores_(kRows * labels_) {}

  // Computes the terms of positions [begin, end).
  void run(std::int64_t begin, std::int64_t end, ExpectedScore::PositionScore* positions) {
    for (std::int64_t t = begin; t < end; ++t) {
      const double* const row = posteriors(t);
      likeliest_[t - begin] = static_cast<int>(std::max_element(row, row + labels_) - row);
    }
    for (int c = 0; c < labels_; ++c)
      scored_.of_label(c, [&](const auto& score) {
        for (std::int64_t t = begin; t < end; ++t)
          if (counts(posteriors(t)[c])) scores_[(t - begin) * labels_ + c] = score(t);
      });
    for (std::int64_t t = begin; t < end; ++t)
      positions[t - begin] = position(t, scores_.data() + (t - begin) * labels_, likeliest_[t - begin]);
  }

 private:
  const double* posteriors(std::int64_t t) const {
    return block_.labels.data() + (t - block_.range.begin) * labels_;
  }
  // Whether a label with this posterior is looked at: any that Q may forbid, else those that add something.
  bool counts(double p) const { return same_ ? p >= rounding_.residue : p > 0; }

  ExpectedScore::PositionScore position(std::int64_t t, const double* scores, int likeliest) const {
    ExpectedScore::PositionScore result;
    const double most = scores[likeliest];
    result.subtracted = most == kNegativeInfinity ? 0 : most;
    const double* const row = posteriors(t);
    for (int c = 0; c < labels_; ++c) {
      if (!counts(row[c])) continue;
      const double score = scores[c] - result.subtracted;
      const auto counted_score = [&] { return counted_.emission(t, c); };
      if (row[c] >= rounding_.residue) {
        result.rest += term(row[c], score, counted_score);
        add_uncertainty(row[c], score, result.uncertain);
      } else if (score == kNegativeInfinity) {
        result.rest += term(row[c], score, counted_score);
      }
    }
    if (has_edges_ || t == 0 || t + 1 == length_) add_edges(t, result);
    return result;
  }

  void add_uncertainty(double p, double score, double& sum) const {
    if (score == kNegativeInfinity) return;
    const double size = std::fabs(score);
    const bool band = p < kResidueBand * rounding_.residue || (size > kMaskDepth && p < kMaskRounding * size);
    sum += ((band ? p : 0) + rounding_.absolute) * size;
  }

  void add_edges(std::int64_t t, ExpectedScore::PositionScore& result) const {
    const std::size_t first = (t - block_.range.begin) * labels_;
    for (int c = 0; c < labels_; ++c) {
      const std::size_t entry = first + c;
      if (const double p = block_.starts[entry]; p > 0) {
        const double score = scored_.start(t, c);
        result.rest += term(p, score, [&] { return counted_.start(t, c); });
        result.uncertain += rounding_.relative * size_of(p, score);
      }
      if (const double p = block_.ends[entry]; p > 0) {
        const double score = scored_.end(t, c);
        result.rest += term(p, score, [&] { return counted_.end(t, c); });
        result.uncertain += rounding_.relative * size_of(p, score);
      }
    }
  }

  int labels_;
  std::int64_t length_;
  bool has_edges_;  // whether positions have start or end scores, not only the sequence's ends
  bool same_;       // P is Q
  PosteriorRounding rounding_;
  const PosteriorBlock& block_;
  CentredScores counted_, scored_;
  std::vector<double> scores_;             // (kRows, C), where counts() says so
  std::array<int, kRows> likeliest_ = {};  // label of each position
};

ExpectedScore::ExpectedScore(const ChainModel& counted, const ChainModel& scored, Precision precision,
                             int threads)
    : counted_(counted),
      scored_(scored),
      rounding_(PosteriorRounding::of(precision)),
      threads_(threads),
      labels_(scored.num_labels),
      first_(labels_, 0.0) {
  if (counted.num_labels != scored.num_labels) throw std::logic_error("two models with different labels");
  if (counted.has_tail() && scored.max_duration > counted.max_duration)
    throw std::logic_error("expected counts with tails do not tell so many durations apart");
  for (int from = 0; from < scored.num_labels; ++from)
    for (int to = 0; to < scored.num_labels; ++to)
      if (scored.transition_at(from, to) == kNegativeInfinity &&
          counted.transition_at(from, to) > kNegativeInfinity)
        forbidden_.push_back({from, to});
}

void ExpectedScore::add(const PosteriorBlock& block, const ScoreWindow& counted, const ScoreWindow& scored) {
  if (block.range.begin == 0) first_.assign(block.starts.begin(), block.starts.begin() + scored_.num_labels);
  find_pairs(block);
  std::atomic<std::int64_t> forbidden = block.range.end;  // the first position whose score is -inf
  const auto note_forbidden = [&forbidden](std::int64_t t) {
    std::int64_t known = forbidden;
    while (t < known && !forbidden.compare_exchange_weak(known, t)) {
    }
  };
  const auto visit = [&](std::int64_t begin, std::int64_t end, PositionSums& sums) {
    ScoredStretch stretch(*this, block, counted, scored);
    std::array<PositionScore, kRows> positions;
    for (std::int64_t from = begin; from < end; from += kRows) {
      const std::int64_t to = std::min(end, from + kRows);
      stretch.run(from, to, positions.data());
      for (std::int64_t t = from; t < to; ++t) {
        const PositionScore& position = positions[wide(t - from)];
        sums.add(position);
        if (position.rest == kNegativeInfinity) note_forbidden(t);
      }
    }
  };
  in_blocks_.add(block.range.begin, block.range.end, threads_, visit,
                 [&](const PositionSums& sums) { whole_blocks_.add(sums); });
  if (forbidden < block.range.end) find_forbidden(block, forbidden, counted, scored);
}

ExpectedScore::PositionSums ExpectedScore::positions() const {
  PositionSums sums = whole_blocks_;
  sums.add(in_blocks_.open());
  return sums;
}

// A transition that P allows has a positive probability wherever its first label can end and its second one
// can start.
void ExpectedScore::find_pairs(const PosteriorBlock& block) {
  if (forbidden_seen_ || forbidden_.empty()) return;
  for (std::int64_t t = block.range.begin; t < block.range.end; ++t) {
    const std::size_t row = (t - block.range.begin) * labels_;
    for (const Pair& pair : forbidden_) {
      const bool seen = t > 0 && last_ends_[pair.from] > 0 && block.starts[row + pair.to] > 0;
      if (seen && !forbidden_seen_) note({ForbiddenPart::Kind::kTransition, t, pair.to, pair.from, 0});
      forbidden_seen_ = forbidden_seen_ || seen;
    }
    const std::span<const double> ends = block.ends.subspan(row, labels_);
    last_ends_.assign(ends.begin(), ends.end());
  }
}

// The leftmost part is kept; at a position the transition, which is before its label.
void ExpectedScore::note(const ForbiddenPart& part) {
  const bool first =
      !first_part_ || part.position < first_part_->position ||
      (part.position == first_part_->position && part.kind == ForbiddenPart::Kind::kTransition);
  if (first) first_part_ = part;
}

// Notes which part of this position has the score -inf.
void ExpectedScore::find_forbidden(const PosteriorBlock& block, std::int64_t position,
                                   const ScoreWindow& counted, const ScoreWindow& scored) {
  if (first_part_ && first_part_->position <= position) return;
  const CentredScores of_p(counted_, counted), of_q(scored_, scored);
  const auto is_forbidden = [](double p, double score, double counted_score) {
    return p > 0 && score == kNegativeInfinity && counted_score > kNegativeInfinity;
  };
  const std::size_t row = (position - block.range.begin) * labels_;
  for (int c = 0; c < scored_.num_labels; ++c) {
    const std::size_t entry = row + c;
    const auto found = [&](ForbiddenPart::Kind kind) { note({kind, position, c, 0, 0}); };
    if (is_forbidden(block.starts[entry], of_q.start(position, c), of_p.start(position, c)))
      return found(ForbiddenPart::Kind::kStart);
    if (is_forbidden(block.labels[entry], of_q.emission(position, c), of_p.emission(position, c)))
      return found(ForbiddenPart::Kind::kEmission);
    if (is_forbidden(block.ends[entry], of_q.end(position, c), of_p.end(position, c)))
      return found(ForbiddenPart::Kind::kEnd);
  }
}

std::optional<ForbiddenPart> ExpectedScore::first_forbidden(const ExpectedCounts& counts) const {
  using Kind = ForbiddenPart::Kind;
  if (first_part_ && first_part_->position == 0) return first_part_;
  for (int c = 0; c < scored_.num_labels; ++c)
    if (term(first_[c], initial_term(scored_, c), [&] { return initial_term(counted_, c); }) ==
        kNegativeInfinity)
      return ForbiddenPart{Kind::kInitial, 0, c, 0, 0};
  if (first_part_) return first_part_;
  for (int k = 1; k <= counted_.max_duration; ++k)
    for (int c = 0; c < scored_.num_labels; ++c)
      if (duration_term(counts, k, c) == kNegativeInfinity) return ForbiddenPart{Kind::kDuration, 0, c, 0, k};
  for (int c = 0; c < std::ssize(counts.tail); ++c)
    if (tail_term(counts, c) == kNegativeInfinity)
      return ForbiddenPart{Kind::kTail, 0, c, 0, std::max(counted_.max_duration, scored_.max_duration)};
  return std::nullopt;
}

double ExpectedScore::minus_expectation(double log_partition, const ExpectedCounts& counts) const {
  const PositionSums sums = positions();
  CompensatedSum sum = sums.subtracted;
  sum.add(-log_partition);
  sum.add(sums.rest);
  add_initial(sum);
  add_transitions(counts, sum);
  add_durations(counts, sum);
  return forbidden_seen_ ? -kNegativeInfinity : -sum.value();
}

double ExpectedScore::uncertainty(const ExpectedCounts& counts) const {
  double sizes = 0;
  for (int from = 0; from < scored_.num_labels; ++from)
    for (int to = 0; to < scored_.num_labels; ++to)
      sizes += size_of(counts.transition[from * labels_ + to], scored_.transition_at(from, to));
  for (int k = 1; k <= counted_.max_duration; ++k)
    for (int c = 0; c < scored_.num_labels; ++c)
      sizes += size_of(counts.duration[(k - 1) * labels_ + c], scored_.duration_score(k, c));
  if (scored_.has_tail())
    for (std::size_t c = 0; c < counts.tail.size(); ++c)
      sizes += size_of(counts.tail[c], scored_.log_tail[c]);
  return positions().uncertain + rounding_.relative * sizes;
}

void ExpectedScore::add_initial(CompensatedSum& sum) const {
  for (int c = 0; c < scored_.num_labels; ++c)
    sum.add(term(first_[c], initial_term(scored_, c), [&] { return initial_term(counted_, c); }));
}

// Under the uniform initial term the counts of P hold a transition at position 0, which is no part of a
// segmentation.
void ExpectedScore::add_transitions(const ExpectedCounts& counts, CompensatedSum& sum) const {
  const bool uniform = counted_.initial == InitialTerm::kUniform;
  for (int to = 0; to < scored_.num_labels; ++to) {
    const double into = uniform ? transitions_into(counted_, to).log() : kNegativeInfinity;
    for (int from = 0; from < scored_.num_labels; ++from) {
      const double score = scored_.transition_at(from, to);
      const double counted_score = counted_.transition_at(from, to);
      // What Q forbids and P allows is decided by find_pairs().
      if (counted_score == kNegativeInfinity || score == kNegativeInfinity) continue;
      const std::size_t entry = from * labels_ + to;
      sum.add(counts.transition[entry] * score);
      if (into > kNegativeInfinity) sum.add(-first_[to] * std::exp(counted_score - into) * score);
    }
  }
}

// Segments that go on into P's tail count with K and once for every position beyond; so do they in Q, whose
// durations are in its tail by then.
void ExpectedScore::add_durations(const ExpectedCounts& counts, CompensatedSum& sum) const {
  for (int k = 1; k <= counted_.max_duration; ++k)
    for (int c = 0; c < scored_.num_labels; ++c) sum.add(duration_term(counts, k, c));
  for (int c = 0; c < std::ssize(counts.tail); ++c) sum.add(tail_term(counts, c));
}

double ExpectedScore::duration_term(const ExpectedCounts& counts, int duration, int label) const {
  const std::size_t entry = (duration - 1) * labels_ + label;
  return term(counts.duration[entry], scored_.duration_score(duration, label),
              [&] { return counted_.duration_score(duration, label); });
}

double ExpectedScore::tail_term(const ExpectedCounts& counts, int label) const {
  const std::size_t c = label;
  return term(counts.tail[c], scored_.has_tail() ? scored_.log_tail[c] : kNegativeInfinity,
              [&] { return counted_.log_tail[c]; });
}

namespace {

constexpr std::int64_t kLeastSlab = 256, kMostSlab = 1 << 16;  // positions

}  // namespace

CrossScore::CrossScore(const ChainModel& counted, const ChainModel& scored, ScoreSource& source,
                       Precision precision, int threads, std::size_t slab_bytes)
    : counted_(counted), scored_(scored), reader_(source), precision_(precision), threads_(threads) {
  const std::size_t row = std::max<std::size_t>(1, source.bytes_per_position());
  slab_ = std::clamp(static_cast<std::int64_t>(slab_bytes / row), kLeastSlab, kMostSlab);
  score_.emplace(counted_, scored_, precision_, threads_);
}

std::size_t CrossScore::bytes(const ScoreSource& source, std::size_t slab_bytes) {
  return std::max(slab_bytes, kLeastSlab * source.bytes_per_position());
}

void CrossScore::add(const PosteriorBlock& block, const ScoreWindow& scores) {
  const std::size_t labels = scored_.num_labels;
  for (std::int64_t begin = block.range.begin; begin < block.range.end; begin += slab_) {
    const std::int64_t end = std::min(block.range.end, begin + slab_);
    const std::size_t first = (begin - block.range.begin) * labels;
    const std::size_t count = (end - begin) * labels;
    PosteriorBlock part;
    part.range = {begin, end};
    part.labels = block.labels.subspan(first, count);
    part.starts = block.starts.subspan(first, count);
    part.ends = block.ends.subspan(first, count);
    score_->add(part, scores, reader_.read(begin, end, buffers_));
  }
}

}  // namespace semicrf
