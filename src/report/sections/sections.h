// The sections of a report: each makes pictures and tables of what was gathered, and says how to read them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/metrics/eval_report.h"
#include "report/blocks.h"
#include "report/data/basis.h"
#include "report/data/certainty.h"
#include "report/data/loci.h"
#include "report/data/provenance_facts.h"
#include "segmentation/enrichment.h"

namespace semicrf {

Section labels_section(const ReportBasis& basis);
Section model_section(const ReportBasis& basis);
// `signal`: nothing where no tracks were given.
Section signal_section(const ReportBasis& basis, const std::optional<Signal>& signal);
Section certainty_section(const ReportBasis& basis, const Certainty& certainty,
                          const std::optional<EvalReport>& evaluation);

// What is drawn at the loci besides the segments.
struct LociInputs {
  TrueSegments truth;                     // numbered by truth_labels
  std::vector<std::string> truth_labels;  // those of the model come first
  std::vector<Annotation> annotations;
  bool are_named = false;   // by the user
  bool in_regions = false;  // that the user named, too long for a picture
};
Section loci_section(const ReportBasis& basis, const std::vector<Locus>& loci, const LociInputs& inputs);

Section evaluation_section(const std::optional<EvalReport>& evaluation);
Section enrichment_section(const ReportBasis& basis, const std::vector<Annotation>& annotations);
Section provenance_section(const ProvenanceFacts& facts);

}  // namespace semicrf
