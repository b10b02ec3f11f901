// The texts that let genome browsers show a run: a track hub of the UCSC genome browser (hub.txt,
// genomes.txt, trackDb.txt) and a session of IGV. Files are named relative to them.
#pragma once

#include <string>
#include <vector>

namespace semicrf {

struct HubTrack {
  enum class Kind { kSegments, kBoundaries, kSignal, kLabel };
  Kind kind = Kind::kSegments;
  std::string file;  // bigBed of segments, bigWig of probabilities or of an input
  std::string title, description;
  std::string color;  // "r,g,b"
};

struct TrackHub {
  std::string name;    // as a browser lists it
  std::string genome;  // name of the browser's genome: hg38
  std::string email;   // address of whom to ask; empty: not said
  std::string description;
  std::string locus;  // that IGV begins with: a chromosome
  // Columns of the segments' bigBed file, of which nine are BED's, and whether p_label is among the others.
  std::size_t segment_columns = 9;
  bool has_label_posterior = false;
  std::vector<HubTrack> tracks;
};

std::string hub_text(const TrackHub& hub);
std::string genomes_text(const TrackHub& hub);
std::string track_db_text(const TrackHub& hub);
std::string igv_session_text(const TrackHub& hub);  // XML

}  // namespace semicrf
