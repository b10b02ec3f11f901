#include "core/text/fixed_decimal.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/error.h"

namespace semicrf {
namespace {

constexpr double kPowersOfTen[FixedDecimal::kMaxDigits + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                               1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: below it a double has bits left for fractions

}  // namespace

FixedDecimal::FixedDecimal(int digits) : digits_(digits) {
  if (digits < 0 || digits > kMaxDigits) {
    throw UsageError(fmt::format("the number of decimals must be 0 to {}, not {}", kMaxDigits, digits));
  }
  scale_ = kPowersOfTen[digits];
}

FixedDecimal::Rounded FixedDecimal::round(double value) const {
  const double magnitude = std::fabs(value);
  const double product = magnitude * scale_;
  if (!(product < kExactIntegers)) {
    if (!std::isfinite(value)) throw std::logic_error("FixedDecimal: not a finite number");
    return {0, value};
  }
  auto integer = static_cast<std::int64_t>(product);
  const double fraction = product - static_cast<double>(integer);  // exact
  // The product is the double nearest to the true one, so only at exactly one half can the lost bits matter.
  if (fraction == 0.5) {
    const double lost = std::fma(magnitude, scale_, -product);
    if (lost > 0 || (lost == 0 && (integer & 1) != 0)) ++integer;
  } else if (fraction > 0.5) {
    ++integer;
  }
  return {std::signbit(value) ? -integer : integer, 0};
}

char* FixedDecimal::print(Rounded value, char* out) const {
  if (value.large != 0) {
    return std::to_chars(out, out + kMaxLength, value.large, std::chars_format::fixed, digits_).ptr;
  }
  if (value.scaled < 0) {
    *out++ = '-';
    value.scaled = -value.scaled;
  }
  char text[20];
  const auto length = print_integer(value.scaled, text) - text;
  if (digits_ == 0) {
    std::memcpy(out, text, length);
    return out + length;
  }
  const std::ptrdiff_t whole = length - digits_;  // digits before the point
  if (whole <= 0) {
    *out++ = '0';
    *out++ = '.';
    for (std::ptrdiff_t i = whole; i < 0; ++i) *out++ = '0';
    std::memcpy(out, text, length);
    return out + length;
  }
  std::memcpy(out, text, whole);
  out[whole] = '.';
  std::memcpy(out + whole + 1, text + whole, digits_);
  return out + length + 1;
}

char* print_integer(std::int64_t value, char* out) {
  constexpr std::ptrdiff_t kLongest = 20;
  return std::to_chars(out, out + kLongest, value).ptr;
}

char* print_six_significant(double value, char* out) {
  constexpr std::ptrdiff_t kLongest = 16;  // -1.23457e-308
  constexpr int kDigits = 6;
  return std::to_chars(out, out + kLongest, value, std::chars_format::general, kDigits).ptr;
}

std::string exact_text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

void append_integer(std::int64_t value, std::string& text) {
  char digits[20];
  text.append(digits, print_integer(value, digits));
}

void append_six_significant(double value, std::string& text) {
  char digits[16];
  text.append(digits, print_six_significant(value, digits));
}

}  // namespace semicrf
