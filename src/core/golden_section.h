// The best point of a function of one variable that has one.
#pragma once

#include <cmath>

namespace semicrf {

// The point in [low, high] where f is best, by golden sections until these are `width` apart or closer.
// `better(a, b)`: whether the value a of a point is to be preferred to b, that of a point right of it.
template <class Function, class Better>
double golden_section(double low, double high, double width, Function f, Better better) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double left = high - ratio * (high - low), right = low + ratio * (high - low);
  double at_left = f(left), at_right = f(right);
  while (high - low > width) {
    if (better(at_left, at_right)) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - ratio * (high - low);
      at_left = f(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + ratio * (high - low);
      at_right = f(right);
    }
  }
  return (low + high) / 2;
}

}  // namespace semicrf
