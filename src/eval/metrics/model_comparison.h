// How far one model is from another on the same data, and its text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"

namespace semicrf {

// On one sequence, one region, or everything: sums over pieces, nats. P is the model, Q the other one.
struct ModelDifference {
  std::string name;  // the sequence, or the region as "chr:begin-end", 1-based inclusive
  std::int64_t positions = 0;
  std::int64_t pieces = 0;
  double log_partition = 0;        // log Z of P
  double other_log_partition = 0;  // log Z of Q; -inf where it has no segmentation
  double entropy = 0;              // H(P), of the segmentation
  double cross_entropy = 0;        // H(P,Q) = log Z_Q - E_P[score_Q]; +inf where Q forbids what P allows
  std::string forbidden;           // why it is infinite, with the first place; else empty

  // KL(P||Q) = H(P,Q) - H(P), +inf where the cross-entropy is. What rounding leaves below 0 is 0.
  double divergence() const;
  ModelDifference& operator+=(const ModelDifference& other);  // all but the name
};

struct ModelComparison {
  std::string params, other;                // names of the parameter files of P and Q
  std::string params_sha256, other_sha256;  // digests of their bytes
  std::string device;
  std::int64_t bin_size = 1;  // bases
  ModelDifference total;
  std::vector<ModelDifference> sequences;  // in the order of decode's output
  std::vector<ModelDifference> regions;    // those asked for, overlapping ones as one; empty: none was
  std::vector<Warning> warnings;
};

// Tables for people.
std::string comparison_text(const ModelComparison& comparison);

}  // namespace semicrf
