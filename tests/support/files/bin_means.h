// Means of bins, for comparison with other readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "io/bigwig/bigwig_reader.h"

namespace semicrf::test {

// The mean over the bases with a value of bins first_bin, first_bin + 1, ..., rounded once from double; NaN
// for a bin without one.
inline void bin_means(BigWigFile& file, std::size_t chrom, std::int64_t first_bin, std::int64_t bin_size,
                      std::span<float> means, int threads = 1) {
  std::vector<double> sum(means.size());
  std::vector<std::uint32_t> covered(means.size());
  file.bin_sums(chrom, first_bin, bin_size, {sum, covered}, threads);
  for (std::size_t i = 0; i < means.size(); ++i)
    means[i] = covered[i] == 0 ? std::numeric_limits<float>::quiet_NaN()
                               : static_cast<float>(sum[i] / static_cast<double>(covered[i]));
}

}  // namespace semicrf::test
