#include "lab/frontier/measure.h"

#include <algorithm>
#include <cmath>

#include "core/score_window.h"
#include "lab/backends/all_backends.h"
#include "lab/product.h"

namespace semicrf::lab {
namespace {

ChainModel shape_only(const Shape& shape) {
  ChainModel model;
  model.num_labels = static_cast<int>(shape.C);
  model.max_duration = static_cast<int>(shape.K);
  model.transition.assign(shape.C * shape.C, 0.0);
  model.duration_bias.assign(shape.K * shape.C, 0.0);
  return model;
}

std::size_t product_bytes(const Engine& engine, Pass pass, const Shape& shape) {
  const auto length = static_cast<std::int64_t>(shape.T);
  if (pass == Pass::kForward) return engine.usual_viterbi_bytes(length);
  const std::size_t outputs = shape.T * (3 * shape.C + 1) * sizeof(double);
  return engine.usual_posterior_bytes(length, true) + outputs + expected_counts_bytes(engine.model());
}

template <class Body>
double least_seconds(const std::string& method, double least, Body body) {
  double best = 0, spent = 0;
  for (int repeat = 0; repeat == 0 || spent < least; ++repeat) {
    const double begin = seconds_for(method);
    body();
    const double seconds = seconds_for(method) - begin;
    best = repeat == 0 ? seconds : std::min(best, seconds);
    spent += std::max(seconds, 1e-5);
  }
  return best;
}

}  // namespace

const char* name_of(Pass pass) { return pass == Pass::kForward ? "forward" : "forward+backward"; }

std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  for_each_backend([&](auto backend) { names.emplace_back(decltype(backend)::name); });
  for (const std::string& engine : product_engines()) names.push_back(engine);
  return names;
}

bool is_product(const std::string& method) {
  bool found = false;
  for_each_backend([&](auto backend) { found = found || method == decltype(backend)::name; });
  return !found;
}

std::size_t predicted_bytes(const std::string& method, Pass pass, const Shape& shape) {
  if (is_product(method)) return product_bytes(*product_engine(method, shape_only(shape)), pass, shape);
  std::size_t bytes = 0;
  with_backend(method, [&](auto backend) {
    bytes = decltype(backend)::bytes(shape, sizeof(double), pass == Pass::kBoth);
  });
  return bytes;
}

Cost cost(const std::string& method, Pass pass, const Shape& shape, double least, std::size_t limit) {
  Cost found;
  found.bytes = predicted_bytes(method, pass, shape);
  found.refused = found.bytes > limit;
  if (found.refused) return found;
  const Problem problem = random_problem(shape, 1, false);
  if (is_product(method)) {
    const auto engine = product_engine(method, chain_of(problem));
    Sequence sequence = sequence_of(problem);
    if (engine->precision() == Precision::kFloat) {
      sequence.f32.assign(sequence.f64.begin(), sequence.f64.end());
      sequence.f64.clear();
    }
    found.seconds = least_seconds(method, least, [&] {
      if (pass == Pass::kForward)
        log_partition(*engine, sequence);
      else
        marginals(*engine, sequence);
    });
    return found;
  }
  with_backend(method, [&](auto backend) {
    using Backend = decltype(backend);
    Log ring;
    Memory memory(limit);
    double log_partition = 0;
    found.seconds = least_seconds(method, least, [&] {
      if (pass == Pass::kForward) {
        log_partition = Backend::run(problem, ring, memory, ForwardOnly{});
        return;
      }
      // Masses are divided by the total only afterwards in automatic differentiation; a guess of it costs the
      // same.
      Gradients gradients(problem);
      log_partition = Backend::run(problem, ring, memory, [&](const Edge& edge, double log_mass) {
        gradients.add(edge, log_mass, log_mass);
      });
    });
    found.bytes = memory.peak();
  });
  return found;
}

double slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0, mean_y = 0, covariance = 0, variance = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += std::log(x[i]) / n, mean_y += std::log(y[i]) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    covariance += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    variance += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return covariance / variance;
}

}  // namespace semicrf::lab
