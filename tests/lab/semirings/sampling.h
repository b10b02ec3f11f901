// log Z together with one segmentation drawn from P(y|x).
//
// Every value carries a draw from the segmentations that it sums over: plus keeps the draw of one side with
// the probability of its share, times joins two draws. The choices at different sums are independent, and a
// segmentation passes each sum at most once, so the draw of the total is exact. Joined draws share their
// parts: a draw is a node of a list of nodes that grows by one per product.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/chain_model.h"
#include "lab/problem.h"
#include "lab/semirings/semiring.h"

namespace semicrf::lab {

class Sampling {
 public:
  struct Value {
    double log_weight = kNegativeInfinity;
    std::uint32_t draw = 0;  // node 0: no edges
  };
  static constexpr const char* name = "sampling";
  explicit Sampling(std::uint64_t seed) : random_(seed) { forget(); }

  Value zero() const { return {}; }
  Value one() const { return {0, 0}; }
  Value plus(const Value& a, const Value& b) {
    if (b.log_weight == kNegativeInfinity) return a;
    if (a.log_weight == kNegativeInfinity) return b;
    const double total = log_add(a.log_weight, b.log_weight);
    const bool first = uniform_(random_) < std::exp(a.log_weight - total);
    return {total, first ? a.draw : b.draw};
  }
  Value times(const Value& a, const Value& b) {
    if (a.log_weight == kNegativeInfinity || b.log_weight == kNegativeInfinity) return {};
    const double weight = a.log_weight + b.log_weight;
    if (a.draw == 0 || b.draw == 0) return {weight, a.draw + b.draw};
    nodes_.push_back({a.draw, b.draw, {}});
    return {weight, static_cast<std::uint32_t>(nodes_.size() - 1)};
  }
  Value lift(const Edge& edge) {
    if (edge.score == kNegativeInfinity) return {};
    nodes_.push_back({0, 0, edge});
    return {edge.score, static_cast<std::uint32_t>(nodes_.size() - 1)};
  }
  Value scaled(Value a, double log_factor) const {
    a.log_weight += log_factor;
    return a;
  }
  double magnitude(const Value& a) const { return a.log_weight; }
  Value sum(const Value* values, Index count) { return sum_one_by_one(*this, values, count); }

  // The edges of a draw, in no order that means anything (a tree joins from the middle, a scan from one
  // side).
  std::vector<Edge> edges(const Value& value) const {
    std::vector<Edge> found;
    std::vector<std::uint32_t> open{value.draw};
    while (!open.empty()) {
      const Node node = nodes_[open.back()];
      open.pop_back();
      if (node.edge.k > 0) found.push_back(node.edge);
      for (const std::uint32_t part : {node.left, node.right})
        if (part != 0) open.push_back(part);
    }
    return found;
  }
  // Before the next draw; the random numbers go on.
  void forget() { nodes_.assign(1, {0, 0, {}}); }

 private:
  struct Node {
    std::uint32_t left, right;
    Edge edge;  // k == 0: a joint of two parts
  };
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_;
  std::vector<Node> nodes_;
};

}  // namespace semicrf::lab
