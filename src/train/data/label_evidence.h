// What a label file says of the bins of a piece where it does not say everything.
#pragma once

#include <cstdint>
#include <vector>

namespace semicrf {

// About positions [begin, end) of a piece: they are labelled by a line of the file, or by none.
struct LabelEvidence {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::vector<int> labels;          // one of these; empty: any
  std::vector<double> log_weights;  // weights of the labels, natural logarithms; empty: 0
  // A line: its bins belong to one segment, which ends where the next line begins at once. Else segments may
  // begin and end at every bin. A linear chain has no such lines: all its segments are single bins.
  bool one_segment = false;

  bool is_free() const { return labels.empty(); }
};

// Several labels that a line may have, "A|B" or "A:0.7|B:0.3".
struct LabelChoice {
  std::vector<int> labels;          // ascending
  std::vector<double> log_weights;  // weights of the labels, whose exponentials sum to 1; or empty

  friend bool operator==(const LabelChoice&, const LabelChoice&) = default;
};

// Where labels of lines are numbers, other numbers stand for what is not one label.
inline constexpr int kNoLabel = -1;
inline constexpr int choice_number(std::size_t index) { return -2 - static_cast<int>(index); }
inline constexpr bool is_choice(int label) { return label < kNoLabel; }
inline constexpr std::size_t choice_index(int label) { return static_cast<std::size_t>(-2 - label); }

}  // namespace semicrf
