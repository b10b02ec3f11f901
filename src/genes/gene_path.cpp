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
      labels_[{label.state, label.strand, label.frame, label.next_frame, label.next_strand}] =
          static_cast<int>(c);
    }
  }
  // The first state of that name.
  int state(const std::string& name) const {
    for (std::size_t s = 0; s < model_.states.size(); ++s)
      if (model_.states[s].name == name) return static_cast<int>(s);
    return -1;
  }
  // -1 for none.
  int find(const GeneLabel& label) const {
    const auto found =
        labels_.find({label.state, label.strand, label.frame, label.next_frame, label.next_strand});
    return found == labels_.end() ? -1 : found->second;
  }

 private:
  const GeneModel& model_;
  std::map<std::tuple<int, char, int, int, char>, int> labels_;
};

bool shares_bases(const CodingTranscript& left, const CodingTranscript& right) {
  return right.begin() < left.end();
}

// Where the codons of a gene begin at its left end, modulo 3.
int left_frame(const CodingTranscript& gene) { return static_cast<int>(gene.begin() % kCodon); }
int right_frame(const CodingTranscript& gene) { return static_cast<int>(gene.end() % kCodon); }

// Makes a path from left to right.
class PathWriter {
 public:
  PathWriter(const GeneModel& model, const GeneLattice& lattice, std::int64_t begin)
      : labels_(model, lattice), begin_(begin), reached_(begin) {}

  // Up to `to`. False where the grammar has no such label, or nothing is left.
  bool add(const char* state, char strand, std::int64_t to, int frame) {
    return add({labels_.state(state), strand, frame, frame, strand}, to);
  }
  // What lies between the gene before and this one, or in both, and then this one up to the next.
  bool add_gene(const CodingTranscript& gene, const CodingTranscript* before,
                const CodingTranscript* behind) {
    const bool left = before != nullptr && shares_bases(*before, gene);
    const bool right = behind != nullptr && shares_bases(gene, *behind);
    if (left ? !add_overlap(*before, gene) : !add_between(gene, before)) return false;
    const bool plus = gene.strand == '+';
    std::vector<CodingExon> exons = gene.exons;
    if (left) exons.front().begin = before->end();
    if (right) exons.back().end = behind->begin();
    // Frames from left to right: that of an exon is where a codon begins in it, modulo 3.
    int frame = left_frame(gene);
    if (!plus && !left && !add("stop", '-', exons.front().begin += kCodon, frame)) return false;
    if (plus && !right) exons.back().end -= kCodon;
    const std::size_t count = exons.size();
    std::int64_t coding = exons.front().begin - gene.begin();  // bases of codons so far
    for (std::size_t i = 0; i < count; ++i) {
      const bool goes_on = plus ? left && i == 0 : right && i + 1 == count;
      if (!add(goes_on ? "rest" : state_of_exon(gene, i), gene.strand, exons[i].end, frame)) return false;
      coding += exons[i].end - exons[i].begin;
      if (i + 1 == count) break;
      const auto next = static_cast<int>((exons[i + 1].begin - coding % kCodon + kCodon) % kCodon);
      if (!add({labels_.state("intron"), gene.strand, frame, next, gene.strand}, exons[i + 1].begin))
        return false;
      frame = next;
    }
    if (plus && !right && !add("stop", '+', gene.end(), frame)) return false;
    return (coding + gene.end() - exons.back().end) % kCodon == 0;
  }
  std::vector<LatticeSegment> take() { return std::move(path_); }

 private:
  bool add(const GeneLabel& meaning, std::int64_t to) {
    const int label = labels_.find(meaning);
    if (label < 0 || to <= reached_) return false;
    path_.push_back({reached_ - begin_, to - begin_, label});
    reached_ = to;
    return true;
  }
  bool add_between(const CodingTranscript& gene, const CodingTranscript* before) {
    const bool touches = before != nullptr && before->end() == gene.begin();
    return touches || add("intergenic", '.', gene.begin(), 0);
  }
  bool add_overlap(const CodingTranscript& left, const CodingTranscript& right) {
    const bool meets = left.strand == '+' && right.strand == '-';
    const char* state = left.strand == right.strand ? "overlap" : meets ? "convergent" : "divergent";
    return reached_ == right.begin() &&
           add({labels_.state(state), left.strand, right_frame(left), left_frame(right), right.strand},
               left.end());
  }

  LabelIndex labels_;
  std::int64_t begin_, reached_;
  std::vector<LatticeSegment> path_;
};

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
  PathWriter path(model, lattice, begin);
  for (std::size_t i = 0; i < genes.size(); ++i) {
    const CodingTranscript* before = i == 0 ? nullptr : &genes[i - 1];
    const CodingTranscript* behind = i + 1 == genes.size() ? nullptr : &genes[i + 1];
    if (!path.add_gene(genes[i], before, behind)) return std::nullopt;
  }
  if (!path.add("intergenic", '.', end, 0)) return std::nullopt;
  return path.take();
}

std::vector<PathGene> genes_of_path(const GeneModel& model, const GeneLattice& lattice,
                                    const std::vector<LatticeSegment>& path, std::int64_t begin) {
  const auto follows = [&](int from, int to) {
    return std::any_of(model.transitions.begin(), model.transitions.end(),
                       [&](const GeneTransition& one) { return one.from == from && one.to == to; });
  };
  std::vector<PathGene> genes;
  bool inside = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const GeneLabel& label = lattice.labels[path[i].label];
    const GeneState& state = model.states[label.state];
    if (label.state == 0) {
      inside = false;
      continue;
    }
    const CodingExon exon{begin + path[i].begin, begin + path[i].end};
    if (inside && is_overlap(state.frame) && !genes.back().exons.empty()) {
      genes.back().exons.back().end = exon.end;
      genes.back().last = i + 1;
      genes.push_back({i, i + 1, label.next_strand, {exon}});
      continue;
    }
    if (inside) {  // another gene, where one may end and another begin
      const int left = lattice.labels[path[i - 1].label].state;
      const bool plus = label.strand == '+';
      inside = !follows(plus ? left : label.state, 0) || !follows(0, plus ? label.state : left);
    }
    if (!std::exchange(inside, true)) genes.push_back({i, i, label.strand, {}});
    PathGene& gene = genes.back();
    gene.last = i + 1;
    if (!state.coding) continue;
    if (!gene.exons.empty() && gene.exons.back().end == exon.begin)
      gene.exons.back().end = exon.end;
    else
      gene.exons.push_back(exon);
  }
  return genes;
}

}  // namespace semicrf
