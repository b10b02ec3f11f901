// Parameters of a gene finder: a grammar over one strand, and what the sequence says for each of its states.
//
// A state becomes one label for each strand, and for each reading frame where it has one; a rule of the
// grammar stands for all of these at once, and its weights are shared by them. Scores are natural logarithms.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "genes/lattice/lattice.h"

namespace semicrf {

// A number for every base of each strand, from outside the sequence: what a neural network says of it. The
// source of the track gives it in the scale that the model works in.
struct TrackModel {
  std::string name;
  bool logarithm = true;  // the model works with log(max(value, floor)); else with the value itself
  double floor = 1e-5;    // > 0
};

// What a track adds to the score of a content or a signal: `weight` times its value.
struct TrackTerm {
  // In GeneModel::tracks, by the position of the base in its codon; three times the same one but in contents
  // with codons.
  std::array<int, 3> track{};
  bool other_strand = false;  // the value of the opposite strand
  int at = 0;                 // signals: which base, along the strand from the boundary; contents: 0
  double weight = 0;
};

// The score of a base after those before it, in the direction of the strand: log odds against intergenic
// sequence. Codons are read with a table for each of their three positions.
struct ContentModel {
  std::string name;
  int order = 0;  // bases before it, 0..8
  bool codons = false;
  std::vector<std::vector<float>> tables;  // 1 or 3, each of 4^(order + 1): earlier bases are higher digits
  double weight = 1;
  double bias = 0;  // added at every base
  std::vector<TrackTerm> terms{};
};

inline constexpr int kCodon = 3;  // bases

// States of what stands behind the intron that splits a stop codon.
inline constexpr const char *kLastBaseOfStop = "last base of stop",
                            *kLastTwoOfStop = "last two bases of stop";

// A place where a state may begin or end: bases that must stand there, and log odds of those around.
struct SignalModel {
  std::string name;
  std::vector<std::string> consensus;  // words of one length, A C G T
  std::vector<std::string> excluded;   // it does not stand where one of these words stands instead
  int consensus_at = 0;   // where the first base of a word lies, from the boundary, along the strand
  bool in_frame = false;  // the boundary is one of codons
  int first = 0;          // where the first row of `log_odds` lies
  std::vector<std::array<float, 4>> log_odds;
  // A motif somewhere before the boundary, as the branch point before an acceptor: its first base lies at any
  // place of [motif_from, motif_to), all alike; without it the sequence is as likely as ever. Empty:
  // none.
  int motif_from = 0, motif_to = 0;
  std::vector<std::array<float, 4>> motif;
  double weight = 1;
  std::vector<TrackTerm> terms{};
};

// That a motif is missing where a signal stands.
inline constexpr double kMissingMotif = 0.1;

// The durations of a state, in bases.
struct LengthModel {
  std::string name;
  std::vector<double> table;
  double log_tail = -std::numeric_limits<double>::infinity();
  double weight = 1;
};

enum class FrameRule {
  kNone,    // the state knows no frame
  kCoding,  // codons begin at the frame's positions
  kCarry,   // an intron: the frame of what is left of it goes on at the right
  // Bases of two genes. One ends there where it comes in (kConvergent: both), and begins there where it goes
  // out (kDivergent: both); the other one goes on behind it.
  kOverlap,     // on one strand: from the start codon of one to the stop codon of the one before
  kConvergent,  // on opposite strands, with both stop codons: `start` of the state stands at both ends
  kDivergent,   // on opposite strands, with both start codons: `end` of the state stands at both ends
};

inline bool is_overlap(FrameRule rule) { return rule >= FrameRule::kOverlap; }

// What an intron (kCarry) has before it of the codon that it splits. A codon that begins with T, TA or TG may
// become a stop codon behind the intron.
enum class SplitCodon {
  kAny,
  kOther,  // no base of it, or bases that no stop codon begins with
  kT,
  kTA,
  kTG,
};

struct GeneState {
  std::string name;
  bool stranded = true;
  FrameRule frame = FrameRule::kNone;
  bool coding = false;                     // its bases are CDS
  int content = -1, start = -1, end = -1;  // in the lists of the model; -1: none
  int length = 0;
  bool untranslated = false;  // its bases are exons of a gene and no CDS
  SplitCodon split = SplitCodon::kAny;
  bool ends_in_stop = false;  // with kT, kTA, kTG: a stop codon is what it splits; else it must not be one
};

struct GeneTransition {
  int from = 0, to = 0;  // along the strand
  double score = 0;
};

struct GeneModel {
  std::string description;
  std::vector<GeneState> states;  // the first stands at both ends of every sequence
  std::vector<GeneTransition> transitions;
  std::vector<ContentModel> contents;
  std::vector<SignalModel> signals;
  std::vector<LengthModel> lengths;
  std::vector<TrackModel> tracks;  // empty: the sequence says everything
  int genetic_code = 1;            // in kGeneticCodes
};

// What a label of the lattice stands for.
struct GeneLabel {
  int state = 0;
  char strand = '.';
  int frame = 0;           // at the left boundary: codons begin at the positions that are it modulo 3
  int next_frame = 0;      // at the right boundary; another one for kCarry and overlaps alone
  char next_strand = '.';  // that of the right boundary; another one for overlaps alone
};

// The codon that an intron splits, at one of its ends.
struct SplitSide {
  SplitCodon split = SplitCodon::kAny;
  bool behind = false;  // the acceptor; else the donor
  bool stop = false;    // acceptor: the codon becomes a stop codon
  friend bool operator==(const SplitSide&, const SplitSide&) = default;
};

// A column or signal of the lattice: which model, on which strand, in which frame.
struct StrandedModel {
  int model = 0;  // -1: stop codons
  char strand = '+';
  int frame = -1;  // -1: in any
  SplitSide side{};
  friend bool operator==(const StrandedModel&, const StrandedModel&) = default;
};

// A number of bases modulo 3, 0 to 2 for negative ones as well.
inline int modulo_codon(std::int64_t bases) { return static_cast<int>((bases % kCodon + kCodon) % kCodon); }

// Where in its codon a base of the sequence is; 0 where the column has no frame.
inline int codon_position(const StrandedModel& column, std::int64_t base) {
  if (column.frame < 0) return 0;
  const int from_left = modulo_codon(base - column.frame);
  return column.strand == '+' ? from_left : kCodon - 1 - from_left;
}

struct GeneLattice {
  Lattice lattice;
  std::vector<GeneLabel> labels;        // as lattice.labels
  std::vector<StrandedModel> columns;   // as the columns of the lattice
  std::vector<StrandedModel> signals;   // as its signals
  std::vector<StrandedModel> stops;     // as its barriers: stop codons of a strand and frame
  std::vector<int> transition_of_edge;  // in GeneModel::transitions
  bool every_boundary = false;          // some edge needs no signal
};

// InputError naming `file`: more than 64 signals, or a grammar in which nothing is possible.
GeneLattice compile(const GeneModel& model, const std::string& file);

// The lattice of the genes of one strand alone.
GeneLattice lattice_of_strand(const GeneLattice& lattice, char strand);

// What a grammar with introns may have beside the usual.
struct GrammarParts {
  bool gc_donors = false;     // introns from GC to AG; "fungus" has them anyway
  bool u12 = false;           // introns of the U12 spliceosome, which begin with ATATCC or GTATCC
  bool split_stops = false;   // stop codons that an intron splits end a gene, and stand within none
  bool untranslated = false;  // untranslated regions, with introns, before and behind the coding sequence
};

// "eukaryote", "fungus" or "prokaryote", without content, signals and lengths learned: states and
// transitions, the consensus of signals, flat lengths. "prokaryote" has none of the parts. `genetic_code`: in
// kGeneticCodes.
GeneModel gene_grammar(const std::string& kind, const GrammarParts& parts = {}, int genetic_code = 1);

// A model of gene_grammar() with the stop codons of another genetic code. Codons that stop no more are in
// coding sequence as probable as anywhere.
void set_genetic_code(int genetic_code, GeneModel& model);

}  // namespace semicrf
