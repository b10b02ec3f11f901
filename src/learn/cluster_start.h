// Where the fits start: labels of single bins by their features alone.
#pragma once

#include <cstdint>
#include <vector>

#include "learn/learn_options.h"
#include "learn/segment_law.h"
#include "train/data/training_data.h"
#include "train/emissions/emissions.h"

namespace semicrf {

struct ClusterOptions {
  int labels = 0;
  int known = 0;  // known labels, the first of all
  LearnStart start = LearnStart::kKMeans;
  std::uint64_t seed = 1;
  // Bins at either side over whose mean a bin is looked at: in longer segments less noise is left of it.
  int reach = 0;
};

// A label for every bin, piece by piece: that of the nearest of `labels` centres, features (of counts: ln(1 +
// x)) in units of their standard deviation, where there is no value their mean. kKMeans: centres by k-means++
// and Lloyd's iterations over a sample of the bins; kRandom: bins drawn at random. By `seed` alone. Known
// labels, as far as bins have them in the pieces' evidence, have the mean of these bins as their centre; and
// a bin has no label that its evidence rules out.
std::vector<int> cluster_bins(const TrainingData& data, EmissionFamily family, const ClusterOptions& options);

// The law of the mean run of bins with one label.
ChainModel first_chain(const TrainingData& data, const std::vector<int>& clusters, const SegmentLaw& law);
// The emissions that fit the clusters, each blurred with a tenth of what all bins have: a head, or the share
// that a bin has in every label, for densities.
EmissionHead first_head(const TrainingData& data, int labels, const std::vector<int>& clusters,
                        Emissions& emissions);
PosteriorRows cluster_shares(const TrainingData& data, int labels, const std::vector<int>& clusters);

}  // namespace semicrf
