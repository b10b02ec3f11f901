#include "genes/gene_path.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace semicrf {
namespace {

// Labels by what they stand for.
class LabelIndex {
 public:
  LabelIndex(const GeneModel& model, const GeneLattice& lattice) : model_(model) {
    for (std::size_t c = 0; c < lattice.labels.size(); ++c) {
      const GeneLabel& label = lattice.labels[c];
      labels_[{label.state, label.strand, label.frame, label.next_frame}] = static_cast<int>(c);
    }
  }
  // The first state of that name.
  int state(const std::string& name) const {
    for (std::size_t s = 0; s < model_.states.size(); ++s)
      if (model_.states[s].name == name) return static_cast<int>(s);
    return -1;
  }
  std::optional<int> find(int state, char strand, int frame, int next_frame) const {
    const auto found = labels_.find({state, strand, frame, next_frame});
    return found == labels_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const GeneModel& model_;
  std::map<std::tuple<int, char, int, int>, int> labels_;
};

constexpr std::int64_t kCodon = 3;

}  // namespace

const char* state_of_exon(const CodingTranscript& gene, std::size_t i) {
  const std::size_t last = gene.exons.size() - 1;
  if (last == 0) return "single";
  if (i == (gene.strand == '+' ? 0 : last)) return "initial";
  return i == (gene.strand == '+' ? last : 0) ? "terminal" : "internal";
}

std::optional<std::vector<LatticeSegment>> path_of_genes(const GeneModel& model, const GeneLattice& lattice,
                                                         const std::vector<CodingTranscript>& genes,
                                                         std::int64_t begin, std::int64_t end) {
  const LabelIndex labels(model, lattice);
  std::vector<LatticeSegment> path;
  std::int64_t reached = begin;
  const auto add = [&](const char* state, char strand, std::int64_t to, int frame, int next_frame) {
    const std::optional<int> label = labels.find(labels.state(state), strand, frame, next_frame);
    if (!label || to <= reached) return false;
    path.push_back({reached - begin, to - begin, *label});
    reached = to;
    return true;
  };
  for (const CodingTranscript& gene : genes) {
    if (!add("intergenic", '.', gene.begin(), 0, 0)) return std::nullopt;
    const bool plus = gene.strand == '+';
    std::vector<CodingExon> exons = gene.exons;
    if (plus)
      exons.back().end -= kCodon;
    else
      exons.front().begin += kCodon;
    // Frames from left to right: that of an exon is where a codon begins in it, modulo 3.
    auto frame = static_cast<int>(exons.front().begin % 3);
    if (!plus && !add("stop", '-', exons.front().begin, frame, frame)) return std::nullopt;
    const std::size_t count = exons.size();
    std::int64_t coding = 0;  // bases of codons so far
    for (std::size_t i = 0; i < count; ++i) {
      if (!add(state_of_exon(gene, i), gene.strand, exons[i].end, frame, frame)) return std::nullopt;
      coding += exons[i].end - exons[i].begin;
      if (i + 1 == count) break;
      const auto next = static_cast<int>((exons[i + 1].begin - coding % 3 + 3) % 3);
      if (!add("intron", gene.strand, exons[i + 1].begin, frame, next)) return std::nullopt;
      frame = next;
    }
    if (plus && !add("stop", '+', gene.end(), frame, frame)) return std::nullopt;
    if (coding % 3 != 0) return std::nullopt;
  }
  if (!add("intergenic", '.', end, 0, 0)) return std::nullopt;
  return path;
}

std::vector<PathGene> genes_of_path(const GeneModel& model, const GeneLattice& lattice,
                                    const std::vector<LatticeSegment>& path, std::int64_t begin) {
  std::vector<PathGene> genes;
  bool inside = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const GeneLabel& label = lattice.labels[path[i].label];
    const GeneState& state = model.states[label.state];
    if (label.state == 0) {
      inside = false;
      continue;
    }
    if (!std::exchange(inside, true)) genes.push_back({i, i, label.strand, {}});
    PathGene& gene = genes.back();
    gene.last = i + 1;
    if (!state.coding) continue;
    const CodingExon exon{begin + path[i].begin, begin + path[i].end};
    if (!gene.exons.empty() && gene.exons.back().end == exon.begin)
      gene.exons.back().end = exon.end;
    else
      gene.exons.push_back(exon);
  }
  return genes;
}

}  // namespace semicrf
