// The list of backends, and calling one by its name.
#pragma once

#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "lab/backends/binary_tree.h"
#include "lab/backends/block_triangular.h"
#include "lab/backends/edge_tensor.h"
#include "lab/backends/linear_scan.h"
#include "lab/backends/streaming.h"
#include "lab/semirings/log.h"

namespace semicrf::lab {

using AllBackends =
    std::tuple<EdgeTensorBackend, LinearScanBackend<false>, LinearScanBackend<true>, RingScanBackend,
               StreamingBackend, BinaryTreeBackend<false>, BinaryTreeBackend<true>, BlockTriangularBackend>;

// body(Backend{}) for every backend.
template <class Body>
void for_each_backend(Body body) {
  std::apply([&](auto... backend) { (body(backend), ...); }, AllBackends{});
}

// body(Backend{}) for the one of this name.
template <class Body>
void with_backend(std::string_view name, Body body) {
  bool found = false;
  for_each_backend([&](auto backend) {
    if (name != decltype(backend)::name) return;
    found = true;
    body(backend);
  });
  if (!found) throw std::invalid_argument("no backend is called " + std::string(name));
}

// log Z and its gradients. Marginals are divided by Z, so log Z comes first.
template <class Backend>
std::pair<double, Gradients> log_partition_and_gradients(const Problem& problem, Memory& memory) {
  Log ring;
  const double log_partition = Backend::run(problem, ring, memory, ForwardOnly{});
  Gradients gradients(problem);
  const double again = Backend::run(problem, ring, memory, [&](const Edge& edge, double log_mass) {
    gradients.add(edge, log_mass, log_partition);
  });
  return {again, std::move(gradients)};
}

}  // namespace semicrf::lab
