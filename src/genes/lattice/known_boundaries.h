// A sequence of which some boundaries are known: segments end there and, where stretches are closed, nowhere
// else.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "genes/lattice/lattice.h"

namespace semicrf {

struct KnownBoundaries {
  struct Boundary {
    std::int64_t at = 0;
    std::uint64_t signals = 0;  // those that count there; the others are as if they did not stand there
  };
  std::vector<Boundary> boundaries;  // ascending, within (0, T)
  // Stretches without other boundaries between their ends: ascending, apart from each other.
  std::vector<std::pair<std::int64_t, std::int64_t>> closed;
};

// The lattice with a barrier for all labels at known boundaries.
Lattice constrained_lattice(const Lattice& lattice);

// `kind`: that of the barrier, the last of constrained_lattice(). A signal that is not there is not made:
// what needs it is impossible. All must outlive it.
class KnownBoundarySource : public LatticeSource {
 public:
  KnownBoundarySource(int kind, const LatticeSource& source, const KnownBoundaries& known);
  std::int64_t length() const override { return source_->length(); }
  void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const override;

 private:
  void keep_events(LatticeWindow& window) const;
  void add_places(LatticeWindow& window) const;

  int kind_;  // the barrier at known boundaries
  const LatticeSource* source_;
  const KnownBoundaries* known_;
};

}  // namespace semicrf
