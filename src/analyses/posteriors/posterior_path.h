// Posterior decoding (maximum expected accuracy): the labels that are expected to be right most often, the
// path of `decode --rule posterior`.
//
// The path maximises, over all sequences of labels, the sum over bins of P(label_t | t), plus gamma times the
// sum over the boundaries t > 0 between two labels of P(a segment of label_t starts at t). Two labels may
// follow each other where the model's transition is finite, or where they are equal; the first one must be
// allowed to start a sequence (start score, initial term), the last one to end it (end score). Durations play
// no part: equal neighbours are one segment.
//
// A label may have a threshold: it is called where its posterior is at least that, and nowhere else, as far
// as the changes of label allow. Its bin then counts 1 + P in place of P, elsewhere P - 1.
//
// Ties: the smallest last label; then, bin by bin from the right, the smallest label before. Sums are doubles
// added from the left, so that two sums count as equal where they are rounded to the same number. Of two
// labels before that both are another one, the sums without the boundary between are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/viterbi/segment_list.h"
#include "core/chain_model.h"
#include "io/files/temp_spool.h"

namespace semicrf {

struct PosteriorPath {
  SegmentList segments;
  double expected_correct_bins = 0;        // sum over its bins of P(label_t | t)
  double expected_correct_boundaries = 0;  // sum over its boundaries t > 0 of P(label_t starts at t)
};

// Label and threshold.
using LabelThresholds = std::vector<std::pair<int, double>>;

// Finds the path block by block from the left, and keeps the best label before each (bin, label), a byte or
// two, in a spool.
class PosteriorPathFinder {
 public:
  // `gamma` >= 0; `thresholds`: of labels, in [0, 1]. `model` must outlive this object.
  PosteriorPathFinder(const ChainModel& model, double gamma, LabelThresholds thresholds = {});

  // Adds the next positions: posteriors of labels and starts.
  void add(const PosteriorBlock& block);
  // The path, after the last position of a sequence that has a segmentation; to be called once.
  PosteriorPath finish();

 private:
  // The best sequence of labels that ends with a label at the latest position.
  struct Best {
    double value = 0;  // relative to that of the best label; -inf: there is none
    double bins = 0;   // sum of its label posteriors
    double starts = 0;
  };
  const double* rewards(const double* labels);
  void begin(const double* labels, const double* rewards);
  void step(const double* labels, const double* rewards, const double* starts);
  void rank();
  int best_before(int label, double reward) const;
  void centre();
  void keep(int label);
  void close_block();
  int choice(std::int64_t position, int label);

  const ChainModel& model_;
  double gamma_;
  LabelThresholds thresholds_;
  std::vector<double> rewards_;  // (C) of the latest position, with thresholds
  int labels_;
  std::size_t choice_bytes_;  // bytes of one label
  std::int64_t positions_ = 0;
  std::vector<Best> best_, next_;   // (C)
  std::vector<int> ranked_;         // (C): labels from the best one at the latest position on
  std::vector<std::byte> choices_;  // (positions of the open block, C)
  TempSpool spool_;
  std::int64_t loaded_ = -1;  // block of the spool that choices_ holds while the path is followed
};

// Posterior decoding (maximum expected accuracy) as an analysis; the path itself is in posterior_path.h.
struct PosteriorDecodingResult {
  PosteriorResult posteriors;  // the posteriors that the path was found with
  PosteriorPath decoded;
};

// Result: PosteriorDecodingResult, whose segments are the path.
class PosteriorDecoding : public Analysis {
 public:
  // `gamma`: weight of boundaries, >= 0. `thresholds`: posterior_path.h. `sums`: whether to compute the sums
  // of the posteriors (PosteriorRequest), as no analysis behind this one does.
  PosteriorDecoding(double gamma, LabelThresholds thresholds, bool sums)
      : gamma_(gamma), thresholds_(std::move(thresholds)), sums_(sums) {}

  std::string title() const override { return "path by posteriors"; }
  int passes() const override { return 1; }
  int sweeps() const override { return 2; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  bool computes_together() const override { return !sums_; }
  bool finds_path() const override { return true; }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void run_together(const PiecesContext& context, std::span<PieceResult> results) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
  void record_infeasible(SequenceReport& report) const override;

 private:
  PosteriorSelection selection(const PieceChain& chain, int threads) const;

  double gamma_;
  LabelThresholds thresholds_;
  bool sums_;
};

}  // namespace semicrf
