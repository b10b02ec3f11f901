// Claims as files have them: BED lines whose names say what is claimed.
#pragma once

#include <vector>

#include "analyses/claims/claim.h"
#include "inputs/statements/interval_file.h"
#include "model/parameters.h"

namespace semicrf {

struct ClaimLine : IntervalLine {
  ClaimKind kind = ClaimKind::kBoundary;
  int label = -1;
};

// How claims are written, for the reader of the file and for messages.
IntervalFile claim_file(const std::string& path);

// In the order of the file. InputError with the line: not BED, no claim in column 4, an unknown kind or
// label, a label that is missing or not wanted; or no claim at all.
std::vector<ClaimLine> read_claims(const IntervalFile& file, const std::vector<Label>& labels);

}  // namespace semicrf
