// Names of the files that hold a track for every label, as `posterior --labels-out PREFIX` writes them.
#pragma once

#include <map>
#include <string>

namespace semicrf {

// `name` as a part of a file's name, which cannot have a "/".
std::string in_file_name(std::string name);

// The files that hold the label posteriors of `prefix` (or prefix.bw, as bigWig files are asked for): by the
// name of the label as it is in file names.
std::map<std::string, std::string> label_track_files(const std::string& prefix);

}  // namespace semicrf
