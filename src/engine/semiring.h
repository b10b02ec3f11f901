// The two ways of combining alternatives in the logarithmic domain.
#pragma once

namespace semicrf {

enum class Semiring {
  kLog,  // their probabilities are added: log of the sum of exponentials
  kMax,  // the best one counts
};

}  // namespace semicrf
