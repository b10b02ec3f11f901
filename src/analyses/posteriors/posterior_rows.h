// The posteriors of one window, and their compact form between the pass that computes them and their release.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analyses/posteriors/posterior_sweep.h"
#include "core/chain_model.h"
#include "core/large_array.h"
#include "core/score_window.h"
#include "engine/engine.h"
#include "io/files/temp_spool.h"

namespace semicrf {

// Arrays that hold the selected posteriors of one window at a time; memory is reused.
class PosteriorRows {
 public:
  // `num_labels`: the labels of the posteriors that are released.
  PosteriorRows(const PosteriorSelection& selection, int num_labels, Precision precision);

  // Bytes per position of the arrays. `num_labels`: the labels of the engine.
  static std::size_t bytes_per_position(const PosteriorSelection& selection, int num_labels);
  // The part of bytes_per_position() that is there only while windows are written to a spool and read again.
  static std::size_t packed_bytes_per_position(const PosteriorSelection& selection, int num_labels);

  // Makes room for the positions of `range`, and returns the arrays for an engine to fill. `roles`: the roles
  // of the engine's labels, or null.
  PosteriorArrays prepare(PositionRange range, const EdgeRoles* roles = nullptr);
  // Sets labels that positions cannot have to 0, after the engine has filled the arrays.
  void clear_impossible(const ChainModel& model, const ScoreWindow& scores);
  // Sets label posteriors that may be nothing but rounding to 0, picks the path's values out, and rounds
  // everything to the precision, after clear_impossible() and fold().
  // `first_segment` is the index of the path's first segment that meets the range.
  void finish(std::int64_t first_segment);
  PosteriorBlock block() const;
  // The labels, starts and ends for the sums, between clear_impossible() and fold().
  PosteriorBlock computed() const;
  // Adds up the roles of each label, before finish(), where the engine's labels have roles.
  void fold();
  // The sum over the positions of `range` of the entropy of P(label|t), nats, between fold() and finish().
  double label_entropy(PositionRange range) const;

  // Puts the finished window into blob `index` of `spool` (appended when it is the next one), and gets it
  // back.
  void save(TempSpool& spool, std::size_t index);
  void load(const TempSpool& spool, std::size_t index, PositionRange range);

 private:
  static std::size_t picked_per_position(const PosteriorSelection& selection);
  void resize(PositionRange range, std::size_t num_labels);
  void pick_path(std::int64_t first_segment);
  std::vector<LargeArray<double>*> released();

  PosteriorSelection selection_;
  std::size_t num_labels_;            // labels of the posteriors that are released
  const EdgeRoles* roles_ = nullptr;  // roles of the current rows, before fold()
  Precision precision_;
  PositionRange range_;
  LargeArray<double> boundary_, labels_, starts_, ends_;
  LargeArray<double> path_label_, path_start_, path_end_, path_next_start_, path_next_end_;
  LargeArray<std::byte> packed_;
};

// Labels that a position cannot have: engines give them what rounding leaves of sums and differences, and
// here they get 0, so that the others have all of the probability.
//
// `labels`: (range, C) label posteriors of an engine, for positions that `scores` has. A label is impossible
// where its score is -inf or, where masks count as such (engine/masks.h), a mask; at the ends of the sequence
// also where its start or end score is -inf. The other labels of such a position are divided by their sum, so
// that a label which is the only one left has exactly 1; so has the only label of a model. Scores that heads
// make of features are finite.
void clear_impossible_labels(const ChainModel& model, const ScoreWindow& scores, PositionRange range,
                             int threads, std::span<double> labels);

// What rounding may leave of a label posterior that is 0: 2^-18 (3.8e-6) in single precision, 2^-40 in
// double.
double label_posterior_residue(Precision precision);

// `labels`: rows of `num_labels` label posteriors, each of which adds up to 1. Those below the residue are
// set to 0, and the others of such a row are divided by their sum; the only one that is left has exactly 1.
// So a label that the structure of the model forbids somewhere (shortest durations, forbidden transitions)
// has 0 there, as it has in exact arithmetic.
void clear_residues(Precision precision, int num_labels, int threads, std::span<double> labels);

}  // namespace semicrf
