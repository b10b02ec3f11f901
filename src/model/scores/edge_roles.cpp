#include "model/scores/edge_roles.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/row_view.h"
#include "core/sizes.h"

namespace semicrf {

EdgeRoles::EdgeRoles(const ChainModel& base, CutEdges cut)
    : base_(base), cut_(cut), count_(1 + (cut.left ? 1 : 0) + (cut.right ? 1 : 0)) {
  const int longest = base_.max_duration;
  survival_.resize(base_.duration_bias.size());
  for (int c = 0; c < base_.num_labels; ++c) {
    double sum = base_.duration_score(longest, c);
    if (has_tail(c)) sum += std::log1p(tail_odds(c));
    survival_[entry(longest, c)] = sum;
    for (int k = longest - 1; k >= 1; --k) {
      sum = log_add(base_.duration_score(k, c), sum);
      survival_[entry(k, c)] = sum;
    }
  }
  make_chain();
}

double EdgeRoles::tail_odds(int label) const {
  return has_tail(label) ? 1 / std::expm1(-base_.log_tail[label]) : 0;
}

void EdgeRoles::make_chain() {
  const int labels = base_.num_labels;
  chain_.num_labels = labels * count_;
  const std::size_t width = chain_.num_labels;
  const int first = cut_.left ? 1 : 0;               // the role of first segments; 0: there is none
  const int last = cut_.right ? role_of_last() : 0;  // likewise
  const auto index = [&](int c, int role) { return c * count_ + role; };
  chain_.max_duration = base_.max_duration;
  chain_.initial = cut_.left ? InitialTerm::kNone : base_.initial;
  chain_.transition.assign(width * width, kNegativeInfinity);
  chain_.duration_bias.resize(base_.max_duration * width);
  const RowView transition(chain_.transition, width), durations(chain_.duration_bias, width);
  if (base_.has_tail()) chain_.log_tail.resize(width);
  chain_.twin.resize(width);
  chain_.start_scores.assign(width, 0);
  chain_.end_scores.assign(width, 0);
  for (int from = 0; from < labels; ++from) {
    for (int to = 0; to < labels; ++to) {
      for (const int before : {0, first}) {
        for (const int after : {0, last})
          transition(index(from, before), index(to, after)) = base_.transition_at(from, to);
      }
    }
  }
  for (int c = 0; c < labels; ++c) {
    for (int role = 0; role < count_; ++role) {
      const int i = index(c, role);
      for (int k = 1; k <= base_.max_duration; ++k)
        durations(k - 1, i) = role == 0 ? base_.duration_score(k, c) : survival_[entry(k, c)];
      if (base_.has_tail()) chain_.log_tail[i] = base_.log_tail[c];
      chain_.twin[i] = role == 0 ? -1 : index(c, 0);
      if (!base_.start_scores.empty()) chain_.start_scores[i] = base_.start_scores[c];
      if (!base_.end_scores.empty()) chain_.end_scores[i] = base_.end_scores[c];
      if (cut_.left && role == 0) chain_.start_scores[i] = kNegativeInfinity;
      if (cut_.right && role != last) chain_.end_scores[i] = kNegativeInfinity;
    }
  }
}

int EdgeRoles::with_role(const Segment& segment, std::int64_t length) const {
  int role = 0;
  if (cut_.left && segment.begin == 0) role = 1;
  if (cut_.right && segment.end == length) role = role_of_last();
  return segment.label * count_ + role;
}

double EdgeRoles::survival(std::int64_t k, int label) const {
  const std::int64_t longest = base_.max_duration;
  if (k <= longest) return survival_[entry(k, label)];
  if (!has_tail(label)) return kNegativeInfinity;
  return survival_[entry(longest, label)] + static_cast<double>(k - longest) * base_.log_tail[label];
}

double EdgeRoles::duration_score(const Segment& segment, std::int64_t length) const {
  const bool first = cut_.left && segment.begin == 0, last = cut_.right && segment.end == length;
  const std::int64_t seen = segment.end - segment.begin;
  if (!first && !last) return base_.duration_score(seen, segment.label);
  return survival(seen, segment.label) + (first && last ? whole_piece(length, segment.label) : 0);
}

// both(T) is the sum over k >= T of the survival of k.
double EdgeRoles::whole_piece(std::int64_t length, int label) const {
  const double seen = survival(length, label);
  if (!cut_.left || !cut_.right || seen == kNegativeInfinity) return 0;
  const std::int64_t longest = base_.max_duration;
  const double beyond =
      std::log1p(tail_odds(label));  // log of the sum of survival(k) over k >= K, relative to survival(K)
  if (length > longest) return beyond;
  double sum = survival(longest, label) + beyond;
  for (std::int64_t k = longest - 1; k >= length; --k) sum = log_add(sum, survival(k, label));
  return sum - seen;
}

std::vector<double> EdgeRoles::first_starts(std::int64_t length) const {
  std::vector<double> scores(chain_.num_labels, 0.0);
  for (int c = 0; c < base_.num_labels && cut_.right; ++c)
    scores[c * count_ + role_of_last()] = whole_piece(length, c);
  return scores;
}

double EdgeRoles::of_label(std::span<const double> row, std::size_t label) const {
  const std::span<const double> roles = row.subspan(label * count_, count_);
  double sum = roles[0];
  for (const double more : roles.subspan(1)) sum += more;
  return sum;
}

std::size_t EdgeRoles::folded(std::span<double> rows) const {
  const std::size_t left = rows.size() / count_;
  for (std::size_t i = 0; i < left; ++i) rows[i] = of_label(rows, i);
  return left;
}

ExpectedCounts EdgeRoles::fold(const ExpectedCounts& counts) const {
  ExpectedCounts result;
  result.shape_for(base_);
  const std::size_t labels = base_.num_labels, roles = count_;
  for (std::size_t i = 0; i < counts.transition.size(); ++i) {
    const std::size_t from = i / (labels * roles) / roles, to = i % (labels * roles) / roles;
    result.transition[from * labels + to] += counts.transition[i];
  }
  for (int role = 0; role < count_; ++role) fold_durations(counts, role, result);
  return result;
}

// By B[j] the survival of k <= j has the derivative e^{B[j] - survival(k)}; what comes down from smaller k is
// kept relative to survival(j), so that nothing overflows.
void EdgeRoles::fold_durations(const ExpectedCounts& counts, int role, ExpectedCounts& folded) const {
  const std::size_t labels = base_.num_labels, roles = count_;
  const int longest = base_.max_duration;
  for (int c = 0; c < base_.num_labels; ++c) {
    const std::size_t label = c, with_role = label * roles + role;
    double seen = 0;
    for (int k = 1; k <= longest; ++k) {
      const double count = counts.duration[(k - 1) * labels * roles + with_role];
      double& result = folded.duration[entry(k, c)];
      if (role == 0) {
        result += count;
        continue;
      }
      const double now = survival(k, c);
      if (now == kNegativeInfinity) break;
      seen = count + (k > 1 ? seen * std::exp(now - survival(k - 1, c)) : 0);
      // survival(K) is B[K] and a function of the tail alone.
      result += k == longest ? seen : seen * std::exp(base_.duration_score(k, c) - now);
    }
    if (counts.tail.empty()) continue;
    folded.tail[label] += counts.tail[with_role];
    if (role != 0 && has_tail(c)) folded.tail[label] += seen * tail_odds(c);
  }
}

// both(T) is the sum over k >= T of survival(k) and counts as such, where the folded counts have survival(T).
void EdgeRoles::add_whole_piece(std::int64_t length, std::span<const double> p_whole,
                                ExpectedCounts& folded) const {
  if (!cut_.left || !cut_.right) return;
  const std::int64_t longest = base_.max_duration;
  for (int c = 0; c < base_.num_labels; ++c) {
    const double p = p_whole[c * count_ + role_of_last()];
    const double seen = survival(length, c);
    if (p == 0 || seen == kNegativeInfinity) continue;
    const double odds = tail_odds(c);
    if (length > longest) {
      // (1-q)^-2 q^{T-K} in place of (1-q)^-1 q^{T-K}: once more the odds, by ln q.
      if (odds > 0) folded.tail[c] += p * odds;
      continue;
    }
    const double both = seen + whole_piece(length, c);
    for (std::int64_t j = length; j <= longest; ++j) {
      const double bias = base_.duration_score(j, c);
      if (bias == kNegativeInfinity) continue;
      const auto places = static_cast<double>(j - length + 1);
      double of_both = places * std::exp(bias - both), of_seen = std::exp(bias - seen);
      if (j == longest && odds > 0) {
        // Durations beyond K: (K-T+1) odds + odds (1 + odds) in both(T), odds in survival(T).
        const double more = odds * (1 + odds);  // the derivative of the odds by ln q
        folded.tail[c] += p * ((places * more + more * (1 + 2 * odds)) * std::exp(bias - both) -
                               more * std::exp(bias - seen));
        of_both += (places * odds + more) * std::exp(bias - both);
        of_seen += odds * std::exp(bias - seen);
      }
      folded.duration[entry(j, c)] += p * (of_both - of_seen);
    }
  }
}

namespace {

// Every column `roles` times.
template <class Value>
void repeat_columns(const Value* from, std::size_t count, std::size_t roles, std::vector<Value>& to) {
  to.resize(count * roles);
  Value* out = to.data();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t role = 0; role < roles; ++role) *out++ = from[i];
}

ScoreArray repeated(const ScoreArray& scores, std::size_t count, std::size_t roles, RowBuffer& buffer) {
  if (scores.f32 != nullptr) {
    repeat_columns(scores.f32, count, roles, buffer.f32);
    return {buffer.f32.data(), nullptr};
  }
  repeat_columns(scores.f64, count, roles, buffer.f64);
  return {nullptr, buffer.f64.data()};
}

// Scores of segments' edges, in double; all 0 where `scores` is empty.
ScoreArray edge_scores(const ScoreArray& scores, std::size_t count, std::size_t roles, RowBuffer& buffer) {
  buffer.f64.assign(count * roles, 0);
  for (std::size_t i = 0; i < count * roles && !scores.empty(); ++i) buffer.f64[i] = scores.at(i / roles);
  return {nullptr, buffer.f64.data()};
}

}  // namespace

ScoreWindow with_edge_roles(const ScoreWindow& window, const EdgeRoles& roles, ScoreBuffers& buffers,
                            std::vector<double>& baseline) {
  const std::size_t labels = roles.base().num_labels;
  const std::size_t count = roles.count();
  const std::size_t entries = (window.end - window.begin) * labels;
  ScoreWindow result = window;
  result.sequence = 0;
  result.emissions = repeated(window.emissions, entries, count, buffers.emissions);
  if (!window.start_scores.empty() || roles.has_whole_pieces()) {
    result.start_scores = edge_scores(window.start_scores, entries, count, buffers.start);
    if (window.begin == 0 && roles.cut().left) {
      const std::vector<double> first = roles.first_starts(window.length);
      std::copy(first.begin(), first.end(), buffers.start.f64.begin());
    }
  }
  if (!window.end_scores.empty()) {
    result.end_scores = edge_scores(window.end_scores, entries, count, buffers.end);
    if (roles.cut().right && window.end == window.length)
      for (std::size_t i = 0; i < labels * count; ++i) buffers.end.f64[(entries - labels) * count + i] = 0;
  }
  repeat_columns(window.baseline.data(), window.baseline.size(), count, baseline);
  result.baseline = baseline;
  return result;
}

std::unique_ptr<ScoreSource> with_edge_roles(std::unique_ptr<ScoreSource> source, const EdgeRoles* roles) {
  if (roles == nullptr) return source;
  return std::make_unique<EdgeSource>(std::move(source), *roles);
}

EdgeSource::EdgeSource(std::unique_ptr<ScoreSource> source, const EdgeRoles& roles)
    : source_(std::move(source)), projected_(*source_), roles_(roles) {}

std::size_t EdgeSource::score_bytes() const {
  const std::size_t count = roles_.count();
  const std::size_t starts = roles_.has_whole_pieces() ? roles_.chain().num_labels * sizeof(double) : 0;
  return 2 * count * source_->score_bytes() + starts;  // boundary scores are doubles
}

std::size_t EdgeSource::bytes_per_position() const { return source_->bytes_per_position() + score_bytes(); }

ScoreWindow EdgeSource::read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) {
  return with_edge_roles(projected_.read(begin, end, read_), roles_, buffers, baseline_);
}

}  // namespace semicrf
