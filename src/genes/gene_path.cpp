#include "genes/gene_path.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/counts.h"
#include "genes/signal_sites.h"

namespace semicrf {
namespace {

// Labels by what they stand for.
class LabelIndex {
 public:
  LabelIndex(const GeneModel& model, const GeneLattice& lattice) : model_(model) {
    int c = 0;
    for (const GeneLabel& label : lattice.labels)
      labels_[{label.state, label.strand, label.frame, label.next_frame, label.next_strand}] = c++;
  }
  // The first state of that name.
  int state(const std::string& name) const {
    for (int s = 0; s < count_of(model_.states); ++s)
      if (model_.states[s].name == name) return s;
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
int left_frame(const CodingTranscript& gene) { return modulo_codon(gene.begin()); }
int right_frame(const CodingTranscript& gene) { return modulo_codon(gene.end()); }

// What a stretch of a transcript is.
enum class PartRole { kExon, kStop, kIntron, kSplitStopIntron, kStopRest, kUntranslated };

struct TranscriptPart {
  PartRole role = PartRole::kExon;
  std::string state;  // empty: an intron within the coding sequence, to be found by its signals
  std::int64_t begin = 0, end = 0;
};

// The parts of a transcript from left to right. `begins_shared`, `ends_shared`: its start or stop codon lies
// in what it shares with a neighbour, which is no part of `exons`.
class TranscriptParts {
 public:
  TranscriptParts(const CodingTranscript& gene, std::vector<CodingExon> exons, bool begins_shared,
                  bool ends_shared)
      : gene_(gene), exons_(std::move(exons)), begins_shared_(begins_shared), ends_shared_(ends_shared) {}

  std::vector<TranscriptPart> make() {
    const bool plus = gene_.strand == '+';
    add_untranslated(true);
    for (std::size_t i = 0; i < exons_.size(); ++i) {
      if (i > 0) {
        const bool before_stop = plus ? i + 1 == exons_.size() : i == 1;
        add(before_stop && stop_bases() < kCodon ? PartRole::kSplitStopIntron : PartRole::kIntron, "",
            exons_[i - 1].end, exons_[i].begin);
      }
      add_exon(i);
    }
    add_untranslated(false);
    return std::move(parts_);
  }

 private:
  std::size_t last_exon() const { return gene_.strand == '+' ? exons_.size() - 1 : 0; }
  // Those of the stop codon in the last exon.
  std::int64_t stop_bases() const {
    const CodingExon& last = exons_[last_exon()];
    return ends_shared_ ? kCodon : std::min<std::int64_t>(kCodon, last.end - last.begin);
  }

  void add(PartRole role, const std::string& state, std::int64_t begin, std::int64_t end) {
    if (begin != end) parts_.push_back({role, state, begin, end});
  }
  void add_exon(std::size_t i) {
    const bool plus = gene_.strand == '+';
    CodingExon exon = exons_[i];
    const bool first = i == (plus ? 0 : exons_.size() - 1), last = i == last_exon();
    const std::string state = first && begins_shared_ ? "rest" : state_of_exon(gene_, i);
    if (!last || ends_shared_) {
      add(PartRole::kExon, state, exon.begin, exon.end);
      return;
    }
    const std::int64_t stop = stop_bases();
    const PartRole role = stop == kCodon ? PartRole::kStop : PartRole::kStopRest;
    const char* stop_state = stop == kCodon ? "stop" : stop == 1 ? kLastBaseOfStop : kLastTwoOfStop;
    if (!plus) add(role, stop_state, exon.begin, exon.begin + stop), exon.begin += stop;
    if (plus) exon.end -= stop;
    add(PartRole::kExon, state, exon.begin, exon.end);
    if (plus) add(role, stop_state, exon.end, exon.end + stop);
  }
  // Those left of the coding sequence, or right of it.
  void add_untranslated(bool left) {
    const bool before = left == (gene_.strand == '+');  // the start codon
    const char* exon = before ? "5' UTR" : "3' UTR";
    const char* intron = before ? "5' UTR intron" : "3' UTR intron";
    std::int64_t reached = gene_.end();
    bool any = false;
    for (const CodingExon& part : gene_.untranslated) {
      if ((part.end <= gene_.begin()) != left) continue;
      if (left && !any) reached = part.begin;
      add(PartRole::kUntranslated, intron, reached, part.begin);
      add(PartRole::kUntranslated, exon, part.begin, part.end);
      reached = part.end, any = true;
    }
    if (left && any) add(PartRole::kUntranslated, intron, reached, gene_.begin());
  }

  const CodingTranscript& gene_;
  std::vector<CodingExon> exons_;
  bool begins_shared_, ends_shared_;
  std::vector<TranscriptPart> parts_;
};

// Makes a path from left to right.
class PathWriter {
 public:
  PathWriter(const GeneModel& model, const GeneLattice& lattice, const std::vector<std::uint8_t>& bases,
             std::int64_t begin)
      : model_(model),
        lattice_(lattice),
        labels_(model, lattice),
        sites_(model, lattice, bases),
        begin_(begin),
        reached_(begin) {}

  // Up to `to`. False where the grammar has no such label, or nothing is left.
  bool add(const std::string& state, char strand, std::int64_t to, int frame) {
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
    if (exons.front().begin >= exons.front().end || exons.back().begin >= exons.back().end) return false;
    // Frames from left to right: that of an exon is where a codon begins in it, modulo 3.
    int frame = left_frame(gene);
    std::int64_t coding = exons.front().begin - gene.begin();  // bases of codons so far
    for (const TranscriptPart& part :
         TranscriptParts(gene, exons, plus ? left : right, plus ? right : left).make()) {
      if (!add(part, gene.strand, coding, frame)) return false;
    }
    return (coding + gene.end() - exons.back().end) % kCodon == 0;
  }
  std::vector<LatticeSegment> take() { return std::move(path_); }

 private:
  // `coding`: bases of codons so far.
  bool add(const TranscriptPart& part, char strand, std::int64_t& coding, int& frame) {
    if (part.role == PartRole::kIntron || part.role == PartRole::kSplitStopIntron) {
      const int before = std::exchange(frame, modulo_codon(part.end - coding));
      return add_intron(part, {0, strand, before, frame, strand});
    }
    const bool framed = part.role == PartRole::kExon || part.role == PartRole::kStop;
    if (!add(part.state, strand, part.end, framed ? frame : 0)) return false;
    if (framed || part.role == PartRole::kStopRest) coding += part.end - part.begin;
    return true;
  }
  // The only kind of introns there is, or the one whose signals stand there.
  bool add_intron(const TranscriptPart& part, const GeneLabel& meaning) {
    std::vector<GeneLabel> kinds;
    const bool in_stop = part.role == PartRole::kSplitStopIntron;
    // No frame goes on behind a stop codon: its intron has that of the donor.
    const int of_donor = meaning.strand == '+' ? meaning.frame : meaning.next_frame;
    for (int s = 0; s < count_of(model_.states); ++s) {
      const GeneState& state = model_.states[s];
      if (state.ends_in_stop != in_stop || (state.frame != FrameRule::kCarry && !in_stop)) continue;
      kinds.push_back(meaning);
      kinds.back().state = s;
      if (in_stop) kinds.back().frame = kinds.back().next_frame = of_donor;
    }
    if (kinds.size() > 1)
      std::erase_if(kinds, [&](const GeneLabel& kind) { return !stands(labels_.find(kind), part); });
    return !kinds.empty() && add(kinds.front(), part.end);
  }
  bool stands(int label, const TranscriptPart& part) const {
    if (label < 0) return false;
    const LatticeLabel& one = lattice_.lattice.labels[label];
    const auto& signals = lattice_.signals;
    return sites_.stands_at(signals[one.start_signal], part.begin) &&
           sites_.stands_at(signals[one.end_signal], part.end);
  }
  bool add(const GeneLabel& meaning, std::int64_t to) {
    const int label = labels_.find(meaning);
    if (label < 0 || to <= reached_) return false;
    path_.push_back({reached_ - begin_, to - begin_, label});
    reached_ = to;
    return true;
  }
  bool add_between(const CodingTranscript& gene, const CodingTranscript* before) {
    const bool touches = before != nullptr && before->transcript_end() == gene.transcript_begin();
    return touches || add("intergenic", '.', gene.transcript_begin(), 0);
  }
  bool add_overlap(const CodingTranscript& left, const CodingTranscript& right) {
    const bool meets = left.strand == '+' && right.strand == '-';
    const char* state = left.strand == right.strand ? "overlap" : meets ? "convergent" : "divergent";
    return reached_ == right.begin() &&
           add({labels_.state(state), left.strand, right_frame(left), left_frame(right), right.strand},
               left.end());
  }

  const GeneModel& model_;
  const GeneLattice& lattice_;
  LabelIndex labels_;
  SignalSites sites_;
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
                                                         const std::vector<std::uint8_t>& bases,
                                                         const std::vector<CodingTranscript>& genes,
                                                         std::int64_t begin, std::int64_t end) {
  PathWriter path(model, lattice, bases, begin);
  for (std::size_t i = 0; i < genes.size(); ++i) {
    const CodingTranscript* before = i == 0 ? nullptr : &genes[i - 1];
    const CodingTranscript* behind = i + 1 == genes.size() ? nullptr : &genes[i + 1];
    if (!path.add_gene(genes[i], before, behind)) return std::nullopt;
  }
  if (!path.add("intergenic", '.', end, 0)) return std::nullopt;
  return path.take();
}

namespace {

// Where a path begins or ends within genes.
void mark_cuts(const GeneLattice& lattice, const std::vector<LatticeSegment>& path,
               std::vector<PathGene>& genes) {
  if (genes.empty()) return;
  const auto label = [&](const LatticeSegment& one) -> const GeneLabel& { return lattice.labels[one.label]; };
  PathGene &left = genes.front(), &right = genes.back();
  if (label(path.front()).state != 0) left.cut_left = true, left.first = left.transcript_first;
  if (label(path.back()).state != 0) right.cut_right = true, right.last = right.transcript_last;
  if (left.cut_left && left.strand == '+' && !left.exons.empty())
    left.first_phase = modulo_codon(label(path.front()).next_frame - left.exons.front().begin);
  if (right.cut_right && right.strand == '-' && !right.exons.empty())
    right.first_phase = modulo_codon(right.exons.back().end - label(path.back()).frame);
}

}  // namespace

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
      genes.back().last = genes.back().transcript_last = i + 1;
      genes.push_back({i, i + 1, i, i + 1, label.next_strand, {exon}, {}, false, false, 0});
      continue;
    }
    if (inside) {  // another gene, where one may end and another begin
      const int left = lattice.labels[path[i - 1].label].state;
      const bool plus = label.strand == '+';
      inside = !follows(plus ? left : label.state, 0) || !follows(0, plus ? label.state : left);
    }
    if (!std::exchange(inside, true)) genes.push_back({i, i, i, i, label.strand, {}, {}, false, false, 0});
    PathGene& gene = genes.back();
    gene.transcript_last = i + 1;
    if (state.untranslated) gene.untranslated.push_back(exon);
    if (!state.coding) continue;
    if (gene.exons.empty()) gene.first = i;
    gene.last = i + 1;
    if (!gene.exons.empty() && gene.exons.back().end == exon.begin)
      gene.exons.back().end = exon.end;
    else
      gene.exons.push_back(exon);
  }
  mark_cuts(lattice, path, genes);
  std::erase_if(genes, [](const PathGene& gene) { return gene.exons.empty(); });
  return genes;
}

}  // namespace semicrf
