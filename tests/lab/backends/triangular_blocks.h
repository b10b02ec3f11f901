// A matrix of C x C blocks of which only those of an anti-diagonal triangle are stored (App. B, Backend 2;
// C.3).
#pragma once

#include <vector>

#include "lab/backends/backend.h"

namespace semicrf::lab {

// Blocks (d1, d2) with d1 + d2 < S and d1, d2 < D.
inline Index triangle_blocks(Index span, Index K) {
  Index count = 0;
  for (Index d = 0; d < std::min(K, span); ++d) count += std::min(std::min(K, span), span - d);
  return count;
}

template <class Value>
struct TriangularBlocks {
  Index span, D, C;
  std::vector<Index> first;  // of row d1, in blocks
  Array<Value> values;
  TriangularBlocks(Memory& memory, Index span_, const Shape& s, const Value& zero)
      : span(span_),
        D(std::min(s.K, span_)),
        C(s.C),
        values(memory, triangle_blocks(span_, s.K) * C * C, zero) {
    Index begin = 0;
    for (Index d = 0; d < D; ++d) {
      first.push_back(begin);
      begin += std::min(D, span - d);
    }
  }
  bool feasible(Index d1, Index d2) const { return d1 < D && d2 < D && d1 + d2 < span; }
  Value& at(Index d1, Index c1, Index d2, Index c2) { return values[((first[d1] + d2) * C + c1) * C + c2]; }
  Value get(Index d1, Index c1, Index d2, Index c2, const Value& zero) const {
    return feasible(d1, d2) ? values[((first[d1] + d2) * C + c1) * C + c2] : zero;
  }
  // body(d1, c1, d2, c2) for every entry that is stored.
  template <class Body>
  void for_each(Body body) const {
    for (Index d1 = 0; d1 < D; ++d1)
      for (Index d2 = 0; feasible(d1, d2); ++d2)
        for (Index c1 = 0; c1 < C; ++c1)
          for (Index c2 = 0; c2 < C; ++c2) body(d1, c1, d2, c2);
  }
};

}  // namespace semicrf::lab
