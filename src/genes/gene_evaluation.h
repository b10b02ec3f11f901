// Predicted genes against annotated ones: sensitivity and precision by level.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "genes/annotation.h"

namespace semicrf {

// What a transcript consists of: its coding exons, or its exons with what is not translated.
enum class ComparedExons { kCoding, kWhole };

struct GeneLevel {
  std::string name;
  std::int64_t truth = 0;  // how many the annotation has
  std::int64_t predicted = 0;
  std::int64_t matched = 0;  // annotated ones that were found; `right`: predicted ones that are right
  std::int64_t right = 0;    // another number for loci alone
};

// `sequences`: names with commas, all where it is empty. Levels: coding bases by strand; coding exons;
// introns between them; start codons and stop codons (their places); intron chains (transcripts with introns,
// one matched with one that has the same introns); transcripts (all coding exons the same); loci (transcripts
// that share coding bases, directly or through others: matched where one of the transcripts is).
// InputError naming the file of the truth: a name that neither has. What is there twice counts once.
// Sequences that only one of the two has count as well.
std::vector<GeneLevel> evaluate_genes(const GeneAnnotation& truth, const GeneAnnotation& predicted,
                                      const std::string& sequences = "",
                                      ComparedExons compared = ComparedExons::kCoding);

// A table with a line for each level: level, truth, predicted, matched, sensitivity, precision, f1.
std::string gene_levels_text(const std::vector<GeneLevel>& levels);

}  // namespace semicrf
