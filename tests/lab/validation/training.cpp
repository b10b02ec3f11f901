#include "lab/validation/training.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace semicrf::lab {
namespace {

Parameters zeros(const TrainingData& data) {
  const Index C = data.labels;
  return {std::vector<double>(data.features * C), std::vector<double>(C * C),
          std::vector<double>(data.durations * C)};
}

// Adds the gradient of the negative log-likelihood of sequence b, and returns its value.
double add_gradient(const TrainingData& data, Index b, const Parameters& parameters, const Evaluate& evaluate,
                    Parameters& gradient) {
  const Index C = data.labels, D = data.features;
  const Problem problem = problem_of(data, parameters, data.rows[b]);
  Value value = evaluate(problem);
  double score = 0;
  const Segment* before = nullptr;
  for (const Segment& segment : data.segments[b]) {
    const auto begin = static_cast<Index>(segment.begin), end = static_cast<Index>(segment.end);
    const auto c = static_cast<Index>(segment.label);
    score += problem.segment(end, end - begin, c);
    for (Index t = begin; t < end; ++t) value.labels[t * C + c] -= 1;
    value.duration[(end - begin - 1) * C + c] -= 1;
    // The first segment's source is summed over: LSE_c' T[c',c].
    double all = 0;
    for (Index from = 0; from < C; ++from) all += std::exp(problem.transition[from * C + c]);
    for (Index from = 0; from < C; ++from) {
      const double share = before == nullptr ? std::exp(problem.transition[from * C + c]) / all
                           : static_cast<Index>(before->label) == from ? 1.0
                                                                       : 0.0;
      value.transition[from * C + c] -= share;
    }
    score +=
        before == nullptr ? std::log(all) : problem.transition[static_cast<Index>(before->label) * C + c];
    before = &segment;
  }
  for (Index t = 0; t < problem.shape.T; ++t)
    for (Index d = 0; d < D; ++d)
      for (Index c = 0; c < C; ++c)
        gradient.weights[d * C + c] += data.rows[b][t * D + d] * value.labels[t * C + c];
  for (Index i = 0; i < value.transition.size(); ++i) gradient.transition[i] += value.transition[i];
  for (Index i = 0; i < value.duration.size(); ++i) gradient.duration[i] += value.duration[i];
  return value.log_partition - score;
}

// The same of all sequences; the mean of the values.
double add_gradients(const TrainingData& data, const Parameters& parameters, const Evaluate& evaluate,
                     Parameters& gradient) {
  double loss = 0;
  for (Index b = 0; b < data.rows.size(); ++b) loss += add_gradient(data, b, parameters, evaluate, gradient);
  return loss / static_cast<double>(data.rows.size());
}

}  // namespace

Problem problem_of(const TrainingData& data, const Parameters& parameters, const std::vector<double>& rows) {
  const Index C = data.labels, D = data.features, T = rows.size() / D;
  Problem problem;
  problem.shape = {T, data.durations, C};
  problem.S.assign((T + 1) * C, 0.0);
  for (Index t = 0; t < T; ++t)
    for (Index c = 0; c < C; ++c) {
      double score = 0;
      for (Index d = 0; d < D; ++d) score += rows[t * D + d] * parameters.weights[d * C + c];
      problem.S[(t + 1) * C + c] = problem.S[t * C + c] + score;
    }
  problem.transition = parameters.transition;
  problem.duration = parameters.duration;
  return problem;
}

TrainingData training_data(Index B, Index T, Index C, Index K, Index D, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::poisson_distribution<Index> duration(static_cast<double>(K) / 4);
  std::vector<double> directions(C * D);
  for (double& value : directions) value = normal(random);
  TrainingData data{C, K, D, {}, {}};
  for (Index b = 0; b < B; ++b) {
    std::vector<double> rows;
    std::vector<Segment> segments;
    for (Index begin = 0; begin < T;) {
      const Index end = std::min(T, begin + std::clamp<Index>(duration(random), 1, K));
      const Index label = random() % C;
      segments.push_back(
          {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), static_cast<int>(label)});
      for (; begin < end; ++begin)
        for (Index d = 0; d < D; ++d) rows.push_back(0.5 * directions[label * D + d] + normal(random));
    }
    data.rows.push_back(std::move(rows));
    data.segments.push_back(std::move(segments));
  }
  return data;
}

double mean_loss(const TrainingData& data, const Parameters& parameters, const Evaluate& evaluate) {
  Parameters unused = zeros(data);
  return add_gradients(data, parameters, evaluate, unused);
}

Trained train(const TrainingData& data, int epochs, const Evaluate& evaluate) {
  constexpr double kRate = 0.02, kFirst = 0.9, kSecond = 0.999, kSmall = 1e-8;  // Adam's usual numbers
  constexpr std::vector<double> Parameters::*kParts[] = {&Parameters::weights, &Parameters::transition,
                                                         &Parameters::duration};
  Parameters parameters = zeros(data), mean = zeros(data), square = zeros(data);
  Trained trained;
  for (int epoch = 0; epoch <= epochs; ++epoch) {
    Parameters gradient = zeros(data);
    trained.curve.push_back(add_gradients(data, parameters, evaluate, gradient));
    trained.last = parameters;
    const double first = 1 - std::pow(kFirst, epoch + 1), second = 1 - std::pow(kSecond, epoch + 1);
    for (const auto part : kParts)
      for (Index i = 0; i < (gradient.*part).size(); ++i) {
        const double g = (gradient.*part)[i] / static_cast<double>(data.rows.size());
        double& m = (mean.*part)[i];
        double& v = (square.*part)[i];
        m = kFirst * m + (1 - kFirst) * g;
        v = kSecond * v + (1 - kSecond) * g * g;
        (parameters.*part)[i] -= kRate * (m / first) / (std::sqrt(v / second) + kSmall);
      }
  }
  return trained;
}

}  // namespace semicrf::lab
