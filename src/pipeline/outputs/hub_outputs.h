// The files of a track hub.
#pragma once

#include "pipeline/outputs/formats.h"
#include "pipeline/run/run_options.h"

namespace semicrf {

struct HubFiles {
  HubOptions options;
  std::string description;  // a line
  SegmentOutput segments;   // without a file
  TrackOutput track;        // what all posteriors have in common, without a file or a label
};

// Adds segments.bb, boundaries.bw, a bigWig file for every label (labels.NAME.bw, or label_N.bw where
// the name has characters that addresses cannot have), hub.txt, genomes.txt, trackDb.txt and
// igv_session.xml in the folder. The run has posteriors of all labels.
void add_hub(const HubFiles& files, OutputPlan& plan);

}  // namespace semicrf
