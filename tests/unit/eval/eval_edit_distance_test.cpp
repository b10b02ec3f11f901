// Edit distance against the quadratic table.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "eval/metrics/matching.h"
#include "support/catch.h"
#include "support/seeds.h"
#include "support/slow_build.h"

using namespace semicrf;

namespace {

std::int64_t by_table(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::int64_t diagonal = std::exchange(row[0], static_cast<std::int64_t>(i));
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::int64_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::vector<int> random_labels(std::mt19937& random, std::size_t length, int labels) {
  std::vector<int> sequence(length);
  for (int& label : sequence) label = static_cast<int>(random() % static_cast<unsigned>(labels));
  return sequence;
}

// `a` after `edits` random insertions, deletions and substitutions.
std::vector<int> edited(std::mt19937& random, std::vector<int> a, int edits, int labels) {
  for (int i = 0; i < edits; ++i) {
    const auto label = static_cast<int>(random() % static_cast<unsigned>(labels));
    const auto at = static_cast<std::ptrdiff_t>(random() % (a.size() + 1));
    const bool inside = at < static_cast<std::ptrdiff_t>(a.size());
    if (random() % 3 == 0 || !inside) {
      a.insert(a.begin() + at, label);
    } else if (random() % 2 == 0) {
      a.erase(a.begin() + at);
    } else {
      a[static_cast<std::size_t>(at)] = label;
    }
  }
  return a;
}

std::vector<int> letters(const char* text) { return {text, text + std::char_traits<char>::length(text)}; }

}  // namespace

TEST_CASE("edit distance of words") {
  CHECK(edit_distance(letters("kitten"), letters("sitting")) == 3);
  CHECK(edit_distance(letters("ab"), letters("ba")) == 2);
  CHECK(edit_distance(letters("abc"), letters("abc")) == 0);
  CHECK(edit_distance(letters(""), letters("")) == 0);
  CHECK(edit_distance(letters("abcd"), letters("")) == 4);
  CHECK(edit_distance(letters(""), letters("a")) == 1);
  CHECK(edit_distance(letters("aaa"), letters("a")) == 2);
}

TEST_CASE("edit distance of short random sequences, lengths around the word of 64") {
  const std::vector<std::size_t> lengths = {0, 1, 2, 3, 7, 62, 63, 64, 65, 66, 127, 128, 129, 200};
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(testing::test_seed(seed));
    for (const std::size_t n : lengths) {
      const int labels = 1 + static_cast<int>(random() % 5);
      const auto a = random_labels(random, n, labels);
      const auto b = random_labels(random, lengths[random() % lengths.size()], labels);
      INFO("seed " << seed << ", lengths " << a.size() << " and " << b.size() << ", " << labels << " labels");
      const std::int64_t expected = by_table(a, b);
      CHECK(edit_distance(a, b) == expected);
      CHECK(edit_distance(b, a) == expected);
    }
  }
}

TEST_CASE("edit distance of all short sequences of two labels") {
  std::vector<std::vector<int>> all = {{}};
  for (std::size_t i = 0; all[i].size() < 6; ++i)
    for (const int label : {0, 1}) {
      all.push_back(all[i]);
      all.back().push_back(label);
    }
  bool equal = true;
  for (const auto& a : all)
    for (const auto& b : all) equal = equal && edit_distance(a, b) == by_table(a, b);
  CHECK(equal);
}

TEST_CASE("edit distance when the band has to grow, and when it stays narrow") {
  for (unsigned seed = 100; seed < 100 + testing::of_long_test(4); ++seed) {
    std::mt19937 random(testing::test_seed(seed));
    for (const int labels : {2, 8, 300}) {
      const auto a = random_labels(random, 1500, labels);
      const auto near = edited(random, a, 40, labels);
      const auto far = edited(random, a, 900, labels);
      const auto other = random_labels(random, 1100, labels);
      // One end is missing: the path leaves the main diagonal at once.
      const std::vector<int> shifted(a.begin() + 700, a.end());
      for (const auto& b : {near, far, other, shifted}) {
        INFO("seed " << seed << ", " << labels << " labels, lengths " << a.size() << " and " << b.size());
        const std::int64_t expected = by_table(a, b);
        CHECK(edit_distance(a, b) == expected);
        CHECK(edit_distance(b, a) == expected);
      }
    }
  }
}

TEST_CASE("edit distance of sequences whose common part lies far off the diagonal") {
  std::mt19937 random(5);
  for (const std::size_t shift : {100u, 300u, 700u}) {
    const auto common = random_labels(random, 4 * shift, 50);
    std::vector<int> a(shift, 60), b = common;  // shift x 60, common; common, shift x 61
    a.insert(a.end(), common.begin(), common.end());
    b.insert(b.end(), shift, 61);
    INFO("shift " << shift);
    CHECK(edit_distance(a, b) == static_cast<std::int64_t>(2 * shift));
    CHECK(edit_distance(b, a) == static_cast<std::int64_t>(2 * shift));
  }
}

TEST_CASE("edit distance of hundreds of thousands of labels") {
  std::mt19937 random(7);
  const auto a = random_labels(random, 300'000, 25);
  std::vector<int> b = a;
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < b.size(); i += 1000) {  // far apart, labels that do not occur otherwise
    b[i] = 30;
    ++changed;
  }
  b.erase(b.begin() + 500);
  CHECK(edit_distance(a, b) == changed + 1);
  CHECK(edit_distance(b, a) == changed + 1);
}
