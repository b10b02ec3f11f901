// Options about the distributions of tracks, which `learn` and `train` have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "train/emissions/emission_choice.h"

namespace semicrf {

struct EmissionArguments {
  std::vector<std::string> emissions, tie;  // as typed
  double outliers = 0;
};

// `more`: what the help of --emission says behind the families.
void add_emission_options(CLI::App& command, EmissionArguments& arguments, const std::string& more);
// What they say, added to `wishes`. UsageError.
void add_wishes(const EmissionArguments& arguments, EmissionWishes& wishes);

}  // namespace semicrf
