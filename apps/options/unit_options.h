// --unit and --rate: what positions are called, and labels with times.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "io/segments/segment_reader.h"

namespace semicrf {

struct UnitArguments {
  std::string unit = "bases";
  double rate = 0;  // 0: not given
  std::string tier;
};

void add_unit_options(CLI::App& command, UnitArguments& arguments);
// --tier, for commands that read labels.
void add_tier_option(CLI::App& command, UnitArguments& arguments);
// Settles the words of messages. UsageError: seconds without a rate.
void apply_units(const UnitArguments& arguments);
// For labels whose sequence the files name.
LabelTimes label_times(const UnitArguments& arguments);
// For the labels of `path`, [name=]PATH, which becomes the path.
LabelTimes label_times(const UnitArguments& arguments, std::string& path);

}  // namespace semicrf
