// Leaves out reads that stand for one molecule that was copied.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "reads/count_rule.h"

namespace semicrf {

// Duplicates are reads of one chromosome with the same 5' end, strand and, of pairs, fragment, and from the
// same cell; intervals without a strand have the same first and last base. Takes memory for the places at
// which reads end that overlap one base, whatever their number. Not thread-safe.
class DuplicateFilter {
 public:
  explicit DuplicateFilter(const CountRule& rule) : most_(rule.keep_duplicates), fragments_(rule.fragments) {}

  // Whether the read is among the first of its duplicates, as many as are kept. Reads of one chromosome come
  // in the order of their first bases.
  bool keep(const Read& read, std::size_t cell) {
    if (most_ == 0) return true;
    const bool reverse = read.strand == ReadStrand::kReverse;
    const bool whole = (fragments_ && read.is_of_pair) || read.strand == ReadStrand::kUnknown;
    const std::int64_t place = reverse ? read.end - 1 : read.begin;
    while (!seen_.empty() && std::get<0>(seen_.begin()->first) < read.begin) seen_.erase(seen_.begin());
    return ++seen_[{place, read.strand, whole ? read.pair_bases : read.mate, cell}] <= most_;
  }

 private:
  using Molecule = std::tuple<std::int64_t, ReadStrand, std::int64_t, std::size_t>;

  std::int64_t most_;
  bool fragments_;
  std::map<Molecule, std::int64_t> seen_;  // how often; those that later reads may be like
};

}  // namespace semicrf
