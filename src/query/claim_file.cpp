#include "query/claim_file.h"

#include <array>
#include <utility>

namespace semicrf {
namespace {

// In the order of ClaimKind.
constexpr std::array<StatementKind, 7> kKinds = {{{"segment", true},
                                                  {"boundary", false},
                                                  {"no-boundary", false},
                                                  {"label", true},
                                                  {"within", true},
                                                  {"starts", true},
                                                  {"ends", true}}};

}  // namespace

IntervalFile claim_file(const std::string& path) {
  return {path,
          {"claim",
           "claims are segment:LABEL, boundary, no-boundary, label:LABEL, within:LABEL, starts:LABEL and "
           "ends:LABEL"}};
}

std::vector<ClaimLine> read_claims(const IntervalFile& file, const std::vector<Label>& labels) {
  std::vector<ClaimLine> claims;
  for (IntervalLine& line : file.read()) {
    const Statement statement = file.take_apart(line, kKinds);
    ClaimLine claim;
    claim.kind = static_cast<ClaimKind>(statement.kind);
    if (kKinds[statement.kind].has_label) claim.label = file.find_label(line, statement.label, labels);
    static_cast<IntervalLine&>(claim) = std::move(line);
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace semicrf
