// Standard errors of estimates from an information matrix that need not be invertible.
#pragma once

#include <vector>

namespace semicrf::test {

using Matrix = std::vector<std::vector<double>>;

// Of the numbers with these derivatives by the parameters (rows), under the information matrix of the
// parameters. Directions that less than a tenth of an observation tells about are left out: no number may
// depend on them. `dimensions`: how many are left.
std::vector<double> standard_errors(Matrix information, const Matrix& by_parameter, int& dimensions);

}  // namespace semicrf::test
