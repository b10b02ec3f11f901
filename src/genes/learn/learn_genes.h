// A gene model from annotated sequences: content, signals and lengths are counted, then their weights and the
// scores of transitions are fitted to the conditional likelihood of the annotated genes (a semi-Markov CRF).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "genes/annotation.h"
#include "genes/gene_model.h"
#include "genes/tracks/track_values.h"

namespace semicrf {

struct AnnotatedSequence {
  std::string name;
  std::vector<std::uint8_t> bases;            // base_codes()
  std::vector<CodingTranscript> transcripts;  // those of the annotation
  std::shared_ptr<const TrackValues> tracks;  // as LearnGenesOptions has them, in their scales; null: none
};

struct LearnGenesOptions {
  std::string grammar = "eukaryote";  // gene_grammar()
  GrammarParts parts;
  int genetic_code = 1;
  int order = 5;        // bases before a base that its content depends on
  int iterations = 40;  // at most, L-BFGS
  int threads = 1;
  bool partial = false;  // there are genes that are not annotated: the rest of a sequence may be anything
  // Tracks that every sequence has. Each gets a weight in every content, for both strands, and in every
  // signal, for the bases on both sides of the boundary.
  std::vector<TrackModel> tracks;
  double group_penalty = 4;  // times the norm of the weights of a track in a content or signal (group lasso)
};

struct LearnGenesResult {
  GeneModel model;
  std::int64_t genes = 0;        // that were learned from
  std::int64_t overlapping = 0;  // transcripts left out beside longer ones
  // Transcripts that the grammar does not know: left out, with the sequence around them.
  std::vector<std::string> impossible;
  std::int64_t unknown = 0;  // stretches that look like genes and are not annotated: not counted
  std::int64_t bases = 0;    // in the pieces that were learned from
  int iterations = 0;
  double log_likelihood = 0;  // log P(annotated genes | sequence), without the penalty
};

// `report` is told the log likelihood after each iteration. InputError naming `annotation`: fewer than ten
// genes of the annotation are possible on these sequences.
LearnGenesResult learn_genes(const std::vector<AnnotatedSequence>& sequences, const std::string& annotation,
                             const LearnGenesOptions& options,
                             const std::function<void(int iteration, double log_likelihood)>& report);

}  // namespace semicrf
