// Small systems of linear equations by Cholesky's decomposition.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace semicrf {

// The lower triangle of the symmetric `matrix` (n, n), row-major, becomes its Cholesky factor. The rest of it
// is not read. False, and the matrix is spoilt, where it is not positive definite.
inline bool cholesky_factor(std::vector<double>& matrix, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i * n + k] * matrix[j * n + k];
      if (i == j) {
        if (!(sum > 0)) return false;
        matrix[i * n + i] = std::sqrt(sum);
      } else {
        matrix[i * n + j] = sum / matrix[j * n + j];
      }
    }
  }
  return true;
}

// x[0..n) becomes the solution y of A y = x, where `factor` is that of A.
inline void solve_by_factor(const std::vector<double>& factor, std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= factor[k * n + i] * x[k];
    x[i] /= factor[i * n + i];
  }
}

}  // namespace semicrf
