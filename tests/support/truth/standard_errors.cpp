#include "support/truth/standard_errors.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace semicrf::test {
namespace {

// Eigenvalues of a symmetric matrix, which becomes their eigenvectors (columns); Jacobi's rotations.
std::vector<double> eigenvalues(Matrix& matrix) {
  const std::size_t n = matrix.size();
  Matrix vectors(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) vectors[i][i] = 1;
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (matrix[p][q] == 0) continue;
        const double half = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q]);
        const double tangent = (half < 0 ? -1 : 1) / (std::fabs(half) + std::sqrt(half * half + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1);
        const double sine = tangent * cosine;
        const auto rotate = [&](double& a, double& b) {
          const double old = a;
          a = cosine * old - sine * b;
          b = sine * old + cosine * b;
        };
        for (std::size_t i = 0; i < n; ++i) rotate(matrix[i][p], matrix[i][q]);
        for (std::size_t i = 0; i < n; ++i) rotate(matrix[p][i], matrix[q][i]);
        for (std::size_t i = 0; i < n; ++i) rotate(vectors[i][p], vectors[i][q]);
      }
  }
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = matrix[i][i];
  matrix = std::move(vectors);
  return values;
}

}  // namespace

std::vector<double> standard_errors(Matrix information, const Matrix& by_parameter, int& dimensions) {
  const std::size_t n = information.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      information[i][j] = information[j][i] = (information[i][j] + information[j][i]) / 2;
  const std::vector<double> values = eigenvalues(information);
  std::vector<double> variance(by_parameter.front().size(), 0.0);
  dimensions = 0;
  for (std::size_t v = 0; v < n; ++v) {
    if (values[v] < 0.1) continue;
    ++dimensions;
    for (std::size_t g = 0; g < variance.size(); ++g) {
      double along = 0;
      for (std::size_t i = 0; i < n; ++i) along += information[i][v] * by_parameter[i][g];
      variance[g] += along * along / values[v];
    }
  }
  for (double& entry : variance) entry = std::sqrt(entry);
  return variance;
}

}  // namespace semicrf::test
