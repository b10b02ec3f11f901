// What a report is made of. Filled in apps/; nothing below reads the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/segments/segment_reader.h"
#include "runs/run_options.h"

namespace semicrf {

struct ReportOptions {
  InputOptions input;                    // parameters and tracks; its regions are not used
  std::string segments;                  // BED
  std::string posterior;                 // boundary posterior, or empty
  std::string labels_posterior;          // prefix of the label posteriors, or empty
  std::string truth;                     // BED, or with times; empty: none
  LabelTimes truth_times;                // for a truth in seconds; its bin size is that of the parameters
  std::vector<std::string> annotations;  // [name=]PATH of BED files
  std::vector<std::string>
      regions;               // to show in place of chosen ones, and to evaluate, with those of `regions_file`
  std::string regions_file;  // BED, or empty
  std::optional<std::int64_t> tolerance;  // tolerance for boundaries against the truth, bases
  std::string title = "Segmentation report";
  std::string output = "-";  // HTML
  std::string figures;       // folder of the pictures and tables, or empty
  std::string version;       // version of the program
  int threads = 1;
};

// Writes the report and the figures. Throws the errors of core/error.h.
void run_report(const ReportOptions& options);

}  // namespace semicrf
