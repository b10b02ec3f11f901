#include "segmentation/reproducibility.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "core/counts.h"
#include "core/error.h"
#include "core/threads/parallel.h"
#include "io/files/output_names.h"
#include "segmentation/label_tracks.h"
#include "segmentation/replicate_chromosomes.h"

namespace semicrf {
namespace {

// What is counted of one label of the first.
struct LabelCounts {
  ReproducedBases folds[2];
  std::int64_t reproduced = 0;         // bases, with a posterior or without
  std::int64_t without_posterior = 0;  // bases
  double posterior_sum = 0;            // over bases
};

class Counting {
 public:
  Counting(const SegmentationFile& first, const std::vector<ChromosomePair>& chromosomes,
           const ReproducibilityOptions& options)
      : first_(first), chromosomes_(chromosomes), options_(options) {}

  // `path`: the posterior of the label.
  LabelCounts count(std::size_t label, std::optional<std::size_t> match, const std::string& path) const {
    LabelCounts counts;
    PosteriorReader reader(path, first_);
    for (const ChromosomePair& pair : chromosomes_) {
      std::vector<BinRange> near;
      if (match) near = bases_near(*pair.second, *match, options_.tolerance);
      std::size_t at = 0;
      visit_common(
          pair, [&](std::size_t one) { return one == label; },
          [&](std::size_t, std::int64_t begin, std::int64_t end) {
            visit_parts(near, at, begin, end, [&](std::int64_t from, std::int64_t to, bool reproduced) {
              add(reader, *pair.first, {from, to}, reproduced, counts);
            });
          });
    }
    reader.finish();
    return counts;
  }

 private:
  void add(PosteriorReader& reader, const SegmentedChromosome& chromosome, BinRange range, bool reproduced,
           LabelCounts& counts) const {
    if (reproduced) counts.reproduced += range.size();
    std::int64_t missing = range.size();
    reader.visit(chromosome, range.begin, range.end, [&](std::int64_t begin, std::int64_t end, double p) {
      missing -= end - begin;
      counts.posterior_sum += p * static_cast<double>(end - begin);
      while (begin < end) {
        const std::int64_t block = begin / options_.fold_size;
        const std::int64_t stop = std::min(end, (block + 1) * options_.fold_size);
        counts.folds[block % 2].add(p, stop - begin, reproduced);
        begin = stop;
      }
    });
    counts.without_posterior += missing;
  }

  const SegmentationFile& first_;
  const std::vector<ChromosomePair>& chromosomes_;
  const ReproducibilityOptions& options_;
};

constexpr double kResolution = 5e-7;  // half of the last printed digit of an r-value

// The shares of one half that is reproduced, as the curve of the other half predicts them. Nothing where a
// half has no base.
std::optional<Reliability> held_out(const LabelCounts& counts) {
  Reliability reliability;
  for (const std::size_t fold : {std::size_t{0}, std::size_t{1}}) {
    const CalibrationCurve curve(counts.folds[1 - fold]);
    if (curve.empty()) return std::nullopt;
    const std::vector<ReproducedBases::Count>& cells = counts.folds[fold].cells();
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      if (cells[cell].bases > 0)
        reliability.add(curve.at_cell(cell), kResolution, cells[cell].bases, cells[cell].reproduced);
  }
  return reliability;
}

// Bases with an r-value of at least `level`.
std::int64_t confident_bases(const ReproducedBases& bases, const CalibrationCurve& curve, double level) {
  std::int64_t sum = 0;
  for (std::size_t cell = 0; cell < bases.cells().size(); ++cell)
    if (bases.cells()[cell].bases > 0 && curve.at_cell(cell) >= level) sum += bases.cells()[cell].bases;
  return sum;
}

// Share of the common bases that lie near each label of the second.
std::vector<double> near_shares(const std::vector<ChromosomePair>& chromosomes, const LabelPairs& pairs,
                                const ReproducibilityOptions& options) {
  std::vector<double> shares(pairs.second.size());
  parallel_for(options.threads, shares.size(), [&](std::size_t label, int) {
    std::int64_t sum = 0;
    for (const ChromosomePair& pair : chromosomes) {
      const std::vector<BinRange> near = bases_near(*pair.second, label, options.tolerance);
      std::size_t at = 0;
      visit_common(
          pair, [](std::size_t) { return true; },
          [&](std::size_t, std::int64_t begin, std::int64_t end) {
            visit_parts(near, at, begin, end, [&](std::int64_t from, std::int64_t to, bool inside) {
              if (inside) sum += to - from;
            });
          });
    }
    shares[label] = ratio(sum, pairs.common);
  });
  return shares;
}

// A sum of probabilities over bases, and the bases.
struct Mean {
  double sum = 0;
  std::int64_t bases = 0;

  std::optional<double> value() const {
    if (bases == 0) return std::nullopt;
    return sum / static_cast<double>(bases);
  }
};

// By label of the first: P of its match in the second, over its bases that have one.
std::vector<Mean> match_posteriors(const SegmentationFile& second, std::vector<ChromosomePair> chromosomes,
                                   const std::vector<std::optional<std::size_t>>& matches,
                                   const ReproducibilityOptions& options) {
  std::ranges::sort(chromosomes, {}, [&](const ChromosomePair& pair) { return pair.second; });
  const std::map<std::string, std::string> files = label_track_files(options.second_labels);
  std::vector<Mean> means(matches.size());
  parallel_for(options.threads, second.labels.size(), [&](std::size_t match, int) {
    if (std::ranges::find(matches, std::optional(match)) == matches.end()) return;
    PosteriorReader reader(posterior_file(second.labels[match], files, options.second_labels), second);
    for (const ChromosomePair& pair : chromosomes)
      visit_common(
          pair, [&](std::size_t label) { return matches[label] == match; },
          [&](std::size_t label, std::int64_t begin, std::int64_t end) {
            reader.visit(*pair.second, begin, end, [&](std::int64_t from, std::int64_t to, double p) {
              means[label].sum += p * static_cast<double>(to - from);
              means[label].bases += to - from;
            });
          });
    reader.finish();
  });
  return means;
}

template <class Number>
double over(Number part, std::int64_t whole) {
  return ratio(part, whole);
}

// The numbers of a label that the bases of all pairs of labels give.
LabelReproducibility overlap_of(const LabelPairs& pairs, std::size_t label,
                                std::optional<std::size_t> match) {
  LabelReproducibility one;
  one.label = pairs.first[label];
  if (match) one.match = pairs.second[*match];
  one.bases = pairs.first_bases[label];
  const std::int64_t match_bases = match ? pairs.second_bases[*match] : 0;
  one.match_bases = match_bases;
  if (match) one.both = pairs.at(label, *match);
  if (one.bases == 0) return one;
  one.jaccard = match ? pairs.jaccard(label, *match) : 0;
  one.overlap = over(one.both, one.bases);
  one.expected_overlap = over(match_bases, pairs.common);
  const double here = over(one.bases, pairs.common), there = *one.expected_overlap;
  const double agreeing = over(pairs.common - one.bases - match_bases + 2 * one.both, pairs.common);
  one.kappa = cohens_kappa(agreeing, here * there + (1 - here) * (1 - there));
  one.granularity_area = merged_area(merge_by_jaccard(pairs, label));
  return one;
}

// What the posteriors of a label say.
struct CountedLabel {
  std::int64_t reproduced = 0, without_posterior = 0, confident = 0;  // bases
  Mean posterior;
  std::optional<Reliability> held_out;
  CalibrationCurve curve;
};

std::vector<CountedLabel> count_labels(const SegmentationFile& first,
                                       const std::vector<ChromosomePair>& chromosomes,
                                       const std::vector<std::optional<std::size_t>>& matches,
                                       const ReproducibilityOptions& options) {
  const std::map<std::string, std::string> files = label_track_files(options.labels);
  for (const Label& label : first.labels) posterior_file(label, files, options.labels);
  std::vector<CountedLabel> labels(first.labels.size());
  const Counting counting(first, chromosomes, options);
  parallel_for(options.threads, labels.size(), [&](std::size_t label, int) {
    const LabelCounts counts =
        counting.count(label, matches[label], posterior_file(first.labels[label], files, options.labels));
    ReproducedBases all = counts.folds[0];
    all += counts.folds[1];
    CalibrationCurve curve(all);
    const std::int64_t confident = confident_bases(all, curve, options.level);
    labels[label] = {counts.reproduced, counts.without_posterior,
                     confident,         {counts.posterior_sum, all.all().bases},
                     held_out(counts),  std::move(curve)};
  });
  if (std::ranges::all_of(labels, [](const CountedLabel& one) { return one.posterior.bases == 0; }))
    throw InputError({options.labels, "", "the label posteriors have no value on any base that both have",
                      "give the posteriors of the run that made the segments of " + first.path});
  return labels;
}

// Sums over labels for the line of all of them together.
struct Sums {
  std::int64_t both = 0, reproduced = 0, confident = 0;
  double expected_overlap = 0, expected_reproduced = 0;
  Mean posterior, match_posterior;
  Reliability held_out;

  // `share`: of the common bases that have the label.
  void add(const LabelReproducibility& one, const CountedLabel& counted, const Mean& match, double share) {
    both += one.both;
    expected_overlap += share * one.expected_overlap.value_or(0);
    expected_reproduced += share * one.expected_reproduced.value_or(0);
    reproduced += counted.reproduced;
    confident += counted.confident;
    for (auto [sum, mean] :
         {std::pair(&posterior, &counted.posterior), std::pair(&match_posterior, &match)}) {
      sum->sum += mean->sum;
      sum->bases += mean->bases;
    }
    if (counted.held_out) held_out += *counted.held_out;
  }

  LabelReproducibility all(const LabelPairs& pairs) const {
    LabelReproducibility one;
    one.bases = pairs.common;
    one.both = both;
    one.overlap = over(both, pairs.common);
    one.expected_overlap = expected_overlap;
    one.kappa = cohens_kappa(*one.overlap, expected_overlap);
    one.reproduced = over(reproduced, pairs.common);
    one.expected_reproduced = expected_reproduced;
    one.confident = over(confident, posterior.bases);
    one.calibration_error = held_out.calibration_error();
    one.posterior = posterior.value();
    one.match_posterior = match_posterior.value();
    return one;
  }
};

}  // namespace

const StatisticList<LabelReproducibility>& reproducibility_statistics() {
  using enum StatisticUnit;
  using L = LabelReproducibility;
  static const StatisticList<L> list = {
      {"bases", "bases", kBases, "length of the label in A where the replicate has segments, too", &L::bases},
      {"match_bases", "bases of the match", kBases,
       "length of the match in the replicate where A has segments", &L::match_bases},
      {"both", "both", kBases, "length of what has the label in A and the match in the replicate", &L::both},
      {"jaccard", "Jaccard", kShare, "both over either", &L::jaccard},
      {"overlap", "overlap", kShare, "share of the bases with the match at the same place in the replicate",
       &L::overlap},
      {"expected_overlap", "by chance", kShare, "share of all bases that have the match in the replicate",
       &L::expected_overlap},
      {"kappa", "kappa", kNumber, "Cohen's kappa of the label and its match in the replicate", &L::kappa},
      {"reproduced", "reproduced", kShare,
       "share of the bases with the match in the replicate within the tolerance", &L::reproduced},
      {"expected_reproduced", "by chance", kShare, "the same share of all bases, whatever their label in A",
       &L::expected_reproduced},
      {"confident", "confident", kShare, "share of the bases with an r-value of --level or more",
       &L::confident},
      {"calibration_error", "calibration error", kNumber,
       "mean |r - reproduced| on blocks that the curve was not fitted to", &L::calibration_error},
      {"granularity_area", "area", kShare, "area under --granularity", &L::granularity_area},
      {"posterior", "posterior", kProbability, "mean P(label) in A", &L::posterior},
      {"match_posterior", "posterior of the match", kProbability,
       "mean P(match) in the replicate on the bases of the label", &L::match_posterior},
  };
  return list;
}

Reproducibility measure_reproducibility(const SegmentationFile& first, const SegmentationFile& second,
                                        const ReproducibilityOptions& options) {
  Reproducibility found;
  found.pairs = count_label_pairs(first, second);
  found.matches = match_labels(found.pairs, options.match);
  const std::vector<ChromosomePair> chromosomes = pair_chromosomes(first, second);
  std::vector<CountedLabel> counted = count_labels(first, chromosomes, found.matches, options);
  const std::vector<double> near = near_shares(chromosomes, found.pairs, options);
  std::vector<Mean> of_matches(counted.size());
  if (!options.second_labels.empty())
    of_matches = match_posteriors(second, chromosomes, found.matches, options);

  Sums sums;
  for (std::size_t label = 0; label < counted.size(); ++label) {
    LabelReproducibility one = overlap_of(found.pairs, label, found.matches[label]);
    CountedLabel& counts = counted[label];
    if (one.bases > 0) {
      one.reproduced = over(counts.reproduced, one.bases);
      one.expected_reproduced = found.matches[label] ? near[*found.matches[label]] : 0;
    }
    if (counts.posterior.bases > 0) one.confident = over(counts.confident, counts.posterior.bases);
    one.posterior = counts.posterior.value();
    one.match_posterior = of_matches[label].value();
    if (counts.held_out) one.calibration_error = counts.held_out->calibration_error();
    sums.add(one, counts, of_matches[label], over(one.bases, found.pairs.common));
    found.without_posterior += counts.without_posterior;
    found.curves.push_back(std::move(counts.curve));
    found.labels.push_back(std::move(one));
  }
  found.labels.push_back(sums.all(found.pairs));
  found.held_out = std::move(sums.held_out);
  return found;
}

void visit_r_values(const SegmentationFile& first, const std::string& prefix,
                    const std::vector<CalibrationCurve>& curves, const RValueVisitor& visit) {
  const std::map<std::string, std::string> files = label_track_files(prefix);
  std::deque<PosteriorReader> readers;
  for (const Label& label : first.labels) readers.emplace_back(posterior_file(label, files, prefix), first);
  for (const SegmentedChromosome& chromosome : first.chromosomes)
    for (const LabelledSegment& segment : chromosome.segments) {
      const CalibrationCurve& curve = curves[segment.label];
      if (curve.empty()) continue;
      readers[segment.label].visit(chromosome, segment.begin, segment.end,
                                   [&](std::int64_t begin, std::int64_t end, double p) {
                                     visit(chromosome, segment, begin, end, curve.at(p));
                                   });
    }
}

}  // namespace semicrf
