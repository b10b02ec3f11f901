// The reliability diagram of probabilities.
#pragma once

#include <string>
#include <vector>

#include "draw/svg.h"
#include "eval/metrics/reliability.h"

namespace semicrf {

struct ReliabilitySeries {
  std::string name;
  const Reliability* reliability = nullptr;
};

// The share of events that happened over the mean predicted probability, a point per bin of the table with
// Wilson's 95 % interval, and the diagonal on which perfect predictions lie. At most two series. The text
// depends on the numbers alone.
Drawing draw_reliability(const std::string& title, const std::vector<ReliabilitySeries>& series);
std::string reliability_picture(const std::string& title,
                                const std::vector<ReliabilitySeries>& series);  // the file

}  // namespace semicrf
