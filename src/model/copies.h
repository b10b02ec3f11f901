// Copies of a region that the name of a label says.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/text/text.h"
#include "model/parameters.h"

namespace semicrf {

// "3" is copies in all; "2+1" those of either parent.
struct LabelCopies {
  int first = 0, second = 0;
  bool of_parents = false;  // else `first` is all

  int all() const { return first + second; }
};

// Nothing where the name is neither.
inline std::optional<LabelCopies> copies_of_label(std::string_view name) {
  const std::size_t plus = name.find('+');
  const auto first = number_in<int>(name.substr(0, plus));
  if (!first) return std::nullopt;
  if (plus == std::string_view::npos) return LabelCopies{*first, 0, false};
  const auto second = number_in<int>(name.substr(plus + 1));
  if (!second) return std::nullopt;
  return LabelCopies{*first, *second, true};
}

// Those of each label. Nothing of all where none has a + and none is "0": labels that were learned without
// names are called 1, 2, ..., too.
inline std::vector<std::optional<LabelCopies>> copies_of_labels(const std::vector<Label>& labels) {
  std::vector<std::optional<LabelCopies>> copies;
  for (const Label& label : labels) copies.push_back(copies_of_label(label.name));
  const bool told = std::ranges::any_of(
      copies, [](const auto& one) { return one && (one->of_parents || one->first == 0); });
  if (!told) copies.assign(labels.size(), std::nullopt);
  return copies;
}

}  // namespace semicrf
