// The scores of a cut piece for the chain of its EdgeRoles.
#pragma once

#include <memory>
#include <vector>

#include "model/scores/edge_roles.h"
#include "model/scores/host_projection.h"
#include "model/scores/score_source.h"

namespace semicrf {

// Gives scores, never features: those of `source` once for every role of a label. Start scores of position 0
// and end scores of the last one are left out where the edge is cut, as nothing starts or ends there.
class EdgeSource : public ScoreSource {
 public:
  // `roles` must outlive this object.
  EdgeSource(std::unique_ptr<ScoreSource> source, const EdgeRoles& roles);

  std::int64_t length() const override { return source_->length(); }
  std::size_t bytes_per_position() const override;
  std::size_t score_bytes() const override;
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override;

 private:
  std::unique_ptr<ScoreSource> source_;
  HostProjection projected_;
  const EdgeRoles& roles_;
  ScoreBuffers read_;
  std::vector<double> baseline_;
};

// That of a piece that was cut, or `source` itself: where `roles` is null.
std::unique_ptr<ScoreSource> with_edge_roles(std::unique_ptr<ScoreSource> source, const EdgeRoles* roles);

// `window` for that chain, in `buffers`. It has scores; `baseline` becomes its centring's.
ScoreWindow with_edge_roles(const ScoreWindow& window, const EdgeRoles& roles, ScoreBuffers& buffers,
                            std::vector<double>& baseline);

}  // namespace semicrf
