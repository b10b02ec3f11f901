// What a semiring is here (App. B of the paper, "Semiring Abstraction"): a struct with
//
//   Value                     what is added and multiplied
//   zero(), one()             nothing, and the empty product
//   plus(a, b), times(a, b)   the two operations; times commutes in all of ours
//   lift(edge)                the weight of an edge (eq. 5)
//   scaled(a, s)              a times e^s, a factor that belongs to no edge (the normalisers of Alg. 1)
//   magnitude(a)              a logarithm of the size of a, to choose such factors; -inf for zero
//   sum(values, n)            all of them by plus, in any order and by any method
//
// The dynamic programs are templates over it. Run "inside" (left to right, or up a tree) they give the sum
// over all segmentations of the product over their edges. Run "outside" too, they give for every edge the sum
// over the segmentations that contain it. What these sums mean:
//
//   semiring      sum over all                                sum over those with an edge
//   Log           log Z                                       log of P(edge) Z: marginals, gradients
//   Standard      Z                                           P(edge) Z
//   Max           score of the best path                      score of the best path with the edge
//   KMax          scores of the k best paths                  of the k best with the edge
//   Expectation   log Z and E[score]; entropy = difference    of the conditional distribution given the edge
//   Sampling      log Z and one exact draw                    a draw given the edge
#pragma once

#include <cstddef>

namespace semicrf::lab {

// sum() by plus, for semirings without a faster way.
template <class Ring, class Value>
Value sum_one_by_one(Ring& ring, const Value* values, std::size_t count) {
  Value total = ring.zero();
  for (std::size_t i = 0; i < count; ++i) total = ring.plus(total, values[i]);
  return total;
}

}  // namespace semicrf::lab
