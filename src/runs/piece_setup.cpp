#include "runs/piece_setup.h"

#include <stdexcept>

#include "model/scores/edge_roles.h"

namespace semicrf {
namespace {

EdgeWindow edge_window(const EnginePool& engines, const EnginePool::Worker& worker, CutEdges cut,
                       std::int64_t positions, const OpenSource& open) {
  EdgeWindow edge;
  if (positions == 0) return edge;
  edge.positions = positions;
  edge.roles = engines.roles(cut);
  edge.engine = &engines.host_engine(worker, cut);
  if (edge.engine->info().grid.warmup > engines.engine(worker, {}).info().grid.warmup)
    throw std::logic_error("a window at an edge needs longer halos than the others");
  edge.scores = with_edge_roles(open(), edge.roles);
  edge.plain = open();
  return edge;
}

}  // namespace

PieceSetup set_up_piece(const EnginePool& engines, const EnginePool::Worker& worker,
                        const AnalysisList& analyses, CutEdges cut, std::int64_t bins,
                        const OpenSource& open) {
  PieceSetup setup;
  EdgeLengths lengths;
  if (cut.any() && analyses.knows_edge_windows())
    lengths = edge_lengths(engines.engine(worker, {}), cut, bins);
  if (!lengths.any()) {
    setup.engine = &engines.engine(worker, cut);
    setup.chain.roles = engines.roles(cut);
    setup.source = with_edge_roles(open(), setup.chain.roles);
    return setup;
  }
  setup.engine = &engines.engine(worker, {});
  setup.source = open();
  setup.edges = std::make_unique<EdgeWindows>();
  setup.edges->left = edge_window(engines, worker, {true, false}, lengths.left, open);
  setup.edges->right = edge_window(engines, worker, {false, true}, lengths.right, open);
  setup.edges->roles = engines.roles(cut);
  setup.chain.edges = setup.edges.get();
  return setup;
}

}  // namespace semicrf
