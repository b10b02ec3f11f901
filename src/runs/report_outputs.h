// Outputs made of the statistics of a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/json/multiqc_json.h"
#include "model/parameters.h"
#include "outputs/sink.h"
#include "runs/run_report.h"

namespace semicrf {

// The statistics of the run, JSON. It must come behind all other outputs, whose time it counts, and before
// further outputs from the RunReport.
PlannedOutput stats_output(const std::string& path, RunReport& report, const std::string& version,
                           const std::string& device);
// The documents for MultiQC about a run that decodes.
OutputPlan multiqc_outputs(const MultiqcTarget& target, const std::vector<Label>& labels,
                           std::size_t num_tracks, RunReport& report);

}  // namespace semicrf
