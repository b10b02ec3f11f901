// Claims as files have them: BED lines whose names say what is claimed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/parameters.h"
#include "pipeline/analyses/claims/claim.h"

namespace semicrf {

// A claim about bases [begin, end) of a chromosome.
struct ClaimLine {
  std::string chromosome;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string text;  // column 4, "segment:CDS"
  ClaimKind kind = ClaimKind::kBoundary;
  int label = -1;
  std::int64_t line = 0;  // of the file
};

// In the order of the file. InputError with the line: not BED, no claim in column 4, an unknown kind or
// label, a label that is missing or not wanted; or no claim at all.
std::vector<ClaimLine> read_claims(const std::string& path, const std::vector<Label>& labels);

}  // namespace semicrf
