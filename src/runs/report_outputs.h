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

// The statistics of the run, JSON. Of several outputs from a RunReport it must be the first, and behind all
// others, so that it counts the time of these.
PlannedOutput stats_output(const std::string& path, RunReport& report, const std::string& version,
                           const std::string& device);
// Documents for MultiQC, of a run that decodes.
OutputPlan multiqc_outputs(const MultiqcTarget& target, const std::vector<Label>& labels,
                           std::size_t num_tracks, RunReport& report);

}  // namespace semicrf
