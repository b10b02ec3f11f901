// Files of tracks for sequences: arrays in an NPZ archive or a Zarr store, bigWig files, Helixer's pair of
// HDF5 files, GeneCAD's Zarr stores.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "genes/tracks/track_values.h"

namespace semicrf {

class TrackFile {
 public:
  virtual ~TrackFile() = default;
  // The tracks of a sequence of `length` bases, which keep what they need of the file. InputError: the file
  // has none for that name, or for another length.
  virtual std::shared_ptr<const TrackValues> open(const std::string& sequence, std::int64_t length) const = 0;
  // How many numbers a base has, and their names; numbers without names where the file has none.
  virtual std::size_t count() const = 0;
  virtual std::vector<std::string> names() const { return {}; }
  virtual std::string path() const = 0;  // for messages
};

// The tracks of a sequence in the scales of a model.
std::shared_ptr<const TrackValues> scaled_tracks(const TrackFile& file, const std::vector<TrackModel>& models,
                                                 const std::string& sequence, std::int64_t length);

// Arrays of shape (bases, tracks), "NAME+" and "NAME-" for the strands of sequence NAME; row i is base i on
// both. ReadError, InputError: not an archive of such arrays, or arrays of different width.
std::unique_ptr<TrackFile> open_array_tracks(const std::string& path);

// Reads the same arrays from Zarr stores at or below `folder`; or what GeneCAD's network wrote there: groups
// with attributes `chromosome_id` and `strand`, logits of classes (`feature_logits`, read as probabilities)
// and the base of each row (`sequence`). ReadError, InputError: neither, or damaged.
std::unique_ptr<TrackFile> open_zarr_tracks(const std::string& folder);

// A track of a bigWig file for each strand; bases without a value have 0.
struct BigWigTrack {
  std::string name;
  std::string plus, minus;  // files, which may be the same one
};
std::unique_ptr<TrackFile> open_bigwig_tracks(const std::vector<BigWigTrack>& tracks);

// What Helixer's network wrote (`predictions`), and the file that it was asked about (`data/seqids`,
// `data/start_ends`). The tracks are intergenic, utr, cds, intron, and where it has them phase_none, phase_0,
// phase_1 and phase_2 (bases to the next codon). InputError: a dataset is missing or has another shape, or
// the program was built without HDF5.
std::unique_ptr<TrackFile> open_helixer_tracks(const std::string& predictions, const std::string& input);

}  // namespace semicrf
