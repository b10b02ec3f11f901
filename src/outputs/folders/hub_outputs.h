// The files of a track hub.
#pragma once

#include <string>
#include <vector>

#include "outputs/formats.h"

namespace semicrf {

// A folder that genome browsers show: segments as bigBed, boundary and label posteriors as bigWig.
struct HubOptions {
  std::string folder;  // empty: none
  std::string genome;  // the browser's name of the genome, such as hg38; without white space
  std::string name = "semicrf";
  std::string email;       // address of whom to ask, or empty
  bool no_tracks = false;  // leave the inputs out
};

// A bigWig input.
struct HubSignal {
  std::string name, path;
};

struct HubFiles {
  HubOptions options;
  std::string description;  // a line
  SegmentOutput segments;   // without a file
  TrackOutput track;        // what all posteriors have in common, without a file or a label
  std::vector<HubSignal> signals;
};

// Adds segments.bb, boundaries.bw, a copy of each signal (signal.NAME.bw, or signal_N.bw), a bigWig file for
// every label (labels.NAME.bw, or label_N.bw where the name has characters that addresses cannot have),
// hub.txt, genomes.txt, trackDb.txt and igv_session.xml in the folder. The run has posteriors of all labels.
void add_hub(const HubFiles& files, OutputPlan& plan);

}  // namespace semicrf
