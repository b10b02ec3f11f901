// What positions are called in messages and tables: bases of a genome, or frames of a recording.
//
// One setting for the whole program, made once before a command runs (apps/options/unit_options); only words
// depend on it, no number in an output and no file format.
#pragma once

#include <cstdint>
#include <string>

namespace semicrf {

struct Units {
  std::string one = "base", many = "bases";
  double rate = 0;          // positions per second, 0: not known
  bool in_seconds = false;  // lengths are also said in seconds; needs the rate
};

const Units& units();
void set_units(const Units& units);

// "3000 bases"; "3000 frames"; "3000 frames (30 s)".
std::string amount(std::int64_t positions);

}  // namespace semicrf
