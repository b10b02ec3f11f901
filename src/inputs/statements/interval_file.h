// BED files whose lines say something about their interval in column 4: claims and constraints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "engine/engine.h"
#include "inputs/input_set.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

// A line about bases [begin, end) of a chromosome.
struct IntervalLine {
  std::string chromosome;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string text;       // column 4, "segment:CDS"
  std::int64_t line = 0;  // line of the file
};

// A kind of statement: NAME, or NAME:LABEL.
struct StatementKind {
  std::string_view name;
  bool has_label = false;
};

// What the statements of a file are called and look like, for messages.
struct StatementWords {
  std::string one;    // "claim"
  std::string forms;  // "claims are ..."
};

// A statement taken apart.
struct Statement {
  std::size_t kind = 0;  // index of its kind
  std::string label;     // what stands behind the colon
};

class IntervalFile {
 public:
  IntervalFile(std::string path, StatementWords words) : path_(std::move(path)), words_(std::move(words)) {}

  // In the order of the file. InputError with the line: not BED, nothing in column 4; or no line at all.
  std::vector<IntervalLine> read() const;
  // InputError: none of `kinds`, or a label that is missing or not wanted.
  Statement take_apart(const IntervalLine& line, std::span<const StatementKind> kinds) const;
  // Index of the label. InputError: the model has none of this name.
  int find_label(const IntervalLine& line, const std::string& name, const std::vector<Label>& labels) const;
  // InputError where no input has the chromosome, or it ends before the interval does.
  void check_place(const IntervalLine& line, const InputSet& inputs) const;

  const std::string& path() const { return path_; }
  InputError refusal(const IntervalLine& line, const std::string& what, const std::string& advice) const;

 private:
  // A point, which has no base, is the place where a segment starts with the base behind it.
  void take_point(IntervalLine& line) const;

  std::string path_;
  StatementWords words_;
};

// The bins of a piece that an interval meets, which may be beyond the edges of the piece: widened to whole
// bins.
PositionRange bins_of(const IntervalLine& line, const BinLocation& piece);

// Lines about intervals by chromosome: those that a piece needs are found without looking at the others.
//
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
