// Lines about intervals by chromosome: those that a piece needs are found without looking at the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace semicrf {

// Intervals are bases [begin, end) and have the numbers 0, 1, ... in the order in which they were added.
class IntervalIndex {
 public:
  void add(const std::string& chromosome, std::int64_t begin, std::int64_t end);
  // After the last one, before the first question.
  void finish();

  // The numbers, ascending, of those on the chromosome that begin in [begin, end), and of those that share a
  // base with it. Takes the logarithm of their number for each that is found.
  std::vector<std::size_t> starting_in(const std::string& chromosome, std::int64_t begin,
                                       std::int64_t end) const;
  std::vector<std::size_t> overlapping(const std::string& chromosome, std::int64_t begin,
                                       std::int64_t end) const;

 private:
  // Sorted by where they begin, they are a binary tree: the root of a range is the one in its middle.
  struct Entry {
    std::int64_t begin = 0, end = 0;
    std::int64_t last_end = 0;  // the largest end below this root
    std::size_t number = 0;
  };
  using Entries = std::vector<Entry>;

  static std::int64_t fill_last_ends(Entries& entries, std::size_t first, std::size_t stop);
  static void collect(const Entries& entries, std::size_t first, std::size_t stop, std::int64_t begin,
                      std::int64_t end, std::vector<std::size_t>& numbers);

  std::unordered_map<std::string, Entries> by_chromosome_;
  std::size_t count_ = 0;
};

}  // namespace semicrf
