// Gene models, and what they find in a short sequence.
#include <algorithm>
#include <cmath>

#include "fuzz/fuzz_input.h"
#include "genes/gene_model_file.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"

namespace semicrf::fuzz {

class SameEverywhere : public TrackValues {
 public:
  explicit SameEverywhere(std::size_t tracks) : tracks_(tracks) {}
  void read(char, std::int64_t begin, std::int64_t end, float* values) const override {
    std::fill_n(values, static_cast<std::size_t>(end - begin) * tracks_, 0.25F);
  }

 private:
  std::size_t tracks_;
};

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const GeneModel model = read_gene_model(as_file(bytes));
    const GeneLattice lattice = compile(model, "model");
    const std::vector<std::uint8_t> sequence = base_codes("ccATGGCAGTAAGTACTAACTTTAGGCATAAccnTTATGCCATcc");
    const SameEverywhere tracks(model.tracks.size());
    const SequenceSource source(model, lattice, sequence, 0, static_cast<std::int64_t>(sequence.size()),
                                &tracks);
    const PredictedSequence found = predict_genes(model, lattice, source, 1);
    require(!std::isnan(found.log_z), "log Z is a number");
    for (const PredictedGene& gene : found.genes) {
      require(gene.probability >= 0 && gene.probability <= 1, "probabilities lie between 0 and 1");
      for (const PredictedExon& exon : gene.exons)
        require(exon.exon.begin < exon.exon.end && exon.probability <= 1, "exons are not empty");
    }
  });
}

}  // namespace semicrf::fuzz
