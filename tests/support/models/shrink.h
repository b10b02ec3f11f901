// Making a failing input of a property test small before it is shown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "support/models/random_models.h"

namespace semicrf::testing {

// The smallest version of a failing input that still fails: `smaller(input)` lists versions to try, the
// boldest first. `input` itself must fail. At most `trials` versions are tried.
template <class Input>
Input shrink(Input input, const std::function<bool(const Input&)>& fails,
             const std::function<std::vector<Input>(const Input&)>& smaller, int trials = 300) {
  for (bool found = true; found && trials > 0;) {
    found = false;
    for (Input& candidate : smaller(input)) {
      if (trials-- <= 0) break;
      if (!fails(candidate)) continue;
      input = std::move(candidate);
      found = true;
      break;
    }
  }
  return input;
}

// A list with stretches of it left out: halves, then quarters, and at last single items.
template <class Item>
std::vector<std::vector<Item>> shorter_lists(const std::vector<Item>& list) {
  std::vector<std::vector<Item>> shorter;
  for (std::size_t size = (list.size() + 1) / 2; size > 0 && list.size() > 1; size = size / 2) {
    for (std::size_t begin = 0; begin < list.size(); begin += size) {
      const std::size_t end = std::min(list.size(), begin + size);
      std::vector<Item>& rest = shorter.emplace_back();
      for (std::size_t i = 0; i < list.size(); ++i)
        if (i < begin || i >= end) rest.push_back(list[i]);
    }
  }
  return shorter;
}

// Positions [begin, end) of a case as a sequence of their own.
ModelCase part_of_case(const ModelCase& sample, std::int64_t begin, std::int64_t end);

// A case with fewer positions, labels or durations, or without one of its optional parts.
std::vector<ModelCase> smaller_cases(const ModelCase& sample);

// The case as C++ that makes it again; of long ones only what fits on a page.
std::string as_code(const ModelCase& sample);

}  // namespace semicrf::testing
