// Every segmentation of a tiny problem, edge by edge: what the backends are checked against. Shares only eq.
// (5) with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/problem.h"

namespace semicrf::lab {

struct Path {
  std::vector<Edge> edges;  // left to right
  long double score = 0;
};

// With a finite score. The first edge comes in C variants, one per source, as the paper's alpha_0 = 0 has it.
inline std::vector<Path> enumerate_paths(const Problem& problem) {
  std::vector<Path> done, open{{}};
  while (!open.empty()) {
    const Path path = open.back();
    open.pop_back();
    const Index s = path.edges.empty() ? 0 : path.edges.back().t;
    if (s == problem.shape.T) {
      done.push_back(path);
      continue;
    }
    for (Index k = 1; k <= std::min(problem.shape.K, problem.shape.T - s); ++k)
      for (Index from = 0; from < problem.shape.C; ++from)
        for (Index to = 0; to < problem.shape.C; ++to) {
          if (!path.edges.empty() && path.edges.back().to != from) continue;
          Path longer = path;
          longer.edges.push_back(problem.make_edge(s + k, k, from, to));
          longer.score += static_cast<long double>(longer.edges.back().score);
          if (std::isfinite(longer.edges.back().score)) open.push_back(longer);
        }
  }
  return done;
}

inline long double log_sum(const std::vector<Path>& paths) {
  long double largest = -INFINITY, total = 0;
  for (const Path& path : paths) largest = std::max(largest, path.score);
  for (const Path& path : paths) total += std::exp(path.score - largest);
  return paths.empty() ? largest : largest + std::log(total);
}

inline long double expected_score(const std::vector<Path>& paths) {
  const long double log_partition = log_sum(paths);
  long double mean = 0;
  for (const Path& path : paths) mean += std::exp(path.score - log_partition) * path.score;
  return mean;
}

// Falling.
inline std::vector<double> best_scores(const std::vector<Path>& paths) {
  std::vector<double> scores;
  for (const Path& path : paths) scores.push_back(static_cast<double>(path.score));
  std::sort(scores.rbegin(), scores.rend());
  return scores;
}

inline bool same_edge(const Edge& a, const Edge& b) {
  return a.t == b.t && a.k == b.k && a.from == b.from && a.to == b.to;
}

inline std::vector<Path> with_edge(const std::vector<Path>& paths, const Edge& edge) {
  std::vector<Path> found;
  for (const Path& path : paths)
    if (std::any_of(path.edges.begin(), path.edges.end(), [&](const Edge& e) { return same_edge(e, edge); }))
      found.push_back(path);
  return found;
}

}  // namespace semicrf::lab
