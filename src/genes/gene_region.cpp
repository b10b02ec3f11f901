#include "genes/gene_region.h"

#include <algorithm>

#include "genes/lattice/best_paths.h"
#include "genes/lattice/lattice_sweep.h"
#include "genes/lattice/part_source.h"

namespace semicrf {
namespace {

// Whether the boundary between two labels lies within one gene, not between genes.
class WithinGene {
 public:
  WithinGene(const GeneModel& model, const GeneLattice& lattice)
      : lattice_(&lattice), begins_(model.states.size()), ends_(model.states.size()) {
    for (const GeneTransition& one : model.transitions) {
      if (one.from == 0) begins_[one.to] = true;
      if (one.to == 0) ends_[one.from] = true;
    }
  }
  bool operator()(const LatticeEdge& edge) const {
    const GeneLabel& left = lattice_->labels[edge.from];
    const GeneLabel& right = lattice_->labels[edge.to];
    if (left.state == 0 || right.state == 0) return false;
    const bool plus = right.strand == '+';
    return !ends_[plus ? left.state : right.state] || !begins_[plus ? right.state : left.state];
  }

 private:
  const GeneLattice* lattice_;
  std::vector<bool> begins_, ends_;  // by state: next to intergenic sequence, along the strand
};

}  // namespace

Lattice lattice_of_gene(const GeneModel& model, const GeneLattice& lattice, const GeneEnds& ends) {
  Lattice region = lattice.lattice;
  region.cut_begin = ends.cut_left, region.cut_end = ends.cut_right;
  const WithinGene within(model, lattice);
  const bool shares = std::any_of(model.states.begin(), model.states.end(),
                                  [](const GeneState& state) { return is_overlap(state.frame); });
  std::erase_if(region.edges, [&](const LatticeEdge& edge) {
    const GeneLabel& right = lattice.labels[edge.to];
    return !within(edge) || right.strand != ends.strand || (shares && right.frame != ends.frame);
  });
  for (std::size_t c = 0; c < region.labels.size(); ++c)
    region.labels[c].initial = ends.before[c], region.labels[c].final = ends.behind[c];
  return region;
}

double log_sum_of_gene(const GeneModel& model, const GeneLattice& lattice, const LatticeSource& source,
                       std::int64_t begin, std::int64_t end, const GeneEnds& ends) {
  const Lattice region = lattice_of_gene(model, lattice, ends);
  const PartSource part(source, begin, end);
  LatticeWindow window;
  part.read(0, part.length(), window);
  LatticeSweep sweep(region, Direction::kForward, LatticeSemiring::kLog, part.length());
  LatticeSteps steps(region, Direction::kForward);
  sweep.pass(window, steps, nullptr);
  return sweep.end().value;
}

std::vector<LatticePath> best_paths_of_gene(const GeneModel& model, const GeneLattice& lattice,
                                            const LatticeSource& source, std::int64_t begin, std::int64_t end,
                                            const GeneEnds& ends, std::size_t count) {
  return best_paths(lattice_of_gene(model, lattice, ends), PartSource(source, begin, end), count);
}

}  // namespace semicrf
