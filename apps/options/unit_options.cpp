#include "apps/options/unit_options.h"

#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/text/text.h"

namespace semicrf {

void add_unit_options(CLI::App& command, UnitArguments& arguments) {
  add_choice(command, "--unit", arguments.unit,
             "what one position is called in messages and tables: bases, frames or seconds (frames, with\n"
             "lengths in seconds, too; needs --rate). Where this help says bases, it means these",
             {"bases", "frames", "seconds"});
  command.add_option("--rate", arguments.rate, "positions (frames) per second")->check(CLI::PositiveNumber);
}

void add_tier_option(CLI::App& command, UnitArguments& arguments) {
  command.add_option("--tier", arguments.tier, "interval tier of a TextGrid, where it has several")
      ->type_name("NAME");
}

void apply_units(const UnitArguments& arguments) {
  Units units;
  units.rate = arguments.rate;
  units.in_seconds = arguments.unit == "seconds";
  if (units.in_seconds && arguments.rate <= 0)
    throw UsageError("--unit seconds needs to know how long a position is",
                     "give --rate R, positions per second");
  if (arguments.unit != "bases") {
    units.one = "frame";
    units.many = "frames";
  }
  set_units(units);
}

LabelTimes label_times(const UnitArguments& arguments) {
  LabelTimes times;
  times.rate = arguments.rate;
  times.tier = arguments.tier;
  return times;
}

LabelTimes label_times(const UnitArguments& arguments, std::string& path) {
  LabelTimes times = label_times(arguments);
  times.sequence = take_sequence_name(path);
  return times;
}

}  // namespace semicrf
