// Counts as other numbers: of a list that is known to be short, and in shares and means.
#pragma once

#include <iterator>

namespace semicrf {

// The entries of a list of labels, tracks, states or the like, of which parameter files have far fewer than
// an int holds.
template <class List>
constexpr int count_of(const List& list) {
  return static_cast<int>(std::size(list));
}

// a / b as a real number; whole numbers above 2^53 are rounded.
template <class A, class B>
constexpr double ratio(A a, B b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace semicrf
