// A motif that many windows have once, at unknown places: the branch point before acceptors.
#pragma once

#include <array>
#include <vector>

namespace semicrf {

// Log odds of a motif of `width` bases (A C G T are 0..3, others unknown) against `composition`, by
// expectation maximization: each window has it at one of its places, all alike, or with probability
// kMissingMotif nowhere. It begins with the word that windows have most above what the composition says.
// Empty where there are fewer than 20 windows of `width` bases or more.
std::vector<std::array<float, 4>> learn_motif(const std::vector<std::vector<int>>& windows, int width,
                                              const std::array<double, 4>& composition);

}  // namespace semicrf
