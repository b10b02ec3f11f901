// What the tracks have in the segments of each label, and at the loci.
#pragma once

#include <cstdint>
#include <vector>

#include "report/data/basis.h"
#include "report/data/loci.h"

namespace semicrf {

struct SignalSum {
  std::int64_t bins = 0;  // with a value
  double sum = 0, squares = 0;

  double mean() const { return sum / static_cast<double>(bins); }
  double deviation() const;  // standard deviation
};

struct Signal {
  std::size_t tracks = 0;
  std::vector<SignalSum> sums;  // (C, tracks) row-major: of the bins of each label

  const SignalSum& of(std::size_t label, std::size_t track) const { return sums[label * tracks + track]; }
};

// Reads every bin of the parts that have segments once; fills Locus::tracks. Values that are not finite do
// not count. The sums run from left to right, whatever `threads` read the files.
Signal measure_signal(const ReportBasis& basis, std::vector<Locus>& loci, int threads);

}  // namespace semicrf
