// A gene model that no genome was learned from: a grammar with usual lengths.
#pragma once

#include <string>

#include "genes/gene_model.h"

namespace semicrf {

// gene_grammar() with laws of usual lengths, codons that are alike but for stop codons, and transitions that
// are alike, with the log odds of the consensus of their signals. Bases around signals and in introns say
// nothing.
GeneModel usual_gene_model(const std::string& kind, const GrammarParts& parts, int genetic_code);

}  // namespace semicrf
