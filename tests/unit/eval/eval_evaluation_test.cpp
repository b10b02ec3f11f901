// Stretches, counts and the laying of segments on bins, by hand and against a base by base account.
#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "eval/metrics/evaluation.h"
#include "eval/metrics/stretches.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;

namespace {

std::vector<Segment> random_segments(std::mt19937& random, std::int64_t length, int labels,
                                     unsigned longest) {
  std::vector<Segment> segments;
  for (std::int64_t at = 0; at < length;) {
    const std::int64_t end = std::min(length, at + 1 + static_cast<std::int64_t>(random() % longest));
    if (random() % 5 != 0)
      segments.push_back({at, end, static_cast<int>(random() % static_cast<unsigned>(labels))});
    at = end;
  }
  return segments;
}

// Index of the segment at each base, -1: none.
std::vector<int> owners(const std::vector<Segment>& segments, std::int64_t length) {
  std::vector<int> owner(static_cast<std::size_t>(length), -1);
  for (std::size_t i = 0; i < segments.size(); ++i)
    for (std::int64_t t = segments[i].begin; t < segments[i].end; ++t)
      owner[static_cast<std::size_t>(t)] = static_cast<int>(i);
  return owner;
}

Evaluation evaluate_all(const std::vector<Segment>& truth, const std::vector<Segment>& predicted,
                        const std::vector<BinRange>& wanted, std::size_t labels, std::int64_t tolerance) {
  Evaluator evaluator(labels, tolerance);
  for (const Stretch& stretch : make_stretches(truth, predicted, wanted)) evaluator.add(stretch);
  return evaluator.result();
}

}  // namespace

TEST_CASE("an evaluation by hand") {
  // truth      AAAAAAAAAABBBBBBBBBBAAAAAAAAAA
  // predicted  AAAAAAAAAAAABBBBBBBB..CCCCCAAA
  const std::vector<Segment> truth = {{0, 10, 0}, {10, 20, 1}, {20, 30, 0}};
  const std::vector<Segment> predicted = {{0, 12, 0}, {12, 20, 1}, {22, 27, 2}, {27, 30, 0}};
  const Evaluation found = evaluate_all(truth, predicted, {{0, 30}}, 3, 2);
  CHECK(found.bases == 30);
  CHECK(found.stretches == 1);
  CHECK(found.confusion == std::vector<std::int64_t>{13, 0, 5, 2, 2, 8, 0, 0, 0, 0, 0, 0});
  CHECK(found.missing() == 2);
  const LabelEvaluation sum = found.over_labels();
  CHECK(sum.bases == MatchCounts{30, 28, 21});
  CHECK(*sum.bases.recall() == 0.7);
  CHECK(found.labels[0].bases == MatchCounts{20, 15, 13});
  CHECK(found.labels[2].bases == MatchCounts{0, 5, 0});
  CHECK(*found.label_accuracy(0) == 21.0 / 30);  // 7 bases missed, 2 too many
  CHECK(*found.macro_f1() == Approx((2 * 13.0 / 35 + 2 * 8.0 / 18) / 2));
  CHECK(found.boundary_exact == MatchCounts{2, 3, 0});   // 10, 20 and 12, 22, 27
  CHECK(found.boundary_within == MatchCounts{2, 3, 2});  // 12 and 22
  CHECK(found.labels[1].boundary_within == MatchCounts{1, 1, 1});
  CHECK(found.labels[0].boundary_within == MatchCounts{1, 1, 0});  // 20 and 27
  CHECK(sum.boundary_within == MatchCounts{2, 3, 1});
  CHECK(sum.segment_exact == MatchCounts{3, 4, 0});
  CHECK(sum.segment_overlap == MatchCounts{3, 4, 2});
  CHECK(found.edit_distance == 1);  // A B A, A B C A
  CHECK(*found.label_error_rate() == Approx(1.0 / 3));
}

TEST_CASE("one base, nothing predicted, nothing to find") {
  const std::vector<Segment> one = {{5, 6, 0}};
  const Evaluation right = evaluate_all(one, one, {{0, 100}}, 1, 0);
  CHECK(right.bases == 1);
  CHECK(*right.over_labels().bases.f1() == 1);
  CHECK(*right.over_labels().segment_exact.f1() == 1);
  CHECK_FALSE(right.boundary_exact.f1());
  CHECK(*right.label_error_rate() == 0);
  const Evaluation nothing = evaluate_all(one, {}, {{0, 100}}, 1, 0);
  CHECK(nothing.missing() == 1);
  CHECK(*nothing.over_labels().bases.f1() == 0);
  CHECK_FALSE(nothing.over_labels().bases.precision());
  CHECK(*nothing.label_error_rate() == 1);
  const Evaluation outside = evaluate_all(one, one, {{6, 100}}, 1, 0);
  CHECK(outside.bases == 0);
  CHECK_FALSE(outside.label_accuracy(0));
  CHECK_FALSE(outside.macro_f1());
  CHECK_FALSE(outside.label_error_rate());
}

TEST_CASE("stretches end with the truth and with what is wanted") {
  const std::vector<Segment> truth = {{0, 10, 0}, {10, 15, 1}, {20, 40, 0}};
  const std::vector<Segment> predicted = {{5, 30, 1}, {30, 50, 0}};
  const auto stretches = make_stretches(truth, predicted, std::vector<BinRange>{{2, 25}, {25, 35}, {60, 70}});
  REQUIRE(stretches.size() == 3);
  CHECK(stretches[0].begin == 2);
  CHECK(stretches[0].end == 15);
  CHECK(stretches[0].truth == std::vector<Segment>{{2, 10, 0}, {10, 15, 1}});
  CHECK(stretches[0].predicted == std::vector<Segment>{{5, 15, 1}});
  CHECK(stretches[1].truth == std::vector<Segment>{{20, 25, 0}});
  CHECK(stretches[1].predicted == std::vector<Segment>{{20, 25, 1}});
  CHECK(stretches[2].truth == std::vector<Segment>{{25, 35, 0}});  // ranges that touch stay apart
  CHECK(stretches[2].predicted == std::vector<Segment>{{25, 30, 1}, {30, 35, 0}});
}

TEST_CASE("touching segments of one label are joined") {
  CHECK(merge_touching(std::vector<Segment>{{0, 2, 1}, {2, 3, 1}, {3, 4, 0}, {5, 6, 0}}) ==
        std::vector<Segment>{{0, 3, 1}, {3, 4, 0}, {5, 6, 0}});
}

TEST_CASE("random segmentations: the same counts base by base") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(testing::test_seed(seed));
    const int labels = 1 + static_cast<int>(random() % 4);
    const std::int64_t length = 60;
    const auto truth = random_segments(random, length, labels, 9);
    const auto predicted = random_segments(random, length, labels, 9);
    const auto middle = static_cast<std::int64_t>(10 + random() % 40);
    const std::vector<BinRange> wanted = {{3, middle}, {middle, 55}};
    const auto tolerance = static_cast<std::int64_t>(random() % 4);
    const Evaluation found =
        evaluate_all(truth, predicted, wanted, static_cast<std::size_t>(labels), tolerance);

    const auto a = owners(truth, length), b = owners(predicted, length);
    std::vector<std::int64_t> confusion(static_cast<std::size_t>(labels * (labels + 1)));
    const auto count = [&](int from, int to) -> std::int64_t& {
      return confusion[static_cast<std::size_t>(from) * static_cast<std::size_t>(labels + 1) +
                       static_cast<std::size_t>(to)];
    };
    std::int64_t bases = 0, stretches = 0, true_segments = 0, boundaries = 0, exact = 0,
                 predicted_boundaries = 0;
    for (std::int64_t t = 3; t < 55; ++t) {
      const auto i = static_cast<std::size_t>(t);
      if (a[i] < 0) continue;
      ++bases;
      const int from = truth[static_cast<std::size_t>(a[i])].label;
      const int to = b[i] < 0 ? labels : predicted[static_cast<std::size_t>(b[i])].label;
      ++count(from, to);
      const bool first = t == 3 || t == middle || a[i - 1] < 0;
      stretches += first ? 1 : 0;
      const bool starts = first || a[i - 1] != a[i];
      true_segments += starts ? 1 : 0;
      const bool is_boundary = starts && !first;
      const bool found_here = !first && b[i] >= 0 && b[i - 1] != b[i];
      boundaries += is_boundary ? 1 : 0;
      predicted_boundaries += found_here ? 1 : 0;
      exact += is_boundary && found_here ? 1 : 0;
    }
    REQUIRE(found.bases == bases);
    REQUIRE(found.stretches == stretches);
    REQUIRE(found.confusion == confusion);
    REQUIRE(found.over_labels().segment_exact.truth == true_segments);
    REQUIRE(found.boundary_exact == MatchCounts{boundaries, predicted_boundaries, exact});
    REQUIRE(found.boundary_within.matched >= exact);
    REQUIRE(found.over_labels().boundary_within.matched <= found.boundary_within.matched);
    for (int label = 0; label < labels; ++label) {
      std::int64_t in_truth = 0, in_predicted = 0;
      for (int other = 0; other <= labels; ++other) {
        in_truth += count(label, other);
        if (other < labels) in_predicted += count(other, label);
      }
      REQUIRE(found.labels[static_cast<std::size_t>(label)].bases ==
              MatchCounts{in_truth, in_predicted, count(label, label)});
    }
    // A perfect prediction has no error.
    const Evaluation self = evaluate_all(truth, truth, wanted, static_cast<std::size_t>(labels), tolerance);
    REQUIRE(self.edit_distance == 0);
    REQUIRE(self.missing() == 0);
    REQUIRE(self.over_labels().segment_exact.matched == true_segments);
    REQUIRE(self.over_labels().segment_overlap.matched == true_segments);
    REQUIRE(self.boundary_within.matched == boundaries);
  }
}

TEST_CASE("segments on bins by hand") {
  // Bins of 3 from base 3 on; the last one, [12, 14), is short.
  const BaseGrid grid{3, 3, 14};
  const auto binned =
      bin_segments(std::vector<Segment>{{0, 7, 0}, {7, 9, 1}, {9, 10, 2}, {10, 12, 0}, {13, 20, 1}}, grid);
  // [3,6) 0; [6,9) 1 has two of three; [9,12) 0 has two of three; [12,14): one of two is half.
  CHECK(binned.segments == std::vector<Segment>{{0, 1, 0}, {1, 2, 1}, {2, 3, 0}, {3, 4, 1}});
  CHECK(binned.moved == 5);
  CHECK(binned.lost == 1);
  const auto aligned = bin_segments(std::vector<Segment>{{3, 9, 1}, {9, 14, 0}}, grid);
  CHECK(aligned.segments == std::vector<Segment>{{0, 2, 1}, {2, 4, 0}});
  CHECK(aligned.moved == 0);
  CHECK(aligned.lost == 0);
  CHECK(bin_segments(std::vector<Segment>{{3, 4, 0}}, grid).segments.empty());  // less than half
  // The label with most bases wins, then its largest segment.
  CHECK(
      bin_segments(std::vector<Segment>{{0, 2, 0}, {2, 5, 1}, {5, 7, 0}, {7, 10, 2}}, {0, 10, 10}).segments ==
      std::vector<Segment>{{0, 1, 0}});
  CHECK(bin_segments(std::vector<Segment>{{0, 5, 1}, {5, 10, 0}}, {0, 10, 10}).segments ==
        std::vector<Segment>{{0, 1, 1}});  // a tie: the left one
}

TEST_CASE("random segments on bins: the same bin by bin") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(testing::test_seed(seed));
    const auto segments = random_segments(random, 80, 3, 12);
    const auto bin = static_cast<std::int64_t>(1 + random() % 7);
    const BaseGrid grid{bin * static_cast<std::int64_t>(random() % 3), bin,
                        70 + static_cast<std::int64_t>(random() % 20)};
    const BinnedSegments found = bin_segments(segments, grid);
    const auto owner = owners(segments, 100);
    std::vector<int> expected;  // segment of each bin
    for (std::int64_t begin = grid.origin; begin < grid.limit; begin += bin) {
      const std::int64_t end = std::min(grid.limit, begin + bin);
      std::map<int, std::int64_t> by_segment, by_label;
      std::int64_t covered = 0;
      for (std::int64_t t = begin; t < end; ++t) {
        const int index = owner[static_cast<std::size_t>(t)];
        if (index < 0) continue;
        ++covered;
        ++by_segment[index];
        ++by_label[segments[static_cast<std::size_t>(index)].label];
      }
      int best = -1;
      std::int64_t most_label = 0, most = 0;
      for (const auto& [index, bases] : by_segment) {  // left to right
        const int label = segments[static_cast<std::size_t>(index)].label;
        const bool same = best >= 0 && segments[static_cast<std::size_t>(best)].label == label;
        if (by_label[label] > most_label || (same && bases > most)) {
          best = index;
          most_label = by_label[label];
          most = bases;
        }
      }
      expected.push_back(2 * covered >= end - begin ? best : -1);
    }
    std::vector<int> labels_found(expected.size(), -1), labels_expected;
    for (const int index : expected)
      labels_expected.push_back(index < 0 ? -1 : segments[static_cast<std::size_t>(index)].label);
    std::int64_t at = 0;
    for (const Segment& segment : found.segments) {
      REQUIRE(segment.begin >= at);
      at = segment.end;
      for (std::int64_t t = segment.begin; t < segment.end; ++t)
        labels_found[static_cast<std::size_t>(t)] = segment.label;
    }
    REQUIRE(labels_found == labels_expected);
    std::int64_t runs = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      runs += expected[i] >= 0 && (i == 0 || expected[i - 1] != expected[i]) ? 1 : 0;
    REQUIRE(static_cast<std::int64_t>(found.segments.size()) == runs);
  }
}
