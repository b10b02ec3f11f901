// Examples of every command, for the manual pages. A test of tests/cli runs them all, in this order, on the
// files of data/.
#pragma once

#include <string_view>
#include <vector>

namespace semicrf {

struct Example {
  std::string_view what;     // a sentence
  std::string_view command;  // one or more lines for a shell
};

// Those of a command ("decode"), or of the whole program ("").
std::vector<Example> examples_of(std::string_view command);

}  // namespace semicrf
