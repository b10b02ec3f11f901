// What a run computes of every piece: its analyses, in the order in which they are computed, and the
// constraints that all of them are under.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "engine/options.h"
#include "inputs/statements/constraint.h"

namespace semicrf {

class AnalysisList {
 public:
  // An analysis that needs the path or the posteriors of another one is added behind it.
  template <class One, class... Arguments>
  void add(Arguments&&... arguments) {
    list_.push_back(std::make_shared<const One>(std::forward<Arguments>(arguments)...));
  }

  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  std::size_t size() const { return list_.size(); }
  const Analysis& operator[](std::size_t i) const { return *list_[i]; }

  std::optional<EngineOptions> engine;         // engine options of the run, for the engines that an analysis
                                               // makes itself
  std::shared_ptr<ConstraintSet> constraints;  // constraints of the run, or null
  bool constraint_probability = false;         // whether P(constraints) is wanted

  // Passes for the constraints themselves: log Z with them and without.
  int constraint_passes() const { return constraints ? 2 : 0; }
  int passes() const { return sum(&Analysis::passes) + constraint_passes(); }
  int sweeps() const { return sum(&Analysis::sweeps) + constraint_passes(); }
  std::size_t kept_bytes() const { return sum(&Analysis::kept_bytes); }
  bool finds_path() const { return any(&Analysis::finds_path); }
  bool gives_posteriors() const { return any(&Analysis::gives_posteriors); }
  bool knows_edge_windows() const { return !constraints && all(&Analysis::knows_edge_windows); }
  bool computes_together() const { return !constraints && all(&Analysis::computes_together); }
  bool needs_constraint_check() const {
    return constraint_probability || any(&Analysis::needs_constraint_check);
  }
  // Whether the piece is read: constraints lie in it, or an analysis says something of it.
  bool is_about(const PieceIdentity& piece) const {
    return (constraints && !constraints->of(piece.location, piece.bins).empty()) ||
           std::ranges::any_of(list_, [&](const auto& one) { return one->is_about(piece); });
  }

 private:
  template <class Number>
  Number sum(Number (Analysis::*of)() const) const {
    Number total = 0;
    for (const auto& one : list_) total += (*one.*of)();
    return total;
  }
  bool any(bool (Analysis::*of)() const) const {
    return std::ranges::any_of(list_, [&](const auto& one) { return (*one.*of)(); });
  }
  bool all(bool (Analysis::*of)() const) const {
    return std::ranges::all_of(list_, [&](const auto& one) { return (*one.*of)(); });
  }

  std::vector<std::shared_ptr<const Analysis>> list_;
};

}  // namespace semicrf
