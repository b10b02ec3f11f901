// L-BFGS of liblbfgs: line search of Moré and Thuente.
#include <lbfgs.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>

#include "train/fit/minimise.h"

namespace semicrf {
namespace {

constexpr int kAskedToStop = 1;  // what progress() returns to end the descent, and then lbfgs(), too

// Exceptions must not cross the library: they are kept, and the descent is ended as soon as it asks.
struct Descent {
  const MinimiseCalls& calls;
  std::exception_ptr error;

  static lbfgsfloatval_t evaluate(void* self, const lbfgsfloatval_t* x, lbfgsfloatval_t* gradient, int size,
                                  lbfgsfloatval_t) {
    auto& descent = *static_cast<Descent*>(self);
    const auto count = static_cast<std::size_t>(size);
    if (!descent.error) {
      try {
        return descent.calls.evaluate({x, count}, {gradient, count});
      } catch (...) {
        descent.error = std::current_exception();
      }
    }
    std::fill_n(gradient, count, 0.0);
    return 0;
  }

  static int progress(void* self, const lbfgsfloatval_t* x, const lbfgsfloatval_t* gradient,
                      lbfgsfloatval_t value, lbfgsfloatval_t, lbfgsfloatval_t gradient_norm, lbfgsfloatval_t,
                      int size, int, int) {
    static_cast<void>(gradient);
    auto& descent = *static_cast<Descent*>(self);
    if (descent.error) return kAskedToStop;
    try {
      const bool asked = descent.calls.iteration({x, static_cast<std::size_t>(size)}, value, gradient_norm);
      return asked ? kAskedToStop : 0;
    } catch (...) {
      descent.error = std::current_exception();
      return kAskedToStop;
    }
  }
};

}  // namespace

MinimiseEnd minimise(std::span<const double> start, const MinimiseCalls& calls) {
  const auto size = static_cast<int>(start.size());
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = kHistory;
  parameters.epsilon = kGradient;
  parameters.max_linesearch = kLineSearch;
  const std::unique_ptr<lbfgsfloatval_t, void (*)(lbfgsfloatval_t*)> x(lbfgs_malloc(size), &lbfgs_free);
  if (!x) throw std::bad_alloc();
  std::copy(start.begin(), start.end(), x.get());
  Descent descent{calls, {}};
  const int outcome =
      lbfgs(size, x.get(), nullptr, &Descent::evaluate, &Descent::progress, &descent, &parameters);
  if (descent.error) std::rethrow_exception(descent.error);
  if (outcome == LBFGSERR_OUTOFMEMORY) throw std::bad_alloc();
  if (outcome == LBFGS_SUCCESS || outcome == LBFGS_ALREADY_MINIMIZED) return MinimiseEnd::kFlat;
  return outcome == kAskedToStop ? MinimiseEnd::kAsked : MinimiseEnd::kNoStep;
}

}  // namespace semicrf
