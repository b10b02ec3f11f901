#include "draw/scale.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace semicrf {

double Scale::at(double value) const {
  const double low = logarithmic ? std::log(begin) : begin;
  const double high = logarithmic ? std::log(end) : end;
  const double v = std::clamp(value, begin, end);
  const double share = high > low ? ((logarithmic ? std::log(v) : v) - low) / (high - low) : 0;
  return from + (to - from) * share;
}

std::vector<double> nice_ticks(double low, double high, int most) {
  const double least = (high - low) / std::max(1, most - 1);
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (factor * step >= least * (1 - 1e-9)) {
      step *= factor;
      break;
    }
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (double i = first; i * step <= high + 1e-9 * step; ++i) ticks.push_back(i == 0 ? 0.0 : i * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high, int most) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const int step = std::max(1, (last - first + most) / std::max(1, most));
  for (int power = first; power <= last; power += step) ticks.push_back(std::pow(10.0, power));
  if (ticks.size() >= 2) return ticks;
  ticks.clear();
  for (int power = first - 1; power <= last; ++power)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, power);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
    }
  return ticks;
}

double nice_ceiling(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0})
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::vector<long long> growing_classes(long long last, int most) {
  std::vector<long long> edges{1};
  // The smallest factor with which the classes are few enough.
  for (double factor = 1.0 + 1e-9; edges.back() <= last; factor *= 1.02) {
    edges.assign(1, 1);
    while (edges.back() <= last && edges.size() <= static_cast<std::size_t>(most))
      edges.push_back(std::max(edges.back() + 1, static_cast<long long>(std::llround(
                                                     static_cast<double>(edges.back()) * factor))));
  }
  return edges;
}

}  // namespace semicrf
