// Copies of a region that the name of a label says.
#pragma once

#include <optional>
#include <string_view>

#include "core/text/text.h"

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

}  // namespace semicrf
