// The best paths of a lattice, in order: for short sequences, which are read as one window.
#pragma once

#include <cstddef>
#include <vector>

#include "genes/lattice/lattice.h"
#include "genes/lattice/lattice_inference.h"

namespace semicrf {

// At most `count`, by falling score; fewer where there are no more. Best first search with the backward
// messages of the max semiring, which tell exactly what the best rest of a path comes to. Time: about count
// times the segments of a path, times the boundaries at which a segment may end.
std::vector<LatticePath> best_paths(const Lattice& lattice, const LatticeSource& source, std::size_t count);

}  // namespace semicrf
