// What the score of a segmentation is made of, by the weights of a gene model: for a given path, and expected
// under all paths. Their difference is the gradient of the log likelihood by these weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "genes/gene_model.h"
#include "genes/lattice/lattice_inference.h"
#include "genes/sequence_source.h"

namespace semicrf {

// Sums over the segments; the score of a path is their product with the weights.
struct GeneFeatures {
  std::vector<double> content;                                   // log odds, by model of content
  std::vector<double> bases;                                     // with that content
  std::vector<double> signals;                                   // log odds, by model of signals
  std::vector<double> lengths;                                   // scores of durations, by law
  std::vector<double> transitions;                               // how many
  std::vector<std::vector<double>> content_terms, signal_terms;  // values of tracks, by model and term

  explicit GeneFeatures(const GeneModel& model);
};

// The product with the weights of `model`.
double score_of(const GeneModel& model, const GeneFeatures& features);

// The features of a path over the whole source. Nothing where it is impossible: a signal that does not stand
// there, a duration or transition that is forbidden, a stop codon within an exon. What tracks add stands with
// the log odds of contents and signals.
std::optional<GeneFeatures> features_of_path(const GeneModel& model, const GeneLattice& lattice,
                                             const LatticeSource& source,
                                             const std::vector<LatticeSegment>& path);

struct ExpectedGeneFeatures {
  double log_z = 0;
  GeneFeatures features;
};

// Expected features under all paths of a source, which is read as one window; its lattice may have more
// barriers than that of `lattice`. `sequence`: where its content and signals come from. The weights of
// `model` must not be 0.
ExpectedGeneFeatures expected_features(const GeneModel& model, const GeneLattice& lattice,
                                       const LatticeSource& source, const SequenceSource& sequence);

}  // namespace semicrf
