#include "core/text/fixed_decimal.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "core/error.h"
#include "support/catch.h"

namespace semicrf {
namespace {

std::string text_of(double value, int digits) {
  const FixedDecimal decimal(digits);
  char text[FixedDecimal::kMaxLength];
  return std::string(text, decimal.print(decimal.round(value), text));
}

// What printf prints, without the sign of a zero.
std::string printf_text(double value, int digits) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  std::string result = text;
  if (result[0] == '-' && result.find_first_not_of("-0.") == std::string::npos) result.erase(0, 1);
  return result;
}

TEST_CASE("fixed decimals are those of printf on random values") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::uniform_real_distribution<double> exponent(-20, 25);
  long differences = 0;
  for (int i = 0; i < 100000; ++i) {
    const int digits = static_cast<int>(random() % (FixedDecimal::kMaxDigits + 1));
    const double magnitude = i % 2 == 0 ? unit(random) : std::pow(10.0, exponent(random));
    const double value = i % 3 == 0 ? -magnitude : magnitude;
    if (text_of(value, digits) != printf_text(value, digits)) {
      ++differences;
      UNSCOPED_INFO(digits << " digits of " << printf_text(value, 30));
    }
  }
  CHECK(differences == 0);
}

TEST_CASE("fixed decimals are those of printf next to ties") {
  long differences = 0;
  for (int digits = 0; digits <= 9; ++digits) {
    const double scale = std::pow(10.0, digits);
    for (int i = 0; i < 5000; ++i) {
      const double tie = (i * 37 + 0.5) / scale;
      for (const double value : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 1e9)}) {
        differences += text_of(value, digits) != printf_text(value, digits);
      }
    }
  }
  CHECK(differences == 0);
}

TEST_CASE("fixed decimals at the edges") {
  CHECK(text_of(0, 6) == "0.000000");
  CHECK(text_of(-0.0, 6) == "0.000000");
  CHECK(text_of(-1e-9, 6) == "0.000000");
  CHECK(text_of(1, 6) == "1.000000");
  CHECK(text_of(0.9999996, 6) == "1.000000");
  CHECK(text_of(-12.345, 2) == printf_text(-12.345, 2));
  CHECK(text_of(2.5, 0) == "2");
  CHECK(text_of(3.5, 0) == "4");
  CHECK(text_of(5e-324, 15) == "0.000000000000000");
  const double largest = std::numeric_limits<double>::max();
  CHECK(text_of(-largest, 15) == printf_text(-largest, 15));
  CHECK_THROWS_AS(FixedDecimal(-1), UsageError);
  CHECK_THROWS_AS(FixedDecimal(16), UsageError);
  CHECK_THROWS_AS(text_of(std::nan(""), 3), std::logic_error);
  CHECK_THROWS_AS(text_of(-std::numeric_limits<double>::infinity(), 3), std::logic_error);
}

TEST_CASE("values that print the same compare equal, others do not") {
  const FixedDecimal decimal(3);
  CHECK(decimal.round(0.1234) == decimal.round(0.12301));
  CHECK(decimal.round(-0.0001) == decimal.round(0.0));
  CHECK_FALSE(decimal.round(0.1234) == decimal.round(0.1236));
  CHECK_FALSE(decimal.round(1e20) == decimal.round(std::nextafter(1e20, 0)));
}

TEST_CASE("six significant digits are those of printf") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-320, 300);
  for (int i = 0; i < 20000; ++i) {
    const double value =
        i % 2 == 0 ? std::pow(10.0, exponent(random)) : std::ldexp(static_cast<double>(random()), -64);
    char expected[40], text[40];
    std::snprintf(expected, sizeof expected, "%.6g", value);
    if (std::string(text, print_six_significant(value, text)) != expected) FAIL(expected);
  }
  char text[20];
  CHECK(std::string(text, print_integer(std::numeric_limits<std::int64_t>::min(), text)) ==
        "-9223372036854775808");
}

}  // namespace
}  // namespace semicrf
