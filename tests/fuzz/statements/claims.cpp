// Claims.
#include "fuzz/fuzz_input.h"
#include "fuzz/statements/statement_model.h"
#include "query/query_run.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  const std::vector<Label> labels = statement_labels();
  allow_refusal([&] {
    const std::vector<ClaimLine> claims = read_claims(claim_file(as_file(bytes)), labels);
    require(!claims.empty(), "a file of claims has some");
    std::int64_t line = 0;
    for (const ClaimLine& claim : claims) {
      require(0 <= claim.begin && claim.begin < claim.end && !claim.chromosome.empty(),
              "claims have an interval");
      require(claim.line > line, "lines are counted");
      line = claim.line;
      const bool has_label = claim.kind != ClaimKind::kBoundary && claim.kind != ClaimKind::kNoBoundary;
      require(has_label == (claim.label >= 0) && claim.label < static_cast<int>(labels.size()),
              "labels are known");
      const PositionRange bins = bins_of(claim, {claim.chromosome, 10, 7, 207, 3});
      require(bins.begin < bins.end, "intervals are at least a bin");
    }
  });
}

}  // namespace semicrf::fuzz
