// Where fits start, where nothing but the number of labels is given. Clusters of single bins find labels that
// differ clearly; in tracks with much noise they find the noise, and a fit from there never leaves it. Means
// over more bins show labels of longer segments. So several clusterings, each of bins and the bins around
// them, get some iterations as HMMs over a part of the data; the likeliest of every width some more over all
// data with the law of durations that is asked for, and the likeliest of these wins.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/options.h"
#include "learn/cluster_start.h"
#include "learn/segment_law.h"
#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/emissions/emissions.h"

namespace semicrf {

struct EmStart {
  Parameters parameters;
  std::vector<double> sizes;  // sizes of negative binomials
  int window = 1;             // bins whose mean was clustered
};

// Stretches at equal distances, so many bins together; all, where there are no more. Ends of stretches within
// a piece make it shorter; where fewer than `shortest` bins remain, which the model may not be able to
// explain, they are left out.
TrainingData stretches_of(const TrainingData& data, std::int64_t bins, int shortest);

// `shape`: labels and tracks of the model. With known labels there is one clustering, of
// single bins, over all of the data. `clusters.reach` is not read. The same for any number of threads.
EmStart choose_start(const TrainingData& data, const Parameters& shape, const LawOptions& law,
                     const EmissionPlan& plan, ClusterOptions clusters, const EngineOptions& engine);

}  // namespace semicrf
