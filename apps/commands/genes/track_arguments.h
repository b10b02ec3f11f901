// Options of tracks beside the sequences, which genes and train-genes share.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "genes/tracks/track_file.h"

namespace semicrf {

struct TrackArguments {
  std::string arrays;                // NPZ, or a folder with Zarr
  std::vector<std::string> bigwigs;  // NAME=FILE, NAME+=FILE, NAME-=FILE
  std::vector<std::string> helixer;  // predictions and input

  bool any() const { return !arrays.empty() || !bigwigs.empty() || !helixer.empty(); }
  std::vector<std::string> files() const;
  // Null without tracks. UsageError: bigWig tracks of which a strand is missing or given twice.
  std::unique_ptr<TrackFile> open() const;
};

void add_track_options(CLI::App& command, TrackArguments& arguments);

}  // namespace semicrf
