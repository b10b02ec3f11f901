// What is written of counts: one value a bin, scaled, against a control, or as ChromHMM binarises.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "reads/count_rule.h"
#include "reads/read_grid.h"
#include "reads/tile_counter.h"

namespace semicrf {

// The values of a track. Thread-safe after it is made.
class BinValues {
 public:
  virtual ~BinValues() = default;
  // Bins of the chromosome that have values; 0: the track has none there.
  virtual std::int64_t bins(std::size_t chromosome) const = 0;
  // The values of a tile, as many as it has bins below bins(chromosome); NaN: excluded, or not wanted.
  virtual void read(std::size_t chromosome, std::int64_t tile, std::vector<float>& values) const = 0;
};

enum class CountScale { kNone, kCpm };  // kCpm: per million reads that are counted
// The logarithm or ratio is that of (count + 1) / (control + 1).
enum class ControlUse { kLog2, kRatio, kDifference };

struct ValueOptions {
  CountScale scale = CountScale::kNone;
  ControlUse control = ControlUse::kLog2;
};

// `control`: null where there is none. Counts and control are both brought to the smaller number of reads of
// the two, or with kCpm to a million.
std::unique_ptr<BinValues> scaled_values(const ReadGrid& grid, CountedPart part,
                                         const ExcludedBases& excluded,
                                         std::shared_ptr<const CountStore> counts,
                                         std::shared_ptr<const CountStore> control,
                                         const ValueOptions& options);

// The rule of ChromHMM's BinarizeBam: 1 where a bin has at least as many reads as the threshold.
struct BinariseOptions {
  double tail = 1e-4;      // the Poisson probability of so many reads by chance
  double fold = 0;         // and so many times as many as expected
  double least = 0;        // and so many
  bool beyond = false;     // the threshold is the first count whose tail is below `tail`; else the one before
  std::int64_t flank = 5;  // bins on either side that are added up in the control
  std::int64_t pseudocount = 1;  // added to each bin of the control
};

// Smallest number of reads that makes a 1 where `expected` are expected by chance.
std::int64_t binary_threshold(double expected, const BinariseOptions& options);

// The tracks of one cell type together: chromosomes without a read of any are left out, as are bins that are
// cut at the chromosome's end. Entries of `controls` may be null; where all are, there is no control.
std::vector<std::unique_ptr<BinValues>> binarised_values(
    const ReadGrid& grid, const std::vector<std::shared_ptr<const CountStore>>& counts,
    const std::vector<std::shared_ptr<const CountStore>>& controls, const BinariseOptions& options);

}  // namespace semicrf
