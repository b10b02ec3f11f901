#include "genes/open_ends.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/chain_model.h"
#include "genes/learn/gene_counts.h"
#include "genes/signal_sites.h"

namespace semicrf {
namespace {

constexpr int kMostTurns = 10000;
constexpr double kSmallestChange = 1e-12;

// How often a gene comes to each state, by the shares of transitions along its strand; what signals ask of
// the sequence counts in neither.
std::vector<double> visits_of_states(const GeneModel& model) {
  const std::array<double, 4> composition = composition_of(model);
  std::vector<double> shares, all(model.states.size());
  for (const GeneTransition& one : model.transitions) {
    shares.push_back(std::exp(one.score + log_chance_of_signals(model, one, composition)));
    all[one.from] += shares.back();
  }
  std::vector<double> visits(model.states.size());
  for (int turn = 0; turn < kMostTurns; ++turn) {
    std::vector<double> next(model.states.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const std::size_t from = model.transitions[i].from;
      const std::size_t to = model.transitions[i].to;
      if (to != 0) next[to] += (from == 0 ? 1 : visits[from]) * shares[i] / all[from];
    }
    double change = 0;
    for (std::size_t s = 0; s < visits.size(); ++s) change = std::max(change, std::abs(next[s] - visits[s]));
    visits = std::move(next);
    if (change < kSmallestChange) break;
  }
  return visits;
}

bool may_be_cut(const GeneModel& model, const GeneLabel& label) {
  const GeneState& state = model.states[label.state];
  if (state.frame == FrameRule::kCarry) return label.frame == label.next_frame;  // one label for each frame
  return state.frame == FrameRule::kCoding && state.coding && state.content >= 0;
}

// Whether the state ends at one base in three only, as a coding sequence before a stop codon.
bool ends_in_frame(const GeneModel& model, int state) {
  return std::all_of(model.transitions.begin(), model.transitions.end(), [&](const GeneTransition& one) {
    if (one.from != state) return true;
    const int signal = model.states[one.to].start;
    return signal < 0 || model.signals[signal].in_frame;
  });
}

}  // namespace

GeneLattice open_ends(const GeneModel& model, GeneLattice lattice) {
  Lattice& out = lattice.lattice;
  out.cut_begin = out.cut_end = true;
  for (const LatticeLaw& law : out.laws) {
    out.cut_laws.push_back(cut_law(law, 1));
    out.twice_cut_laws.push_back(cut_law(law, 2));
  }
  const std::vector<double> visits = visits_of_states(model);
  for (std::size_t c = 0; c < out.labels.size(); ++c) {
    const GeneLabel& label = lattice.labels[c];
    LatticeLabel& cut = out.labels[c];
    const std::size_t law = cut.law;
    // Fitted weights make the probabilities of durations add up to more or less than 1.
    const double sum = out.cut_laws[law].table.front();
    if (label.state == 0) {
      cut.initial = cut.final = -sum;
      for (double& score : out.twice_cut_laws[law].table) score += sum;
      continue;
    }
    if (!may_be_cut(model, label)) continue;
    // A gene has either strand and any of three frames.
    const double begun = std::log(visits[label.state] / (2 * kCodon)) - sum;
    const double goes_on = ends_in_frame(model, label.state) ? -std::log(kCodon) : 0;
    cut.initial = label.strand == '+' ? begun : goes_on;
    cut.final = label.strand == '+' ? goes_on : begun;
  }
  return lattice;
}

void mark_starts_at_ends(const GeneModel& model, const std::vector<std::uint8_t>& bases,
                         PredictedSequence& sequence) {
  const auto is_start = [&](std::int64_t boundary, char strand) {
    std::string codon;
    for (int i = 0; i < kCodon; ++i)
      codon += "ACGTN"[static_cast<std::size_t>(base_along(bases, boundary, i, strand))];
    return std::ranges::any_of(model.signals, [&](const SignalModel& signal) {
      return signal.name == "start" && std::ranges::find(signal.consensus, codon) != signal.consensus.end();
    });
  };
  for (PredictedGene& gene : sequence.genes) {
    const bool plus = gene.strand == '+';
    bool& cut = plus ? gene.cut_left : gene.cut_right;
    const PredictedExon& first = plus ? gene.exons.front() : gene.exons.back();
    const std::int64_t end = plus ? 0 : sequence.length;
    if (!cut || first.phase != 0 || (plus ? first.exon.begin : first.exon.end) != end) continue;
    gene.starts_at_end = is_start(end, gene.strand);
    cut = !gene.starts_at_end;
  }
}

}  // namespace semicrf
