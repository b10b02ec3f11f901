#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/chain_model.h"
#include "core/counts.h"
#include "core/error.h"
#include "genes/gene_model.h"
#include "genes/genetic_code.h"
#include "genes/signal_sites.h"

namespace semicrf {
namespace {

// Collects what several labels share.
int place_of(std::vector<StrandedModel>& list, const StrandedModel& wanted) {
  for (int place = 0; place < count_of(list); ++place)
    if (list[place] == wanted) return place;
  list.push_back(wanted);
  return count_of(list) - 1;
}

// Bases that two genes share at most.
constexpr std::size_t kLongestOverlap = 200;
constexpr int kCodingKinds = 3;  // in bacteria

class Compiler {
 public:
  explicit Compiler(const GeneModel& model) : model_(model), labels_of_(model.states.size()) {}

  GeneLattice compile() {
    add_laws();
    for (int s = 0; s < count_of(model_.states); ++s) add_labels(s);
    add_edges();
    out_.lattice.columns = count_of(out_.columns);
    out_.lattice.signals = count_of(out_.signals);
    out_.lattice.barriers = count_of(out_.stops);
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
    const bool two_strands = state.frame == FrameRule::kConvergent || state.frame == FrameRule::kDivergent;
    const int frames = state.frame == FrameRule::kNone ? 1 : 3;
    const bool changes = state.frame == FrameRule::kCarry || is_overlap(state.frame);
    for (const char strand : {'+', '-'}) {
      if (!state.stranded && strand == '-') break;
      // Genes that meet stand on + at the left, genes that part on -.
      if (two_strands && (state.frame == FrameRule::kConvergent) != (strand == '+')) continue;
      const char left = state.stranded ? strand : '.', right = two_strands ? opposite(left) : left;
      for (int f = 0; f < frames; ++f)
        for (int g = 0; g < (changes ? 3 : 1); ++g)
          if (state.frame != FrameRule::kOverlap || f != g)
            add_label(s, {s, left, f, changes ? g : f, right});
    }
  }

  static char opposite(char strand) { return strand == '+' ? '-' : '+'; }

  void add_label(int s, const GeneLabel& meaning) {
    const GeneState& state = model_.states[s];
    LatticeLabel label;
    label.name = state.name;
    if (meaning.strand != '.') label.name += meaning.strand;
    if (state.frame != FrameRule::kNone) label.name += fmt::to_string(meaning.frame);
    if (meaning.next_strand != meaning.strand) label.name += meaning.next_strand;
    if (state.frame == FrameRule::kCarry || is_overlap(state.frame))
      label.name += fmt::to_string(meaning.next_frame);
    const char strand = meaning.strand == '-' ? '-' : '+';
    if (state.content >= 0) {
      const bool codons = model_.contents[state.content].codons;
      label.column = place_of(out_.columns, {state.content, strand, codons ? meaning.frame : -1});
    }
    add_signals(state, meaning, label);
    add_barriers(s, meaning, label);
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

  void add_signals(const GeneState& state, const GeneLabel& meaning, LatticeLabel& label) {
    if (is_overlap(state.frame)) {  // the right gene begins at the left, and the other way round
      const bool meets = state.frame == FrameRule::kConvergent, parts = state.frame == FrameRule::kDivergent;
      const bool plus = meaning.strand == '+';
      const int left = meets || (plus && !parts) ? state.start : state.end;
      const int right = parts || (plus && !meets) ? state.end : state.start;
      label.start_signal = signal(left, meaning.next_strand, meaning.next_frame);
      label.end_signal = signal(right, meaning.strand, meaning.frame);
      return;
    }
    const char strand = meaning.strand == '-' ? '-' : '+';
    if (state.split != SplitCodon::kAny) {
      const int donor =
          split_signal(state, false, strand, strand == '+' ? meaning.frame : meaning.next_frame);
      const int acceptor = split_signal(state, true, strand, -1);
      label.start_signal = strand == '+' ? donor : acceptor;
      label.end_signal = strand == '+' ? acceptor : donor;
      return;
    }
    label.start_signal = signal(strand == '+' ? state.start : state.end, strand, meaning.frame);
    label.end_signal = signal(strand == '+' ? state.end : state.start, strand, meaning.next_frame);
  }

  // The signal at an end of an intron, with what it asks of the codon there.
  int split_signal(const GeneState& state, bool behind, char strand, int frame) {
    const int model = behind ? state.end : state.start;
    SplitSide side{state.split, behind, behind && state.ends_in_stop};
    if (behind && state.split == SplitCodon::kOther) side = {};
    return place_of(out_.signals, {model, strand, frame, side});
  }

  // What codons a segment may not hold. A gene that ends in an overlap has its stop codon at the end of it;
  // its codon over the edge where it comes in counts there, one over the edge where it goes out behind it.
  void add_barriers(int s, const GeneLabel& meaning, LatticeLabel& label) {
    const GeneState& state = model_.states[s];
    const auto add = [&](char strand, int frame, int last_begin, int first_end) {
      const bool plus = strand == '+';
      label.barriers.push_back({place_of(out_.stops, {-1, strand, frame}),
                                plus ? last_begin : kCodon - first_end,
                                plus ? first_end : kCodon - last_begin});
    };
    const auto add_overlapping = [&](char strand, int frame, bool ends) {
      if (ends)
        add(strand, frame, kCodon - 1, kCodon + 1);
      else
        add(strand, frame, 0, kCodon);
    };
    if (is_overlap(state.frame)) {
      add_overlapping(meaning.strand, meaning.frame, meaning.strand == '+');
      add_overlapping(meaning.next_strand, meaning.next_frame, meaning.next_strand == '-');
    } else if (state.content >= 0 && model_.contents[state.content].codons) {
      const bool goes_on =
          std::any_of(model_.transitions.begin(), model_.transitions.end(), [&](const GeneTransition& one) {
            return one.to == s && is_overlap(model_.states[one.from].frame);
          });
      add(meaning.strand, meaning.frame, goes_on ? kCodon - 1 : 0, kCodon);
    }
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
    if (a.next_strand != '.' && b.strand != '.' && a.next_strand != b.strand) return false;
    const char strand = a.next_strand != '.' ? a.next_strand : b.strand;
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
  LengthModel law{name, std::vector<double>(shortest + 2, 0), -1e-5, 1};
  std::fill_n(law.table.begin(), shortest - 1, kNegativeInfinity);
  return law;
}

// Genes of bacteria touch and overlap: states for the bases of two genes, and for what is left of a gene
// whose start codon lies in one of them.
void add_overlaps(GeneModel& model) {
  const int single = 1, stop = 2, rest = 3, overlap = 4, meeting = 5, parting = 6, start = 0, stop_end = 2;
  model.states.push_back({"rest", true, FrameRule::kCoding, true, 0, -1, -1, 1});
  model.states.push_back({"overlap", true, FrameRule::kOverlap, true, -1, start, stop_end, 3});
  model.states.push_back({"convergent", true, FrameRule::kConvergent, true, -1, stop_end, -1, 4});
  model.states.push_back({"divergent", true, FrameRule::kDivergent, true, -1, -1, start, 5});
  for (const char* name : {"overlap", "convergent", "divergent"})
    model.lengths.push_back({name, std::vector<double>(kLongestOverlap, 0), kNegativeInfinity, 1});
  model.transitions.insert(model.transitions.end(), {{stop, single, 0},
                                                     {rest, stop, 0},
                                                     {single, overlap, 0},
                                                     {rest, overlap, 0},
                                                     {overlap, rest, 0},
                                                     {single, meeting, 0},
                                                     {rest, meeting, 0},
                                                     {parting, rest, 0}});
}

// Genes of bacteria differ in what their coding sequence looks like, for one because some came from
// elsewhere: copies of the coding states, each with a content of its own.
void add_kinds(GeneModel& model) {
  const std::vector<GeneState> states = model.states;
  const std::vector<GeneTransition> transitions = model.transitions;
  for (int kind = 1; kind < kCodingKinds; ++kind) {
    const std::string suffix = fmt::format(" {}", kind + 1);
    model.contents.push_back(model.contents[0]);
    model.contents.back().name += suffix;
    std::vector<int> copy_of(states.size());
    for (int s = 0; s < count_of(states); ++s) {
      copy_of[s] = states[s].content < 0 ? s : count_of(model.states);
      if (states[s].content < 0) continue;
      model.states.push_back(states[s]);
      model.states.back().name += suffix;
      model.states.back().content = kind;
    }
    for (const auto& [from, to, score] : transitions) {
      const int a = copy_of[from], b = copy_of[to];
      if (a != from || b != to) model.transitions.push_back({a, b, score});
    }
  }
}

// Introns of a grammar, and what they join.
class IntronGrammar {
 public:
  IntronGrammar(GeneModel& model, const GrammarParts& parts, int shortest)
      : model_(model), parts_(parts), shortest_(shortest) {}

  void add() {
    model_.contents.push_back({"intron", 0, false, {std::vector<float>(4)}, 1, 0});
    donor_ = add_signal("donor", {"GT"}, 0);
    if (parts_.gc_donors) model_.signals.back().consensus.push_back("GC");
    acceptor_ = add_signal("acceptor", {"AG"}, -2);
    model_.lengths.push_back(flat("initial", 1));
    // No codon is split twice where it is asked whether it is a stop codon.
    model_.lengths.push_back(flat("internal", parts_.split_stops ? kCodon : 1));
    model_.lengths.push_back(flat("terminal", 1));
    model_.lengths.push_back(flat("intron", shortest_));
    model_.states.push_back({"initial", true, FrameRule::kCoding, true, 0, 0, -1, 3});
    model_.states.push_back({"internal", true, FrameRule::kCoding, true, 0, -1, -1, 4});
    model_.states.push_back({"terminal", true, FrameRule::kCoding, true, 0, -1, -1, 5});
    if (parts_.split_stops)
      add_split_introns();
    else
      add_intron({"intron", true, FrameRule::kCarry, false, 1, donor_, acceptor_, kIntronLaw});
    if (parts_.u12) add_u12_introns();
    model_.transitions.push_back({0, kInitial, 0});
    model_.transitions.push_back({kTerminal, kStop, 0});
    if (parts_.untranslated) add_untranslated();
  }

 private:
  static constexpr int kSingle = 1, kStop = 2, kInitial = 3, kInternal = 4, kTerminal = 5, kIntronLaw = 6;

  int add_signal(const char* name, const std::vector<std::string>& words, int at) {
    model_.signals.push_back({name, words, {}, at, false, 0, {}, 0, 0, {}, 1});
    return count_of(model_.signals) - 1;
  }
  int add_state(GeneState state) {
    model_.states.push_back(std::move(state));
    return count_of(model_.states) - 1;
  }
  void connect(int from, int to) { model_.transitions.push_back({from, to, 0}); }

  // Between exons.
  int add_intron(GeneState state) {
    const int intron = add_state(std::move(state));
    connect(kInitial, intron), connect(kInternal, intron);
    connect(intron, kInternal), connect(intron, kTerminal);
    return intron;
  }

  // An intron for each beginning of a stop codon, so that the codon that it splits is known behind it.
  void add_split_introns() {
    const auto exact = [&](const char* name, int bases) {
      LengthModel law{name, std::vector<double>(bases, kNegativeInfinity)};
      law.table.back() = 0;
      model_.lengths.push_back(std::move(law));
      const int state =
          add_state({name, true, FrameRule::kNone, true, -1, -1, -1, count_of(model_.lengths) - 1});
      connect(state, 0);
      return state;
    };
    const int last_base = exact(kLastBaseOfStop, 1), last_two = exact(kLastTwoOfStop, 2);
    const GeneState intron{"intron", true, FrameRule::kCarry, false, 1, donor_, acceptor_, kIntronLaw};
    const auto kind = [&](const char* name, SplitCodon split, bool stop) {
      GeneState one = intron;
      one.name = name, one.split = split, one.ends_in_stop = stop;
      return one;
    };
    const int whole = add_intron(kind("intron", SplitCodon::kOther, false));
    connect(whole, kStop);  // a stop codon alone in its exon
    add_intron(kind("intron in T", SplitCodon::kT, false));
    add_intron(kind("intron in TA", SplitCodon::kTA, false));
    add_intron(kind("intron in TG", SplitCodon::kTG, false));
    const auto add_stop = [&](const char* name, SplitCodon split, int rest) {
      GeneState state = kind(name, split, true);
      state.frame = FrameRule::kCoding;  // no frame goes on behind it
      const int stop = add_state(std::move(state));
      connect(kInitial, stop), connect(kInternal, stop), connect(stop, rest);
    };
    add_stop("intron in stop T", SplitCodon::kT, last_two);
    add_stop("intron in stop TA", SplitCodon::kTA, last_base);
    add_stop("intron in stop TG", SplitCodon::kTG, last_base);
  }

  // They are told from the others by their first bases. Codons that they split are not looked at.
  void add_u12_introns() {
    const std::vector<std::string> words{"ATATCC", "GTATCC"};
    for (const std::string& word : words)
      if (word.starts_with("GT")) model_.signals[donor_].excluded.push_back(word);
    const int donor = add_signal("donor U12", words, 0);
    const int acceptor = add_signal("acceptor U12", {"AC", "AG"}, -2);
    add_intron({"intron U12", true, FrameRule::kCarry, false, 1, donor, acceptor, kIntronLaw});
  }

  // Untranslated exons and introns before the start codon and behind the stop codon, on the strand.
  void add_untranslated() {
    const int content = count_of(model_.contents);
    model_.contents.push_back({"untranslated", 0, false, {std::vector<float>(4)}, 1, 0});
    const int laws = count_of(model_.lengths);
    model_.lengths.push_back(flat("5' UTR", 1));
    model_.lengths.push_back(flat("3' UTR", 1));
    model_.lengths.push_back(flat("UTR intron", shortest_));
    const auto add = [&](const char* name, const char* intron_name, int law) {
      GeneState exon{name, true, FrameRule::kNone, false, content, -1, -1, law};
      exon.untranslated = true;
      const int state = add_state(std::move(exon));
      const int intron =
          add_state({intron_name, true, FrameRule::kNone, false, 1, donor_, acceptor_, laws + 2});
      connect(state, intron), connect(intron, state);
      return std::pair(state, intron);
    };
    std::vector<int> last;  // what may stand before intergenic sequence
    for (const GeneTransition& one : model_.transitions)
      if (one.to == 0) last.push_back(one.from);
    const auto [before, before_intron] = add("5' UTR", "5' UTR intron", laws);
    const auto [behind, behind_intron] = add("3' UTR", "3' UTR intron", laws + 1);
    connect(0, before), connect(behind, 0);
    for (const int first : {kSingle, kInitial}) connect(before, first), connect(before_intron, first);
    for (const int stop : last) connect(stop, behind), connect(stop, behind_intron);
  }

  GeneModel& model_;
  const GrammarParts& parts_;
  int shortest_;
  int donor_ = -1, acceptor_ = -1;
};

}  // namespace

GeneLattice compile(const GeneModel& model, const std::string& file) {
  GeneLattice compiled = Compiler(model).compile();
  if (compiled.lattice.signals > 64)
    throw InputError({file, "/signals",
                      fmt::format("{} signals on both strands and in all frames", compiled.lattice.signals),
                      "64 are the most"});
  if (compiled.lattice.edges.empty())
    throw InputError({file, "/transitions", "no state can follow another one", "see docs/gene-models.md"});
  return compiled;
}

GeneLattice lattice_of_strand(const GeneLattice& lattice, char strand) {
  GeneLattice alone = lattice;
  alone.lattice.edges.clear();
  alone.transition_of_edge.clear();
  const auto is_there = [&](int label) {
    const GeneLabel& meaning = lattice.labels[label];
    return meaning.strand == '.' || (meaning.strand == strand && meaning.next_strand == strand);
  };
  for (std::size_t e = 0; e < lattice.lattice.edges.size(); ++e) {
    const LatticeEdge& edge = lattice.lattice.edges[e];
    if (!is_there(edge.from) || !is_there(edge.to)) continue;
    alone.lattice.edges.push_back(edge);
    alone.transition_of_edge.push_back(lattice.transition_of_edge[e]);
  }
  for (int c = 0; c < count_of(alone.labels); ++c)
    if (!is_there(c)) alone.lattice.labels[c].initial = alone.lattice.labels[c].final = kNegativeInfinity;
  return alone;
}

void set_genetic_code(int genetic_code, GeneModel& model) {
  const CodonTable before(model.genetic_code), now(genetic_code);
  model.genetic_code = genetic_code;
  for (SignalModel& signal : model.signals)
    if (signal.name == "stop" || signal.name == "stop end") signal.consensus = now.stops();
  for (const std::string& word : before.stops()) {
    const std::vector<std::uint8_t> codon = base_codes(word);
    if (now.is_stop(codon[0], codon[1], codon[2])) continue;
    const std::size_t last = codon[0] * 16U + codon[1] * 4U + codon[2];
    for (ContentModel& content : model.contents) {
      if (!content.codons || content.order < kCodon - 1) continue;
      std::vector<float>& table = content.tables[kCodon - 1];
      for (std::size_t w = last; w < table.size(); w += 64) table[w] = 0;
    }
  }
}

GeneModel gene_grammar(const std::string& kind, const GrammarParts& parts, int genetic_code) {
  GeneModel model;
  model.genetic_code = genetic_code;
  const bool introns = kind != "prokaryote";
  model.description = kind;
  model.contents = {{"coding", 0, true, std::vector(3, std::vector<float>(4)), 1, 0}};
  const std::vector<std::string> stops = CodonTable(genetic_code).stops();
  model.signals = {{"start", {"ATG"}, {}, 0, true, 0, {}, 0, 0, {}, 1},
                   {"stop", stops, {}, 0, true, 0, {}, 0, 0, {}, 1},
                   {"stop end", stops, {}, -3, true, 0, {}, 0, 0, {}, 1}};
  model.lengths = {flat("intergenic", 1),
                   flat("single", 3),
                   {"stop", {kNegativeInfinity, kNegativeInfinity, 0}, kNegativeInfinity, 1}};
  if (!introns) model.signals[0].consensus = {"ATG", "GTG", "TTG"};
  model.states = {{"intergenic", false, FrameRule::kNone, false, -1, -1, -1, 0},
                  {"single", true, FrameRule::kCoding, true, 0, 0, -1, 1},
                  {"stop", true, FrameRule::kCoding, true, -1, 1, 2, 2}};
  model.transitions = {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}};
  if (!introns) {
    add_overlaps(model);
    add_kinds(model);
    return model;
  }
  GrammarParts wanted = parts;
  if (kind == "fungus") wanted.gc_donors = true;
  IntronGrammar(model, wanted, kind == "fungus" ? 20 : 30).add();
  return model;
}

}  // namespace semicrf
