// L-BFGS over plain numbers: what a fit asks of the library that has it, LBFGSpp.
#pragma once

#include <functional>
#include <span>

namespace semicrf {

struct MinimiseCalls {
  // The objective at x, and its gradient.
  std::function<double(std::span<const double> x, std::span<double> gradient)> evaluate;
  // After every iteration, at the x that it found, which was evaluated last; true ends the descent.
  std::function<bool(std::span<const double> x, double value, double gradient_norm)> iteration;
};

enum class MinimiseEnd {
  kAsked,   // by `iteration`
  kFlat,    // the gradient is zero
  kNoStep,  // nothing better was found along the last direction; `iteration` was not told of it
};

// Descends from `start` with an empty history. What the calls throw passes through.
MinimiseEnd minimise(std::span<const double> start, const MinimiseCalls& calls);

// Settings.
inline constexpr int kHistory = 40;         // pairs of steps and gradient changes
inline constexpr int kLineSearch = 20;      // evaluations in one line search
inline constexpr double kGradient = 1e-12;  // share of the norm of the coordinates: nothing left to gain

}  // namespace semicrf
