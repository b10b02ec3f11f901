#include "core/text/units.h"

#include <cstdio>

namespace semicrf {
namespace {

Units& current() {
  static Units units;
  return units;
}

}  // namespace

const Units& units() { return current(); }
void set_units(const Units& units) { current() = units; }

std::string amount(std::int64_t positions) {
  const Units& unit = units();
  std::string text = std::to_string(positions) + " " + (positions == 1 ? unit.one : unit.many);
  if (!unit.in_seconds) return text;
  char seconds[40];
  std::snprintf(seconds, sizeof seconds, " (%.6g s)", static_cast<double>(positions) / unit.rate);
  return text + seconds;
}

}  // namespace semicrf
