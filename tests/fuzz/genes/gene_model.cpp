// Gene models, and what they find in a short sequence.
#include <cmath>

#include "fuzz/fuzz_input.h"
#include "genes/gene_model_file.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const GeneModel model = read_gene_model(as_file(bytes));
    const GeneLattice lattice = compile(model, "model");
    const std::vector<std::uint8_t> sequence = base_codes("ccATGGCAGTAAGTACTAACTTTAGGCATAAccnTTATGCCATcc");
    const PredictedSequence found = predict_genes(model, lattice, sequence, 1);
    require(!std::isnan(found.log_z), "log Z is a number");
    for (const PredictedGene& gene : found.genes) {
      require(gene.probability >= 0 && gene.probability <= 1, "probabilities lie between 0 and 1");
      for (const PredictedExon& exon : gene.exons)
        require(exon.exon.begin < exon.exon.end && exon.probability <= 1, "exons are not empty");
    }
  });
}

}  // namespace semicrf::fuzz
