#include "draw/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/text/text.h"
#include "core/text/units.h"
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
  std::string digits = std::to_string(count < 0 ? -count : count);
  for (std::size_t i = digits.size(); i > 3; i -= 3)
    digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(i - 3), ',');
  if (count < 0) digits.insert(digits.begin(), '-');
  return digits;
}

std::string share_text(double share) {
  if (share > 0 && share < 0.001) return "<0.1 %";
  return formatted(share > 0.9995 ? "%.0f %%" : "%.1f %%", 100 * share);
}

std::string short_number(double value) { return formatted("%.3g", value); }

std::string exact_number(double value) { return formatted("%.9g", value); }

std::string bases_text(double bases, int digits) {
  if (units().one != "base") return plain(bases, digits) + " " + (bases == 1 ? units().one : units().many);
  if (std::fabs(bases) < 999.5) return plain(bases, digits) + " bp";
  if (std::fabs(bases) < 999.5e3) return plain(bases / 1e3, digits) + " kb";
  return plain(bases / 1e6, digits) + " Mb";
}

std::string place_text(const std::string& chromosome, std::int64_t begin, std::int64_t end) {
  return chromosome + ":" + count_text(begin + 1) + "-" + count_text(end);
}

}  // namespace semicrf
