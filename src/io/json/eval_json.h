// The document that eval --json writes: "semicrf-eval" version 1.0 (docs/file-details.md).
#pragma once

#include <string>

#include "eval/metrics/eval_report.h"

namespace semicrf {

// The document's text, ended by a newline. Numbers read back to the same double (up to 17 significant
// digits); what is not defined or impossible is null, what was not computed is absent.
std::string eval_json_text(const EvalReport& report);

}  // namespace semicrf
