#include "core/text/text.h"

#include <fmt/format.h>

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
  std::string text = fmt::format("{} {}", positions, positions == 1 ? unit.one : unit.many);
  return unit.in_seconds ? text + formatted(" (%.6g s)", static_cast<double>(positions) / unit.rate) : text;
}

}  // namespace semicrf
