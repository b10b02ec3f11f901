#include "pipeline/query/claim_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "io/json/json_document.h"
#include "io/text/bed_reader.h"

namespace semicrf {
namespace {

struct KindName {
  std::string_view name;
  ClaimKind kind;
  bool has_label;
};
constexpr std::array<KindName, 7> kKinds = {{{"segment", ClaimKind::kSegment, true},
                                             {"boundary", ClaimKind::kBoundary, false},
                                             {"no-boundary", ClaimKind::kNoBoundary, false},
                                             {"label", ClaimKind::kLabel, true},
                                             {"within", ClaimKind::kWithin, true},
                                             {"starts", ClaimKind::kStarts, true},
                                             {"ends", ClaimKind::kEnds, true}}};
constexpr const char* kForms =
    "claims are segment:LABEL, boundary, no-boundary, label:LABEL, within:LABEL, starts:LABEL and ends:LABEL";

void read_text(const std::string& path, const std::vector<Label>& labels, ClaimLine& claim) {
  const auto refuse = [&](const std::string& what, const std::string& advice) {
    return InputError({path, "line " + std::to_string(claim.line), what, advice});
  };
  if (claim.text.empty()) throw refuse("there is no claim in column 4", kForms);
  const std::size_t colon = claim.text.find(':');
  const bool has_label = colon != std::string::npos;
  const std::string_view name = std::string_view(claim.text).substr(0, colon);
  const auto* kind = std::ranges::find(kKinds, name, &KindName::name);
  if (kind == kKinds.end()) throw refuse(in_quotes(claim.text) + " is not a claim", kForms);
  claim.kind = kind->kind;
  if (kind->has_label && !has_label)
    throw refuse("the claim " + in_quotes(claim.text) + " has no label", "write " + claim.text + ":LABEL");
  if (!kind->has_label && has_label)
    throw refuse("the claim " + in_quotes(claim.text) + " has a label, but is about any of them",
                 "write " + std::string(name));
  if (!kind->has_label) return;
  const std::string label = claim.text.substr(colon + 1);
  const auto found = std::ranges::find(labels, label, &Label::name);
  if (found == labels.end()) {
    std::vector<std::string> names;
    for (const Label& one : labels) names.push_back(one.name);
    throw refuse("the model has no label " + in_quotes(label), "its labels are " + joined(names, ", "));
  }
  claim.label = static_cast<int>(found - labels.begin());
}

}  // namespace

std::vector<ClaimLine> read_claims(const std::string& path, const std::vector<Label>& labels) {
  BedReader reader(path);
  std::vector<ClaimLine> claims;
  for (BedRecord record; reader.next(record);) {
    ClaimLine claim{record.chromosome, record.begin, record.end, record.name, {}, -1, record.line};
    read_text(path, labels, claim);
    claims.push_back(std::move(claim));
  }
  if (claims.empty()) throw InputError({path, "", "there is no claim in this file", kForms});
  return claims;
}

}  // namespace semicrf
