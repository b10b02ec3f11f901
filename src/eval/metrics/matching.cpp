#include "eval/metrics/matching.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "eval/metrics/text_table.h"

namespace semicrf {
namespace {

bool shares_half(const Segment& a, const Segment& b) {
  const std::int64_t shared = std::min(a.end, b.end) - std::max(a.begin, b.begin);
  const std::int64_t united =
      std::max(a.end, b.end) - std::min(a.begin, b.begin);  // one run when they overlap
  return shared > 0 && shared >= united - shared;
}

// Myers' bit-parallel recursion (J. ACM 46, 1999) in words of 64 rows, within a band around the diagonal
// whose width doubles until the distance fits (Ukkonen 1985).
//
// Rows are the elements of `pattern`, columns those of `text`. A word holds the differences of one column
// down its 64 rows as two bit masks, +1 and -1. What lies outside the band enters as +1 per step, which never
// is too small: the result is at least the distance, and it is the distance when that is no larger than the
// band allows.
using Word = std::uint64_t;
constexpr std::int64_t kRows = 64;  // rows of a word
constexpr std::int64_t kFirstBand = 256;

// The rows at which each label stands: one mask per word that holds any, by label, then by word.
class RowMasks {
 public:
  struct Entry {
    std::int64_t word;
    Word rows;
  };

  RowMasks(std::span<const int> pattern, int num_labels) {
    std::vector<std::size_t> last(num_labels,
                                  0);  // word of the newest entry, plus 1
    begins_.assign(num_labels + 1, 0);
    const auto visit = [&](auto&& new_entry, auto&& row) {
      std::fill(last.begin(), last.end(), 0);
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        const std::size_t label = pattern[i];
        const std::size_t word = i / kRows;
        if (last[label] != word + 1) new_entry(label, word);
        last[label] = word + 1;
        row(label, i % kRows);
      }
    };
    visit([&](std::size_t label, std::size_t) { ++begins_[label + 1]; }, [](std::size_t, std::size_t) {});
    for (std::size_t label = 0; label + 1 < begins_.size(); ++label) begins_[label + 1] += begins_[label];
    entries_.resize(begins_.back());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    visit(
        [&](std::size_t label, std::size_t word) {
          entries_[next[label]++] = {static_cast<std::int64_t>(word), 0};
        },
        [&](std::size_t label, std::size_t row) { entries_[next[label] - 1].rows |= Word{1} << row; });
  }

  std::size_t begin(int label) const { return begins_[label]; }
  std::size_t end(int label) const { return begins_[label + 1]; }
  const Entry& entry(std::size_t index) const { return entries_[index]; }

 private:
  std::vector<std::size_t> begins_;  // (labels + 1)
  std::vector<Entry> entries_;
};

// One word of a column: bit i set in `up` (`down`): row i is 1 more (less) than the row above it.
struct Column {
  Word up = ~Word{0};
  Word down = 0;
};

// Moves a word to the next column. `equal`: rows whose label is that of the column; `top`: difference to the
// last column along the row above the word. Returns the same difference along its last row.
int advance(Column& column, Word equal, int top) {
  const Word top_down = top < 0 ? 1 : 0;
  const Word vertical = equal | column.down;
  equal |= top_down;
  const Word diagonal = (((equal & column.up) + column.up) ^ column.up) | equal;
  Word across_up = column.down | ~(diagonal | column.up);
  Word across_down = column.up & diagonal;
  const int bottom =
      static_cast<int>(across_up >> (kRows - 1)) - static_cast<int>(across_down >> (kRows - 1));
  across_up = (across_up << 1) | (top > 0 ? 1 : 0);
  across_down = (across_down << 1) | top_down;
  column.up = across_down | ~(vertical | across_up);
  column.down = across_up & vertical;
  return bottom;
}

// The distance when it is at most `limit` (>= the difference of the lengths), else something larger than it.
std::int64_t banded_distance(std::span<const int> pattern, std::span<const int> text, const RowMasks& masks,
                             int num_labels, std::int64_t limit) {
  const auto m = std::ssize(pattern);
  const auto n = std::ssize(text);
  // A path of at most `limit` steps off the diagonals stays on row - column in [low, high].
  const std::int64_t slack = (limit - std::abs(m - n)) / 2;
  const std::int64_t low = std::min<std::int64_t>(0, m - n) - slack;
  const std::int64_t high = std::max<std::int64_t>(0, m - n) + slack;

  std::vector<Column> words((m + kRows - 1) / kRows);
  std::vector<std::size_t> next(num_labels);  // first entry of a label within the band
  for (int label = 0; label < num_labels; ++label) next[label] = masks.begin(label);
  std::int64_t last = (std::min(m, 1 + high) - 1) / kRows;
  std::int64_t bottom = (last + 1) * kRows;  // the value in the last row of word `last`
  for (std::int64_t j = 1; j <= n; ++j) {
    const int label = text[j - 1];
    const std::int64_t first = (std::max<std::int64_t>(1, j + low) - 1) / kRows;
    const std::int64_t new_last = (std::min(m, j + high) - 1) / kRows;
    bottom += (new_last - last) * kRows;
    last = new_last;
    std::size_t& at = next[label];
    const std::size_t end = masks.end(label);
    while (at < end && masks.entry(at).word < first) ++at;
    std::size_t entry = at;
    int carry = 1;
    for (std::int64_t word = first; word <= last; ++word) {
      Word equal = 0;
      if (entry < end && masks.entry(entry).word == word) equal = masks.entry(entry++).rows;
      carry = advance(words[word], equal, carry);
    }
    bottom += carry;
  }
  // From the last row of the last word up to row m.
  const Column& tail = words.back();
  for (std::int64_t row = m; row < std::ssize(words) * kRows; ++row) {
    const auto bit = static_cast<unsigned>(row % kRows);
    bottom -= static_cast<std::int64_t>(tail.up >> bit & 1) - static_cast<std::int64_t>(tail.down >> bit & 1);
  }
  return bottom;
}

}  // namespace

std::optional<double> MatchCounts::precision() const { return share_of(matched, predicted); }
std::optional<double> MatchCounts::recall() const { return share_of(matched, truth); }
std::optional<double> MatchCounts::f1() const { return share_of(2 * matched, truth + predicted); }

const StatisticList<MatchCounts>& match_statistics() {
  using enum StatisticUnit;
  using M = MatchCounts;
  static const auto list =
      in_format<M>("%.4f", {
                               {"truth", "truth", kCount, "what the truth has", &M::truth},
                               {"predicted", "predicted", kCount, "what the prediction has", &M::predicted},
                               {"matched", "matched", kCount, "what both agree on", &M::matched},
                               {"precision", "precision", kNumber, "matched / predicted", &M::precision},
                               {"recall", "recall", kNumber, "matched / truth", &M::recall},
                               {"f1", "F1", kNumber, "2 matched / (truth + predicted)", &M::f1},
                           });
  return list;
}

MatchCounts& MatchCounts::operator+=(const MatchCounts& other) {
  truth += other.truth;
  predicted += other.predicted;
  matched += other.matched;
  return *this;
}

std::int64_t count_pairs_within(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                std::int64_t tolerance) {
  std::int64_t pairs = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] + tolerance < b[j]) {
      ++i;
    } else if (b[j] + tolerance < a[i]) {
      ++j;
    } else {
      ++pairs, ++i, ++j;
    }
  }
  return pairs;
}

std::vector<int> match_exact_segments(std::span<const Segment> truth, std::span<const Segment> predicted) {
  std::vector<int> matched;
  for (std::size_t i = 0, j = 0; i < truth.size() && j < predicted.size();) {
    if (truth[i] == predicted[j]) matched.push_back(truth[i].label);
    if (truth[i].begin <= predicted[j].begin) {
      ++i;
    } else {
      ++j;
    }
  }
  return matched;
}

std::vector<int> match_overlapping_segments(std::span<const Segment> truth,
                                            std::span<const Segment> predicted) {
  std::vector<int> matched;
  std::size_t first = 0;  // truth segments before it end too early, or are taken
  for (const Segment& segment : predicted) {
    while (first < truth.size() && truth[first].end <= segment.begin) ++first;
    for (std::size_t i = first; i < truth.size() && truth[i].begin < segment.end; ++i) {
      if (truth[i].label != segment.label || !shares_half(truth[i], segment)) continue;
      matched.push_back(segment.label);
      first = i + 1;
      break;
    }
  }
  return matched;
}

std::int64_t edit_distance(std::span<const int> a, std::span<const int> b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a = a.subspan(1);
    b = b.subspan(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a = a.first(a.size() - 1);
    b = b.first(b.size() - 1);
  }
  const auto n = std::ssize(a);
  const auto m = std::ssize(b);
  const std::int64_t longest = std::max(n, m);
  if (n == 0 || m == 0) return longest;
  const int num_labels =
      1 + std::max(*std::max_element(a.begin(), a.end()), *std::max_element(b.begin(), b.end()));
  const RowMasks masks(a, num_labels);
  for (std::int64_t limit = std::abs(n - m) + kFirstBand;; limit *= 2) {
    limit = std::min(limit, longest);
    const std::int64_t found = banded_distance(a, b, masks, num_labels, limit);
    if (found <= limit) return found;
  }
}

}  // namespace semicrf
