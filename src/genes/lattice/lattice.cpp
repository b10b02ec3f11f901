#include "genes/lattice/lattice.h"

#include <cmath>

#include "core/chain_model.h"

namespace semicrf {

LatticeLaw cut_law(const LatticeLaw& law, int ends) {
  LatticeLaw cut = law;
  const double tail = law.log_tail == kNegativeInfinity ? 0 : std::exp(law.log_tail);
  for (int end = 0; end < ends; ++end) {
    cut.table.back() -= std::log1p(-tail);  // with all that follow, the tail too
    for (std::size_t k = cut.table.size() - 1; k > 0; --k)
      cut.table[k - 1] = log_add(cut.table[k - 1], cut.table[k]);
  }
  return cut;
}

double duration_score(const Lattice& lattice, const LatticeLabel& label, std::int64_t begin, std::int64_t end,
                      std::int64_t length) {
  const std::size_t index = label.law;
  const bool left = begin == 0 && lattice.cut_begin, right = end == length && lattice.cut_end;
  if (!left && !right) {
    const LatticeLaw& law = lattice.laws[index];
    return duration_score(law.table, law.log_tail, label.modulus, label.residue, end - begin);
  }
  const LatticeLaw& law = left && right ? lattice.twice_cut_laws[index] : lattice.cut_laws[index];
  return duration_score(law.table, law.log_tail, 1, 0, end - begin);
}

}  // namespace semicrf
