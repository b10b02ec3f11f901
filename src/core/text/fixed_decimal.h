// Fast printing of numbers with a fixed count of decimals, the same in every locale.
//
// The value is scaled by a power of ten and rounded to an integer exactly (to nearest, ties to even, as
// printf does); values too large for that go through the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace semicrf {

class FixedDecimal {
 public:
  static constexpr int kMaxDigits = 15;
  // Longest text of any finite double: sign, 309 digits, point, decimals.
  static constexpr std::size_t kMaxLength = 1 + 309 + 1 + kMaxDigits;

  // `digits` decimals, 0..kMaxDigits (UsageError otherwise).
  explicit FixedDecimal(int digits);

  // What is printed; two values print the same exactly when these are equal.
  struct Rounded {
    std::int64_t scaled = 0;  // value times 10^digits
    double large = 0;         // the value itself when it is too large to be scaled, else 0
    friend bool operator==(const Rounded&, const Rounded&) = default;
  };
  // `value` must be finite (std::logic_error).
  Rounded round(double value) const;
  // Prints into `out` (room for kMaxLength), returns the end. Never prints a negative zero.
  char* print(Rounded value, char* out) const;

 private:
  int digits_;
  double scale_;
};

// Decimal text of an integer into `out` (room for 20 characters); returns the end.
char* print_integer(std::int64_t value, char* out);

// Six significant digits, as printf's %.6g does in the C locale, into `out` (room for 16 characters); returns
// the end.
char* print_six_significant(double value, char* out);

// The shortest text that reads back as the same double.
std::string exact_text(double value);

// Integers and six significant digits at the end of a text.
void append_integer(std::int64_t value, std::string& text);
void append_six_significant(double value, std::string& text);

}  // namespace semicrf
