// The lattice against the enumeration of all its segmentations: log Z, marginals, best path; windows, both
// directions; laws with tables, tails and remainders, barriers, signals.
#include "genes/lattice/lattice.h"

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "genes/lattice/best_paths.h"
#include "genes/lattice/lattice_inference.h"
#include "genes/lattice/recent_windows.h"
#include "support/catch.h"
#include "support/seeds.h"

namespace semicrf {
namespace {

// A sequence that lies in memory whole.
class StoredSource : public LatticeSource {
 public:
  explicit StoredSource(LatticeWindow whole) : whole_(std::move(whole)) {}
  std::int64_t length() const override { return whole_.end; }
  void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const override {
    const std::size_t columns = whole_.content.size() / static_cast<std::size_t>(whole_.end);
    window = {};
    window.begin = begin, window.end = end;
    window.content.assign(
        whole_.content.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(begin) * columns),
        whole_.content.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(end) * columns));
    for (LatticeWindow::Event event : whole_.events) {
      if (event.boundary < begin || event.boundary >= end) continue;
      const std::size_t count = static_cast<std::size_t>(std::popcount(event.signals)), first = event.first;
      event.first = window.scores.size();
      for (std::size_t i = 0; i < count; ++i) window.scores.push_back(whole_.scores[first + i]);
      window.events.push_back(event);
    }
    for (const LatticeWindow::Place& place : whole_.places)
      if (place.at >= begin - kBarrierReach && place.at < end + kBarrierReach) window.places.push_back(place);
  }
  const LatticeWindow& whole() const { return whole_; }

 private:
  LatticeWindow whole_;
};

struct Problem {
  Lattice lattice;
  LatticeWindow sequence;
};

// The last label begins (or, gone through from its end, ends) as the first one does, but for what `kept`
// says.
void make_twin(Lattice& lattice, Direction direction, int kept) {
  const bool forward = direction == Direction::kForward;
  const int last = static_cast<int>(lattice.labels.size()) - 1;
  LatticeLabel &one = lattice.labels.front(), &twin = lattice.labels.back();
  const LatticeLabel before = twin;
  twin.column = one.column, twin.law = one.law, twin.modulus = one.modulus, twin.barriers = one.barriers;
  if (kept == 0) twin.column = before.column;
  if (kept == 1) twin.law = before.law;
  if (kept == 2) twin.modulus = before.modulus;
  if (kept == 3) twin.barriers = before.barriers;
  twin.residue = last % twin.modulus;
  if (forward && kept != 4) twin.initial = one.initial;
  if (forward && kept != 5) twin.start_signal = one.start_signal;
  if (!forward && kept != 4) twin.final = one.final;
  if (!forward && kept != 5) twin.end_signal = one.end_signal;
  if (kept == 6) return;
  std::erase_if(lattice.edges,
                [&](const LatticeEdge& edge) { return (forward ? edge.to : edge.from) == last; });
  for (std::size_t e = 0, count = lattice.edges.size(); e < count; ++e) {
    LatticeEdge edge = lattice.edges[e];
    if ((forward ? edge.to : edge.from) != 0) continue;
    (forward ? edge.to : edge.from) = last;
    lattice.edges.push_back(edge);
  }
}

Problem random_problem(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::normal_distribution<double> normal;
  Problem problem;
  Lattice& lattice = problem.lattice;
  lattice.columns = 1 + below(3);
  lattice.signals = 1 + below(4);
  lattice.barriers = 2;
  for (int l = 0; l < 3; ++l) {
    LatticeLaw law;
    const int longest = 1 + below(6);
    for (int k = 0; k < longest; ++k) law.table.push_back(below(4) == 0 ? kNegativeInfinity : normal(random));
    if (below(2) == 0) law.log_tail = -0.1 - std::abs(normal(random));
    lattice.laws.push_back(law);
  }
  const int labels = 2 + below(4);
  for (int c = 0; c < labels; ++c) {
    LatticeLabel label;
    label.name = std::to_string(c);
    label.column = below(lattice.columns + 1) - 1;
    label.start_signal = below(lattice.signals + 1) - 1;
    label.end_signal = below(lattice.signals + 1) - 1;
    label.law = below(3);
    for (int n = below(3); n > 0; --n) {
      const int last_begin = below(4) - 1;
      label.barriers.push_back({below(2), last_begin, std::min(4, last_begin + 1 + below(3))});
    }
    label.modulus = below(2) == 0 ? 3 : 1;
    label.residue = below(label.modulus);
    if (below(2) == 0) label.initial = normal(random);
    if (below(2) == 0) label.final = normal(random);
    lattice.labels.push_back(label);
  }
  for (int a = 0; a < labels; ++a)
    for (int b = 0; b < labels; ++b)
      if (below(3) != 0) lattice.edges.push_back({a, b, normal(random)});
  switch (below(3)) {
    case 0:
      make_twin(lattice, Direction::kForward, below(14));
      break;
    case 1:
      make_twin(lattice, Direction::kBackward, below(14));
      break;
    default:  // sums over edges differ by what they go to alone
      for (LatticeEdge& edge : lattice.edges) edge.score = 0.25 * (edge.from + edge.to);
  }
  lattice.cut_begin = below(3) == 0, lattice.cut_end = below(3) == 0;
  for (const LatticeLaw& law : lattice.laws) {
    lattice.cut_laws.push_back(cut_law(law, 1));
    lattice.twice_cut_laws.push_back(cut_law(law, 2));
  }
  LatticeWindow& sequence = problem.sequence;
  sequence.end = 1 + below(9);
  for (std::int64_t t = 0; t < sequence.end; ++t) {
    for (int c = 0; c < lattice.columns; ++c) sequence.content.push_back(static_cast<float>(normal(random)));
    LatticeWindow::Event event{t, 0, sequence.scores.size()};
    for (int s = 0; s < lattice.signals; ++s) {
      if (below(2) != 0) continue;
      event.signals |= std::uint64_t{1} << s;
      sequence.scores.push_back(static_cast<float>(normal(random)));
    }
    // Edges that need no signal are possible everywhere.
    sequence.events.push_back(event);
    if (below(4) == 0) sequence.places.push_back({t, below(lattice.barriers)});
  }
  return problem;
}

double law_score(const Lattice& lattice, const LatticeLabel& label, std::int64_t duration) {
  const LatticeLaw& law = lattice.laws[static_cast<std::size_t>(label.law)];
  const auto longest = static_cast<std::int64_t>(law.table.size());
  if (duration % label.modulus != label.residue) return kNegativeInfinity;
  if (duration <= longest) return law.table[static_cast<std::size_t>(duration - 1)];
  std::int64_t from = longest;
  while (from > 0 && from % label.modulus != label.residue) --from;
  if (from == 0 || law.log_tail == kNegativeInfinity) return kNegativeInfinity;
  return law.table[static_cast<std::size_t>(from - 1)] + static_cast<double>(duration - from) * law.log_tail;
}

// The sum over what a segment that is cut at `ends` ends may have been.
double cut_score(const LatticeLaw& law, std::int64_t duration, int ends) {
  const auto longest = static_cast<std::int64_t>(law.table.size());
  double sum = 0;
  for (std::int64_t k = duration; k < duration + 600; ++k) {
    const double tail = k > longest ? static_cast<double>(k - longest) * law.log_tail : 0;
    const double score = law.table[static_cast<std::size_t>(std::min(k, longest) - 1)] + tail;
    sum += std::exp(score) * static_cast<double>(ends == 1 ? 1 : k - duration + 1);
  }
  return std::log(sum);
}

// The score of a signal at a boundary; -inf where it does not stand there.
double signal_score(const LatticeWindow& sequence, std::int64_t boundary, int signal) {
  if (signal < 0) return 0;
  const LatticeWindow::Event& event = sequence.events[static_cast<std::size_t>(boundary)];
  if ((event.signals >> signal & 1) == 0) return kNegativeInfinity;
  const auto before = std::popcount(event.signals & ((std::uint64_t{1} << signal) - 1));
  return sequence.scores[event.first + static_cast<std::size_t>(before)];
}

struct Enumerated {
  double log_z = kNegativeInfinity, best = kNegativeInfinity;
  std::vector<double> scores;                                   // of all segmentations
  std::map<std::pair<std::int64_t, int>, double> starts, ends;  // log sums over segmentations
};

class Enumerator {
 public:
  explicit Enumerator(const Problem& problem) : problem_(problem) {}
  Enumerated enumerate() {
    extend(0, 0);
    return std::move(out_);
  }

  // The score of a path from the definition.
  double rescored(const std::vector<LatticeSegment>& path) {
    double score = 0;
    path_.clear();
    for (const LatticeSegment& one : path) {
      score += segment(one.begin, one.end, one.label);
      path_.push_back(one);
    }
    path_.clear();
    return score;
  }

 private:
  void extend(std::int64_t from, double score) {
    if (from == problem_.sequence.end) return finish(score);
    for (int c = 0; c < static_cast<int>(problem_.lattice.labels.size()); ++c)
      for (std::int64_t to = from + 1; to <= problem_.sequence.end; ++to) {
        const double next = score + segment(from, to, c);
        if (next == kNegativeInfinity) continue;
        path_.push_back({from, to, c});
        extend(to, next);
        path_.pop_back();
      }
  }
  double segment(std::int64_t from, std::int64_t to, int c) const {
    const Lattice& lattice = problem_.lattice;
    const LatticeLabel& label = lattice.labels[static_cast<std::size_t>(c)];
    const int cuts =
        (from == 0 && lattice.cut_begin ? 1 : 0) + (to == problem_.sequence.end && lattice.cut_end ? 1 : 0);
    double score = cuts == 0 ? law_score(lattice, label, to - from)
                             : cut_score(lattice.laws[static_cast<std::size_t>(label.law)], to - from, cuts);
    if (score == kNegativeInfinity) return score;
    if (label.column >= 0) {
      for (std::int64_t t = from; t < to; ++t)
        score += static_cast<double>(
            problem_.sequence.content[static_cast<std::size_t>(t * lattice.columns + label.column)]);
    }
    for (const LatticeWindow::Place& place : problem_.sequence.places)
      for (const LatticeBarrier& barrier : label.barriers)
        if (barrier.kind == place.kind && from <= place.at + barrier.last_begin &&
            to >= place.at + barrier.first_end)
          return kNegativeInfinity;
    if (to == problem_.sequence.end) score += label.final;
    if (from == 0) return score + label.initial;
    const LatticeSegment& before = path_.back();
    double edges = kNegativeInfinity;
    for (const LatticeEdge& edge : lattice.edges)
      if (edge.from == before.label && edge.to == c) edges = log_add(edges, edge.score);
    return score + edges + signal_score(problem_.sequence, from, label.start_signal) +
           signal_score(problem_.sequence, from,
                        lattice.labels[static_cast<std::size_t>(before.label)].end_signal);
  }
  void finish(double score) {
    if (score == kNegativeInfinity) return;
    out_.log_z = log_add(out_.log_z, score);
    if (score > out_.best) out_.best = score;
    out_.scores.push_back(score);
    for (const LatticeSegment& one : path_) {
      add(out_.starts, {one.begin, one.label}, score);
      add(out_.ends, {one.end, one.label}, score);
    }
  }
  static void add(std::map<std::pair<std::int64_t, int>, double>& sums, std::pair<std::int64_t, int> key,
                  double score) {
    const auto [entry, is_new] = sums.try_emplace(key, kNegativeInfinity);
    entry->second = log_add(entry->second, score);
  }
  const Problem& problem_;
  std::vector<LatticeSegment> path_;
  Enumerated out_;
};

// Marginals of inner boundaries, compared with the sums of the enumeration.
void compare_marginals(const Enumerated& truth, const LatticeMessages& messages, double log_z,
                       std::set<std::pair<std::int64_t, int>>& starts_seen) {
  for (std::size_t i = 0; i < messages.forward->events.size(); ++i) {
    const LatticeNodes::Event& there = messages.forward->events[i];
    const LatticeNodes::Event& mirrored = messages.backward->events[messages.mirrored(i)];
    REQUIRE(there.boundary == mirrored.boundary);
    const auto probability = [&](const auto& sums, int label) {
      const auto found = sums.find({there.boundary, label});
      return found == sums.end() ? 0.0 : std::exp(found->second - truth.log_z);
    };
    for (std::size_t n = 0; n < there.step->endings.size(); ++n) {
      const int label = there.step->endings[n].label;
      REQUIRE(mirrored.step->beginnings[n].label == label);
      const double p = std::exp(messages.forward->endings[there.first_ending + n] +
                                messages.backward->beginnings[mirrored.first_beginning + n] - log_z);
      CHECK(std::abs(p - probability(truth.ends, label)) < 1e-10);
    }
    for (std::size_t n = 0; n < there.step->beginnings.size(); ++n) {
      const int label = there.step->beginnings[n].label;
      REQUIRE(mirrored.step->endings[n].label == label);
      const double p = std::exp(messages.forward->beginnings[there.first_beginning + n] +
                                messages.backward->endings[mirrored.first_ending + n] - log_z);
      CHECK(std::abs(p - probability(truth.starts, label)) < 1e-10);
      starts_seen.emplace(there.boundary, label);
    }
  }
}

// A law's score of a duration, and the sum over all starts of a label, as they are defined.
TEST_CASE("sums over durations are those of their definition, whatever the size of the values") {
  std::mt19937 random(testing::test_seed(4));
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::normal_distribution<double> normal;
  for (int n = 0; n < 300; ++n) {
    CAPTURE(n);
    LatticeLaw law;
    for (int k = 0; k < 1 + below(6); ++k)
      law.table.push_back(below(4) == 0 ? kNegativeInfinity : normal(random));
    if (below(4) > 0) law.log_tail = -std::exp(normal(random));
    LatticeLabel label;
    label.modulus = 1 + below(3);
    label.residue = below(label.modulus);
    const LinearLaw linear = linear_law(law, 200);
    const DurationRule rule = duration_rule(law, label);
    OpenSegments open(law, linear, nullptr, nullptr, label.modulus, rule.tail_score > kNegativeInfinity,
                      LatticeSemiring::kLog);
    const double size = std::pow(10.0, below(4));
    std::vector<std::pair<std::int64_t, double>> starts;
    for (std::int64_t boundary = 0; boundary < 60; ++boundary) {
      double sum = kNegativeInfinity, mean = 0;
      for (const auto& [start, value] : starts) {
        const double score =
            duration_score(law.table, law.log_tail, label.modulus, label.residue, boundary - start);
        if (score > kNegativeInfinity) sum = log_add(sum, value + score);
      }
      for (const auto& [start, value] : starts) {
        const double score =
            duration_score(law.table, law.log_tail, label.modulus, label.residue, boundary - start);
        if (score > kNegativeInfinity) mean += std::exp(value + score - sum) * score;
      }
      const ClosedSegments closed = open.close(boundary, rule, ClosingDetail::kAll);
      CAPTURE(boundary, size, sum, closed.value);
      const double tolerance = 1e-12 * (1 + std::abs(sum));
      REQUIRE((closed.value == sum || std::abs(closed.value - sum) < tolerance));
      if (sum > kNegativeInfinity)
        REQUIRE(std::abs(closed.duration_score - mean) < 1e-9 * (1 + std::abs(mean)));
      if (below(3) == 0) continue;
      starts.emplace_back(boundary, size * normal(random));
      open.open(boundary, starts.back().second);
    }
  }
}

TEST_CASE("a lattice equals the enumeration of its segmentations") {
  std::mt19937 random(testing::test_seed(1));
  int possible = 0, shared = 0;
  for (int n = 0; n < 400; ++n) {
    CAPTURE(n);
    const Problem problem = random_problem(random);
    for (const Direction direction : {Direction::kForward, Direction::kBackward})
      if (labels_that_begin_alike(problem.lattice, direction).back() == 0) ++shared;
    const StoredSource stored(problem.sequence);
    const RecentWindows source(stored, 2);
    const Enumerated truth = Enumerator(problem).enumerate();
    std::vector<LatticeSegment> first_path;
    for (const std::int64_t window : {1, 2, 3, 5, 100}) {
      CAPTURE(window);
      const LatticePath path = best_path(problem.lattice, source, window);
      std::mutex mutex;
      std::set<std::pair<std::int64_t, int>> starts_seen;
      const LatticeMarginals marginals = visit_marginals(
          problem.lattice, source, 2,
          [&](std::size_t, double log_z, const LatticeMessages& messages) {
            const std::lock_guard lock(mutex);
            compare_marginals(truth, messages, log_z, starts_seen);
          },
          window);
      for (const int threads : {1, 2}) {
        const LatticeDecoding decoding = decode_lattice(problem.lattice, source, threads, window);
        const PathMessages& along = decoding.messages;
        CHECK(decoding.path.score == path.score);
        REQUIRE(decoding.path.segments.size() == path.segments.size());
        REQUIRE((along.log_z == kNegativeInfinity || std::abs(along.log_z - truth.log_z) < 1e-10));
        REQUIRE((along.log_z == kNegativeInfinity) == (truth.log_z == kNegativeInfinity));
        CHECK((along.log_z == along.log_z_backward || std::abs(along.log_z_backward - along.log_z) < 1e-10));
        if (truth.log_z == kNegativeInfinity) continue;
        REQUIRE(along.forward.events.size() + 1 == path.segments.size());
        REQUIRE(along.backward.events.size() + 1 == path.segments.size());
        for (std::size_t i = 1; i < path.segments.size(); ++i) {
          CHECK(decoding.path.segments[i].begin == path.segments[i].begin);
          CHECK(decoding.path.segments[i].label == path.segments[i].label);
          CHECK(along.forward.events[i - 1].boundary == path.segments[i].begin);
        }
        std::set<std::pair<std::int64_t, int>> seen;
        compare_marginals(truth, {&stored.whole(), &along.forward, &along.backward}, along.log_z, seen);
      }
      if (truth.log_z == kNegativeInfinity) {
        CHECK(path.segments.empty());
        CHECK(marginals.log_z == kNegativeInfinity);
        CHECK(marginals.log_z_backward == kNegativeInfinity);
        continue;
      }
      CHECK(std::abs(marginals.log_z - truth.log_z) < 1e-10);
      CHECK(std::abs(marginals.log_z_backward - truth.log_z) < 1e-10);
      CHECK(std::abs(path.score - truth.best) < 1e-10);
      // Of equal paths any may be the best, but the same one in all windows.
      CHECK(std::abs(Enumerator(problem).rescored(path.segments) - truth.best) < 1e-10);
      if (first_path.empty()) first_path = path.segments;
      REQUIRE(path.segments.size() == first_path.size());
      for (std::size_t i = 0; i < path.segments.size(); ++i) {
        CHECK(path.segments[i].begin == first_path[i].begin);
        CHECK(path.segments[i].label == first_path[i].label);
      }
      // Every start that a segmentation has was looked at.
      for (const auto& [key, sum] : truth.starts)
        if (key.first > 0) CHECK(starts_seen.contains(key));
    }
    possible += truth.log_z > kNegativeInfinity ? 1 : 0;
    std::vector<double> scores = truth.scores;
    std::sort(scores.rbegin(), scores.rend());
    const std::vector<LatticePath> best = best_paths(problem.lattice, stored, 7);
    REQUIRE(best.size() == std::min<std::size_t>(7, scores.size()));
    std::set<std::vector<std::tuple<std::int64_t, std::int64_t, int>>> different;
    for (std::size_t i = 0; i < best.size(); ++i) {
      CHECK(std::abs(best[i].score - scores[i]) < 1e-10);
      CHECK(std::abs(Enumerator(problem).rescored(best[i].segments) - scores[i]) < 1e-10);
      std::vector<std::tuple<std::int64_t, std::int64_t, int>> path;
      for (const LatticeSegment& one : best[i].segments) path.emplace_back(one.begin, one.end, one.label);
      different.insert(path);
    }
    CHECK(different.size() == best.size());
  }
  CHECK(possible > 100);
  CHECK(shared > 100);
}

}  // namespace
}  // namespace semicrf
