// The engine for one piece after the other, some of which were cut out of something longer.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/options.h"
#include "model/scores/edge_roles.h"

namespace semicrf {

// Keeps the engine of pieces that were not cut, and that of the latest cut.
class PieceEngine {
 public:
  PieceEngine(const EngineOptions& options, const ChainModel& model)
      : options_(options), whole_(make_engine(options, model)) {}

  Engine& whole() const { return *whole_; }
  // For a piece whose edges are cut like this.
  Engine& take_up(CutEdges cut) {
    is_cut_ = cut.any();
    if (!is_cut_) return *whole_;
    if (!roles_ || !(roles_->cut() == cut)) {
      roles_ = std::make_unique<EdgeRoles>(whole_->model(), cut);
      cut_ = make_engine(options_, roles_->chain());
    }
    return *cut_;
  }
  // The roles of the piece that was taken up last; null: it was not cut.
  const EdgeRoles* roles() const { return is_cut_ ? roles_.get() : nullptr; }

 private:
  EngineOptions options_;
  std::unique_ptr<Engine> whole_;
  bool is_cut_ = false;
  std::unique_ptr<EdgeRoles> roles_;
  std::unique_ptr<Engine> cut_;
};

}  // namespace semicrf
