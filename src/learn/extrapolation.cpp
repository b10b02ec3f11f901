#include "learn/extrapolation.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace semicrf {
namespace {

constexpr double kKept = 0.1;   // least part of a count that is left
constexpr double kLonger = 2;   // factors of the limit
constexpr double kShorter = 8;  // one step ahead in vain costs as much as four are worth
constexpr double kShortest = 2;

// Calls visit(to, first, second, third) for every number.
template <class Visit>
void for_each_number(ParameterGradient& to, const std::vector<ParameterGradient>& from, Visit visit) {
  for (const auto list : ParameterGradient::lists())
    for (std::size_t i = 0; i < (to.*list).size(); ++i)
      visit((to.*list)[i], (from[0].*list)[i], (from[1].*list)[i], (from[2].*list)[i]);
}

double extrapolated(double first, double second, double third, double length) {
  const double step = second - first, bend = (third - second) - step;
  return first + length * (2 * step + length * bend);
}

}  // namespace

PointAhead point_ahead(AheadState& state) {
  const std::vector<ParameterGradient> seen = std::exchange(state.counts, {});
  const std::vector<std::vector<double>> coordinates = std::exchange(state.coordinates, {});
  PointAhead point{seen[2], coordinates.empty() ? std::vector<double>() : coordinates[2]};
  ParameterGradient& ahead = point.counts;
  // A count varies by about its square root.
  double steps = 0, bends = 0;
  for_each_number(ahead, seen, [&](double, double first, double second, double third) {
    const double step = second - first, bend = (third - second) - step, weight = 1 / (std::fabs(third) + 1);
    steps += weight * step * step;
    bends += weight * bend * bend;
  });
  if (!(bends > 0)) return point;
  const double length = std::clamp(std::sqrt(steps / bends), 1.0, state.longest);
  if (length == state.longest) state.longest *= kLonger;
  for_each_number(ahead, seen, [&](double& to, double first, double second, double third) {
    const double value = extrapolated(first, second, third, length);
    to = third >= 0 ? std::max(value, kKept * third) : value;
  });
  for (std::size_t i = 0; i < point.coordinates.size(); ++i)
    point.coordinates[i] = extrapolated(coordinates[0][i], coordinates[1][i], coordinates[2][i], length);
  return point;
}

void shorten_steps(AheadState& state) { state.longest = std::max(kShortest, state.longest / kShorter); }

}  // namespace semicrf
