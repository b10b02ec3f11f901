// How long the parts of the genes were that a gene model was learned from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "genes/gene_model.h"

namespace semicrf {

// The lengths of a law as probabilities, without the weight that the fit gave it. `stop`: bases of the stop
// codon, which predicted exons have and the state of the law has not.
class TrainedLengths {
 public:
  TrainedLengths(const LengthModel& law, std::int64_t stop);

  bool any() const { return all_ > 0; }
  double share(std::int64_t begin, std::int64_t end) const;  // that of lengths in [begin, end)
  // The smallest length that this share (< 1) does not exceed.
  std::int64_t quantile(double share) const;

 private:
  double below(std::int64_t length) const;  // the weight of shorter ones

  std::int64_t stop_ = 0;
  double log_tail_ = 0;
  std::vector<double> sums_;  // [k]: the weight of lengths 1..k
  double tail_ = 0;           // the weight of those beyond
  double all_ = 0;
};

}  // namespace semicrf
