#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/chain_model.h"
#include "core/error.h"
#include "genes/gene_model.h"

namespace semicrf {
namespace {

// Collects what several labels share.
int place_of(std::vector<StrandedModel>& list, const StrandedModel& wanted) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const StrandedModel& one) {
    return one.model == wanted.model && one.strand == wanted.strand && one.frame == wanted.frame;
  });
  if (found != list.end()) return static_cast<int>(found - list.begin());
  list.push_back(wanted);
  return static_cast<int>(list.size()) - 1;
}

class Compiler {
 public:
  explicit Compiler(const GeneModel& model) : model_(model), labels_of_(model.states.size()) {}

  GeneLattice compile() {
    add_laws();
    for (std::size_t s = 0; s < model_.states.size(); ++s) add_labels(static_cast<int>(s));
    add_edges();
    out_.lattice.columns = static_cast<int>(out_.columns.size());
    out_.lattice.signals = static_cast<int>(out_.signals.size());
    return std::move(out_);
  }

 private:
  void add_laws() {
    for (const LengthModel& length : model_.lengths) {
      LatticeLaw law;
      for (const double score : length.table)
        law.table.push_back(score == kNegativeInfinity ? score : length.weight * score);
      if (length.log_tail > kNegativeInfinity) law.log_tail = length.weight * length.log_tail;
      out_.lattice.laws.push_back(std::move(law));
    }
  }

  void add_labels(int s) {
    const GeneState& state = model_.states[s];
    const int frames = state.frame == FrameRule::kNone ? 1 : 3;
    const int next = state.frame == FrameRule::kCarry ? 3 : 1;
    for (const char strand : {'+', '-'}) {
      if (!state.stranded && strand == '-') break;
      for (int f = 0; f < frames; ++f)
        for (int g = 0; g < next; ++g)
          add_label(s, {s, state.stranded ? strand : '.', f, state.frame == FrameRule::kCarry ? g : f});
    }
  }

  void add_label(int s, const GeneLabel& meaning) {
    const GeneState& state = model_.states[s];
    LatticeLabel label;
    label.name = state.name;
    if (meaning.strand != '.') label.name += meaning.strand;
    if (state.frame != FrameRule::kNone) label.name += std::to_string(meaning.frame);
    if (state.frame == FrameRule::kCarry) label.name += std::to_string(meaning.next_frame);
    const char strand = meaning.strand == '-' ? '-' : '+';
    if (state.content >= 0) {
      const bool codons = model_.contents[state.content].codons;
      label.column = place_of(out_.columns, {state.content, strand, codons ? meaning.frame : -1});
    }
    const int left = strand == '+' ? state.start : state.end;
    const int right = strand == '+' ? state.end : state.start;
    label.start_signal = signal(left, strand, meaning.frame);
    label.end_signal = signal(right, strand, meaning.next_frame);
    label.law = state.length;
    if (state.frame == FrameRule::kCarry) {
      label.modulus = 3;
      label.residue = (meaning.next_frame - meaning.frame + 3) % 3;
    }
    if (s == 0) label.initial = label.final = 0;
    labels_of_[s].push_back(out_.labels.size());
    out_.lattice.labels.push_back(std::move(label));
    out_.labels.push_back(meaning);
  }

  int signal(int model, char strand, int frame) {
    if (model < 0) return -1;
    const bool in_frame = model_.signals[model].in_frame;
    return place_of(out_.signals, {model, strand, in_frame ? frame : -1});
  }

  void add_edges() {
    for (std::size_t t = 0; t < model_.transitions.size(); ++t) {
      const auto [from, to, score] = model_.transitions[t];
      add_edges(t, from, to);
      // Against the strand the second of the two stands left.
      if (from != to) add_edges(t, to, from);
    }
  }

  void add_edges(std::size_t transition, int left, int right) {
    const auto& labels = out_.lattice.labels;
    for (const std::size_t a : labels_of_[left])
      for (const std::size_t b : labels_of_[right]) {
        if (!follows(model_.transitions[transition], out_.labels[a], out_.labels[b])) continue;
        out_.lattice.edges.push_back(
            {static_cast<int>(a), static_cast<int>(b), model_.transitions[transition].score});
        out_.transition_of_edge.push_back(static_cast<int>(transition));
        if (labels[a].end_signal < 0 && labels[b].start_signal < 0) out_.every_boundary = true;
      }
  }

  // Whether label b may stand right of label a by this rule: along the + strand, or against the - strand.
  bool follows(const GeneTransition& transition, const GeneLabel& a, const GeneLabel& b) const {
    if (a.strand != '.' && b.strand != '.' && a.strand != b.strand) return false;
    const char strand = a.strand != '.' ? a.strand : b.strand;
    const auto [from, to] = strand == '-' ? std::pair(b.state, a.state) : std::pair(a.state, b.state);
    if (from != transition.from || to != transition.to) return false;
    const auto framed = [&](const GeneLabel& label) {
      return model_.states[label.state].frame != FrameRule::kNone;
    };
    return !framed(a) || !framed(b) || a.next_frame == b.frame;
  }

  const GeneModel& model_;
  std::vector<std::vector<std::size_t>> labels_of_;  // by state
  GeneLattice out_;
};

// A flat law: any duration from `shortest` on, in every reading frame.
LengthModel flat(const std::string& name, int shortest) {
  LengthModel law{name, std::vector<double>(static_cast<std::size_t>(shortest + 2), 0), -1e-5, 1};
  std::fill_n(law.table.begin(), shortest - 1, kNegativeInfinity);
  return law;
}

}  // namespace

GeneLattice compile(const GeneModel& model, const std::string& file) {
  GeneLattice compiled = Compiler(model).compile();
  if (compiled.lattice.signals > 64)
    throw InputError({file, "/signals",
                      std::to_string(compiled.lattice.signals) + " signals on both strands and in all frames",
                      "64 are the most"});
  if (compiled.lattice.edges.empty())
    throw InputError({file, "/transitions", "no state can follow another one", "see docs/users/genes.md"});
  return compiled;
}

GeneModel gene_grammar(const std::string& kind) {
  GeneModel model;
  const bool introns = kind != "prokaryote";
  model.description = kind;
  model.contents = {{"coding", 0, true, std::vector(3, std::vector<float>(4)), 1, 0}};
  model.signals = {{"start", {"ATG"}, 0, true, 0, {}, 0, 0, {}, 1},
                   {"stop", {"TAA", "TAG", "TGA"}, 0, true, 0, {}, 0, 0, {}, 1},
                   {"stop end", {"TAA", "TAG", "TGA"}, -3, true, 0, {}, 0, 0, {}, 1}};
  model.lengths = {flat("intergenic", 1),
                   flat("single", 3),
                   {"stop", {kNegativeInfinity, kNegativeInfinity, 0}, kNegativeInfinity, 1}};
  if (!introns) model.signals[0].consensus = {"ATG", "GTG", "TTG"};
  model.states = {{"intergenic", false, FrameRule::kNone, false, -1, -1, -1, 0},
                  {"single", true, FrameRule::kCoding, true, 0, 0, -1, 1},
                  {"stop", true, FrameRule::kCoding, true, -1, 1, 2, 2}};
  model.transitions = {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}};
  if (!introns) return model;
  model.contents.push_back({"intron", 0, false, {std::vector<float>(4)}, 1, 0});
  model.signals.push_back({"donor", {"GT"}, 0, false, 0, {}, 0, 0, {}, 1});
  if (kind == "fungus") model.signals.back().consensus.push_back("GC");
  model.signals.push_back({"acceptor", {"AG"}, -2, false, 0, {}, 0, 0, {}, 1});
  model.lengths.push_back(flat("initial", 1));
  model.lengths.push_back(flat("internal", 1));
  model.lengths.push_back(flat("terminal", 1));
  model.lengths.push_back(flat("intron", kind == "fungus" ? 20 : 30));
  const int initial = 3, internal = 4, terminal = 5, intron = 6;
  model.states.push_back({"initial", true, FrameRule::kCoding, true, 0, 0, -1, 3});
  model.states.push_back({"internal", true, FrameRule::kCoding, true, 0, -1, -1, 4});
  model.states.push_back({"terminal", true, FrameRule::kCoding, true, 0, -1, -1, 5});
  model.states.push_back({"intron", true, FrameRule::kCarry, false, 1, 3, 4, 6});
  model.transitions.insert(model.transitions.end(), {{0, initial, 0},
                                                     {initial, intron, 0},
                                                     {internal, intron, 0},
                                                     {intron, internal, 0},
                                                     {intron, terminal, 0},
                                                     {terminal, 2, 0}});
  return model;
}

}  // namespace semicrf
