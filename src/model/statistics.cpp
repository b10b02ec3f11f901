#include "model/statistics.h"

namespace semicrf {

const StatisticList<LengthStats>& length_statistics() {
  using enum StatisticUnit;
  using enum JsonPart;
  using L = LengthStats;
  static const StatisticList<L> list = {
      {"mean", "mean length", kBases, "mean length of the segments", &L::mean},
      {"shortest", "shortest", kBases, "length of the shortest segment", &L::shortest, kNone},
      {"q05", "5 %", kBases, "length that 5 % of the segments do not exceed", &L::q05, kFirst, true, 5},
      {"q25", "25 %", kBases, "length that 25 % of the segments do not exceed", &L::q25, kFirst, false, 25},
      {"median", "median", kBases, "length that half of the segments do not exceed", &L::median, kFirst, true,
       50},
      {"q75", "75 %", kBases, "length that 75 % of the segments do not exceed", &L::q75, kFirst, false, 75},
      {"q95", "95 %", kBases, "length that 95 % of the segments do not exceed", &L::q95, kFirst, true, 95},
      {"longest", "longest", kBases, "length of the longest segment", &L::longest, kFirst, true, 100},
  };
  return list;
}

const StatisticList<DecodedLabelStats>& label_statistics() {
  using enum StatisticUnit;
  using enum JsonPart;
  using D = DecodedLabelStats;
  static const StatisticList<D> list = [] {
    StatisticList<D> columns = {
        {"segments", "segments", kCount, "segments of the label", &D::segments},
        {"bases", "bases", kBases, "length of all these segments", &D::bases},
        {"share", "share", kShare, "share of the bases of all segments", &D::share},
    };
    for (const Statistic<LengthStats>& of : length_statistics())
      columns.push_back({of.name, of.heading, of.unit, of.meaning,
                         [&of](const D& label) -> StatisticValue {
                           if (!label.length) return std::optional<double>();
                           return of.value(*label.length);
                         },
                         kNone, of.in_report, of.percent});
    const StatisticList<D> behind = {
        {"posterior", "mean posterior", kProbability, "mean probability of the label over these bases",
         &D::posterior, kThird},
        {"at_cap", "at the cap", kShare, "share of segments of exactly K bins, where the label has no tail",
         &D::at_cap, kSecond},
        {"in_tail", "in the tail", kShare, "share of segments of more than K bins, where it has one",
         &D::in_tail, kSecond},
        {"entropy", "entropy", kNats, "mean over these bases of the entropy of all labels' probabilities",
         &D::entropy, kNone, false},
    };
    columns.insert(columns.end(), behind.begin(), behind.end());
    return columns;
  }();
  return list;
}

namespace {

StatisticValue of_sweeps(const SequenceStats& sequence, std::int64_t SweepStats::*number) {
  if (!sequence.sweeps) return std::optional<double>();
  return (*sequence.sweeps).*number;
}

}  // namespace

const StatisticList<SequenceStats>& sequence_statistics() {
  using enum StatisticUnit;
  using enum JsonPart;
  using S = SequenceStats;
  static const StatisticList<S> list = {
      {"length", "", kBases, "length of the sequence", &S::length},
      {"covered", "", kBins, "bins in pieces", &S::covered},
      {"missing", "", kBins, "bins left out because a track has no value", &S::missing},
      {"pieces", "", kCount, "pieces that were computed", &S::pieces},
      {"segments", "", kCount, "segments decoded, or of all draws together", &S::segments, kSecond},
      {"log_partition", "", kNats, "log partition function, summed over the pieces", &S::log_partition,
       kSecond},
      {"viterbi_score", "", kNats, "score of the best path, summed over the pieces", &S::viterbi_score,
       kSecond},
      {"log_constraint_probability", "", kNats, "ln P(the constraints) without them, summed over the pieces",
       &S::log_constraint_probability, kThird},
      {"expected_segments", "expected segments", kNumber, "expected number of segments under the posterior",
       &S::expected_segments, kThird},
      {"segmentation_entropy", "", kNats, "entropy of the whole segmentation, summed over the pieces",
       &S::segmentation_entropy, kThird},
      {"expected_correct_bins", "", kNumber, "sum over the path's bins of the label's probability",
       &S::expected_correct_bins, kThird},
      {"expected_correct_boundaries", "", kNumber,
       "sum over the path's boundaries inside pieces of their probability", &S::expected_correct_boundaries,
       kThird},
      {"boundary_entropy", "", kNats, "entropy of the normalised boundary posterior over positions",
       &S::boundary_entropy, kThird},
      {"position_entropy", "H_pos", kNats, "mean entropy of the label posterior of a bin",
       &S::position_entropy, kThird},
      {"max_normalization_error", "", kNumber, "largest deviation from 1 of the label posteriors' sum",
       &S::max_normalization_error, kThird},
      {"blocks", "", kCount, "blocks of 16 positions of every pass and direction",
       [](const S& s) { return of_sweeps(s, &SweepStats::blocks); }, kThird},
      {"fallbacks", "", kCount, "blocks or entries recomputed in the log domain",
       [](const S& s) { return of_sweeps(s, &SweepStats::fallbacks); }, kThird},
      {"repaired_chunks", "", kCount, "chunks redone because a junction did not agree",
       [](const S& s) { return of_sweeps(s, &SweepStats::repaired_chunks); }, kThird},
  };
  return list;
}

}  // namespace semicrf
