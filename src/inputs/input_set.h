// All inputs of a run: opened, bound to the parameters, agreeing with each other, in the order of the output.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "inputs/arguments/lacking_tracks.h"
#include "inputs/arguments/track_steps.h"
#include "inputs/input_options.h"
#include "inputs/piece_source.h"
#include "io/text/chromosomes.h"
#include "io/text/provenance_header.h"
#include "model/bins.h"
#include "model/parameters.h"
#include "model/scores/edge_roles.h"

namespace semicrf {

// An NPY array or one chromosome of bigWig files.
struct Sequence {
  std::string chromosome;
  std::string title;        // chromosome, or "chr1:1001-2000" for a part of one
  std::int64_t origin = 0;  // base at which bin 0 begins
  std::int64_t length = 0;  // bases
  std::int64_t bins = 0;
  // Whether it is known to begin or end where its chromosome does.
  bool begins_chromosome = true, ends_chromosome = true;
  bool has_values = true;                                // false: no track has a value on this chromosome
  std::size_t source = 0;                                // what the input set reads it from
  std::shared_ptr<const SitePositions> sites = nullptr;  // its bins are these; null: they are of equal sizes
};

// How score memory is read: set by the run, not by the inputs.
struct ReadOptions {
  Precision precision = Precision::kFloat;
  int threads = 1;
  std::size_t cache_bytes = 0;  // rows of a sequence that take no more than this are read once and kept
};

// Which features rows of tracks have.
enum class RowFeatures {
  kAll,     // those of the heads
  kInputs,  // input tracks alone, NaN where a track that keeps its absences has no value
};

class InputSet {
 public:
  // Opens and checks everything. UsageError, ReadError or InputError that names both sides of a disagreement.
  static InputSet open(const InputOptions& options, const Parameters& parameters,
                       RowFeatures features = RowFeatures::kAll);
  ~InputSet();
  InputSet(InputSet&&) noexcept;

  // In the order of the output.
  const std::vector<Sequence>& sequences() const;
  // What is decoded of sequence `index`, in bins; regions and excludes only, missing data not cut yet.
  PieceRequest piece_request(std::size_t index) const;
  // Which edges of piece `number` of the `pieces` of sequence `index` are cuts that the run scores as such:
  // not those at an end of the chromosome, nor between regions that touch.
  CutEdges cut_edges(std::size_t index, std::span<const BinRange> pieces, std::size_t number) const;
  // Whether regions ask for sequence `index`, but it is left out because no track has a value there.
  bool left_out(std::size_t index) const;
  // The inputs of sequence `index`. The baseline is not set yet; nothing is read.
  std::shared_ptr<SequenceScores> open_scores(std::size_t index, const ReadOptions& options) const;
  // The raw rows of a generated sequence.
  RandomRows random_rows(std::size_t index) const;
  // Sets the baseline and finds the missing bins; reads the whole sequence when one of these asks for it.
  struct Scan {
    std::vector<BinRange> missing;  // runs of bins
    std::vector<Warning> warnings;
  };
  // `engine`: that will compute the sequence, or null: its device may do that where the sequence is one
  // piece.
  Scan scan(std::size_t index, SequenceScores& scores, Engine* engine = nullptr) const;

  // Lines such as "H3K4me3 <- GM12878.H3K4me3.bw", for logs and --dry-run.
  const std::vector<std::string>& binding() const;
  // About what was given and is not used, for the caller to tell.
  const std::vector<Warning>& warnings() const;
  // Those of the parameters that the run has no file of.
  const std::vector<LackingTrack>& lacking_tracks() const;
  // The steps of the bigWig inputs, in the order of their columns; none for arrays.
  const TrackSteps& steps() const;
  // For headers: every input file with the name it is bound to, in the order of the command line.
  std::vector<ProvenanceInput> provenance() const;
  // Every file that is read, for check_outputs.
  const std::vector<std::string>& paths() const;
  std::int64_t bin_size() const;  // bases
  // Bytes of the mapped inputs that reading the pieces of all sequences touches, and of the blocks of bigWig
  // files that stay unpacked, for forecasts. `cache_bytes` as in ReadOptions.
  std::size_t mapped_bytes(std::size_t cache_bytes) const;
  // Bytes that lists of sequences, of the chromosomes of every file, and of regions take until the end.
  std::size_t kept_bytes() const;
  std::size_t num_labels() const;
  // The chromosomes of the sequences, in the order of the output.
  const ListedChromosomes& chromosomes() const;
  // Where the last sequence on a chromosome ends, in bases; nothing where no input has the chromosome.
  std::optional<std::int64_t> end_of(const std::string& chromosome) const;
  // Longest chromosome in bases, for index_kind_for.
  std::int64_t longest_chromosome() const;

 private:
  struct State;
  explicit InputSet(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace semicrf
