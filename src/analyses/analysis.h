// An analysis is one thing that is computed of a piece: a path, posteriors, samples, probabilities of claims.
//
// Each is a class with this interface, in a folder of its own. A command makes an AnalysisList of those that
// it wants; the code that plans memory, cuts windows, counts progress, chooses a device, collects statistics
// or writes a plan asks the list, and has no analysis by name. A new analysis is a class and the line of the
// command that adds it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/viterbi/segment_list.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "inputs/statements/constraint_file.h"
#include "io/text/chromosomes.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "windows/edge_windows.h"
#include "windows/window_loop.h"

namespace semicrf {

// What analyses found of one piece.
//
// One result of each type, such as ViterbiResult or PosteriorResult. Results stay where they are when this
// object is moved.
class PieceResult {
 public:
  PieceResult() = default;
  PieceResult(PieceResult&&) = default;
  PieceResult& operator=(PieceResult&&) = default;

  template <class Result>
  Result& put(Result result) {
    return emplace<Result>(std::move(result));
  }
  template <class Result, class... Arguments>
  Result& emplace(Arguments&&... arguments) {
    auto held = std::make_shared<Result>(std::forward<Arguments>(arguments)...);
    Result& result = *held;
    found_[typeid(Result)] = std::move(held);
    return result;
  }
  template <class Result>
  void drop() {
    found_.erase(typeid(Result));
  }
  // The result of this type; null: there is none.
  template <class Result>
  Result* find() const {
    const auto found = found_.find(typeid(Result));
    return found == found_.end() ? nullptr : static_cast<Result*>(found->second.get());
  }
  template <class Result>
  Result& get() const {
    if (Result* const found = find<Result>()) return *found;
    throw std::logic_error("a result is wanted of a piece that has none of its kind");
  }

  // The path, which is a part of one of the results.
  void set_path(const SegmentList& path) { path_ = &path; }
  const SegmentList* path_if_any() const { return path_; }
  const SegmentList& path() const {
    if (path_ != nullptr) return *path_;
    throw std::logic_error("a path is wanted of a piece that has none");
  }

  bool feasible = true;                              // false: no segmentation has a finite score
  std::optional<double> log_constraint_probability;  // natural logarithm

 private:
  std::unordered_map<std::type_index, std::shared_ptr<void>> found_;
  const SegmentList* path_ = nullptr;
};

struct Constraint;
struct ConstraintFindings;
class AnalysisList;
class SequenceReport;

// The place of a piece, on which the random numbers of its samples and the claims about it depend.
struct PieceIdentity {
  std::string sequence;  // name of the sequence
  BinLocation location;
  std::int64_t bins = 0;
};

// What an analysis computes with. All must outlive the call.
struct PieceContext {
  Engine& engine;
  ScoreSource& source;
  // The scores without constraints, where there are any; else null. The penalties that make constraints hold
  // are too large to be multiplied with posteriors like scores.
  ScoreSource* unconstrained;
  PieceChain chain;
  const AnalysisList& analyses;
  const PieceIdentity& identity;
  int threads;  // threads of the host, in addition to those of the engine
  const ProgressCallback& progress;

  // The model that results are about.
  const ChainModel& model() const { return chain.model(engine); }
  // The segments with the labels of that model.
  SegmentList without_roles(SegmentList segments) const;
};

// Gets the posteriors of a feasible piece, left to right, with what was computed of it before them.
using BlockSink = std::function<void(const PieceResult& so_far, const PosteriorBlock&)>;

// Whole pieces whose scores lie in memory, computed by one call of the engine.
struct PiecesContext {
  Engine& engine;
  std::span<const ScoreWindow> pieces;
  int threads;                       // threads of the host
  const IndexedPosteriorSink& sink;  // called from several threads
};

// A piece and what was found of it, for the statistics.
struct PieceRecord {
  const PieceResult& result;
  const BinLocation& location;
  std::int64_t positions;
  const ChainModel& model;
};

class Analysis {
 public:
  virtual ~Analysis() = default;

  // --- its cost
  // Its name in a plan (`--dry-run`).
  virtual std::string title() const = 0;
  // The number of times that its progress counts every position.
  virtual int passes() const = 0;
  // Its cost in passes of forward messages over the piece.
  virtual int sweeps() const { return passes(); }
  // The memory of its pass over scores as `source` has them.
  virtual WindowNeeds needs(const Engine& engine, const ScoreSource& source,
                            const PieceChain& chain) const = 0;
  // Bytes that a run keeps for it until the end, windows not included.
  virtual std::size_t kept_bytes() const { return 0; }
  // Bytes of workspaces that threads keep from its pass, for so many positions at once.
  virtual std::size_t workspace_bytes(const Engine&, std::int64_t) const { return 0; }

  // --- what it can and gives
  // Whether it can be computed of sites, by their engine (src/sites).
  virtual bool knows_sites() const { return false; }
  // Whether run_together() can compute it.
  virtual bool computes_together() const { return false; }
  // Whether it sets the path of a piece, or gives blocks of posteriors to the outputs.
  virtual bool finds_path() const { return false; }
  virtual bool gives_posteriors() const { return false; }
  // Whether it computes anything of this piece. Called from several threads.
  virtual bool is_about(const PieceIdentity&) const { return true; }

  // --- computing
  // Puts its result into `result`, which has those of the analyses before it in the list. Where no
  // segmentation has a finite score it says so there, and none behind it runs.
  virtual void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                   const BlockSink& sink) const = 0;
  virtual void run_together(const PiecesContext& context, std::span<PieceResult> results) const;
  // Called before the first block of posteriors, and with every block, where an analysis of the list gives
  // posteriors: for an analysis that collects from them what its own run(), later, works with.
  virtual void begin_posteriors(const PieceContext&, PieceResult&) const {}
  virtual void add_posteriors(const PosteriorBlock&, PieceResult&) const {}

  // --- under constraints
  // Whether it must be checked first that the constraints can be met, because this analysis may not find out
  // by itself.
  virtual bool needs_constraint_check() const { return false; }
  // The least penalty, as a natural logarithm, of segmentations that lack a required boundary.
  virtual double least_penalty() const { return 0; }
  // Called after run(): removes from the result what comes from segmentations that lack a required boundary.
  // `context.source` has the scores without constraints.
  virtual void settle(const PieceContext& /*context*/, const WindowPlan& /*plan*/,
                      std::span<const Constraint> /*constraints*/, const ConstraintFindings& /*found*/,
                      PieceResult& /*result*/) const {}

  // --- statistics
  // Adds to the statistics a feasible piece, and one that is not feasible.
  virtual void record(const PieceRecord& piece, SequenceReport& report) const = 0;
  virtual void record_infeasible(SequenceReport&) const {}
};

// What a run computes of every piece: its analyses, in the order in which they are computed, and the
// constraints that all of them are under.
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
  bool knows_sites() const { return !constraints && all(&Analysis::knows_sites); }
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
