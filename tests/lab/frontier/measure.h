// Seconds and bytes of one computation, by a backend of the laboratory or an engine of the product.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/problem.h"

namespace semicrf::lab {

enum class Pass { kForward, kBoth };  // log Z; log Z, marginals and gradients
const char* name_of(Pass pass);

struct Cost {
  double seconds = 0;     // processor time, the least of the repeats
  std::size_t bytes = 0;  // what was held at the most, the scores themselves not counted
  bool refused = false;   // more than `limit` would have been held: nothing ran
};

// Names of the backends, and of the product's engines.
std::vector<std::string> all_methods();
bool is_product(const std::string& method);
// What cost() would hold.
std::size_t predicted_bytes(const std::string& method, Pass pass, const Shape& shape);
// Repeats short runs until `least` seconds have passed.
Cost cost(const std::string& method, Pass pass, const Shape& shape, double least, std::size_t limit);
// The largest value in [low, high] for which `fits` is true, which it is up to some value; 0: not even for
// low.
template <class Fits>
Index bisect(Index low, Index high, Fits fits) {
  if (!fits(low)) return 0;
  while (low < high) {
    const Index middle = low + (high - low + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// The slope of ln y over ln x by least squares.
double slope(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace semicrf::lab
