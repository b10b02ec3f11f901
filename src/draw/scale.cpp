#include "draw/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/text/text.h"
#include "eval/metrics/text_table.h"

namespace semicrf {
namespace {

// `digits` significant digits without an exponent, zeros behind the point left out.
std::string plain(double value, int digits) {
  const int before = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", std::max(0, digits - before), value);
  std::string result = text;
  if (result.find('.') == std::string::npos) return result;
  while (result.back() == '0') result.pop_back();
  if (result.back() == '.') result.pop_back();
  return result;
}

}  // namespace

std::string count_text(std::int64_t count) {
  std::string digits = fmt::to_string(count < 0 ? -count : count);
  for (std::size_t i = digits.size(); i > 3; i -= 3)
    digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(i - 3), ',');
  if (count < 0) digits.insert(digits.begin(), '-');
  return digits;
}

std::string share_text(double share) {
  if (share > 0 && share < 0.001) return "<0.1 %";
  return formatted(share > 0.9995 ? "%.0f %%" : "%.1f %%", 100 * share);
}

std::string short_number(double value) { return fmt::format("{:.3g}", value); }

std::string exact_number(double value) { return fmt::format("{:.9g}", value); }

std::string bases_text(double bases, int digits) {
  if (units().one != "base") return plain(bases, digits) + " " + (bases == 1 ? units().one : units().many);
  if (std::fabs(bases) < 999.5) return plain(bases, digits) + " bp";
  if (std::fabs(bases) < 999.5e3) return plain(bases / 1e3, digits) + " kb";
  return plain(bases / 1e6, digits) + " Mb";
}

std::string place_text(const std::string& chromosome, std::int64_t begin, std::int64_t end) {
  return chromosome + ":" + count_text(begin + 1) + "-" + count_text(end);
}

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
    while (edges.back() <= last && std::ssize(edges) <= most)
      edges.push_back(std::max(edges.back() + 1, static_cast<long long>(std::llround(
                                                     static_cast<double>(edges.back()) * factor))));
  }
  return edges;
}

}  // namespace semicrf
