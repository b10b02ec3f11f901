#include "genes/predict_genes.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/chain_model.h"
#include "core/counts.h"
#include "genes/gene_features.h"
#include "genes/gene_path.h"
#include "genes/gene_region.h"
#include "genes/lattice/recent_windows.h"
#include "genes/sequence_source.h"

namespace semicrf {
namespace {

// Windows of the sequence that are not made anew for the next sweep, about 12 MB each.
constexpr std::size_t kKeptWindows = 4;

// What both sides of a boundary of the path say: messages with the scores of the signals there.
struct PathBoundary {
  double before = kNegativeInfinity;  // forward message where the right segment begins
  double behind = kNegativeInfinity;  // backward message where the left segment ends
  double begins = kNegativeInfinity;  // log probabilities: a label begins there with the signal of the right
  double ends = kNegativeInfinity;    // segment, one ends there with the signal of the left
  // All that begin so and that end so: label and message.
  std::vector<std::pair<int, double>> all_before, all_behind;
  // The labels that may stand in place of the segment of the path that an end of the sequence cuts off: with
  // their scores at the end, and with the messages at the other side of the segment.
  std::vector<std::pair<int, double>> cut_before, cut_behind;
};

class Predictor {
 public:
  Predictor(const GeneModel& model, const GeneLattice& lattice, const LatticeSource& source, int threads,
            int alternatives, double missed_cost)
      : model_(model),
        lattice_(lattice),
        threads_(threads),
        alternatives_(alternatives),
        more_for_start_(std::log(missed_cost)),
        shares_(std::any_of(model.states.begin(), model.states.end(),
                            [](const GeneState& state) { return is_overlap(state.frame); })),
        source_(source) {}

  PredictedSequence predict() {
    PredictedSequence out;
    out.length = source_.length(), out.genetic_code = model_.genetic_code;
    if (out.length == 0) return out;
    const RecentWindows windows(source_, kKeptWindows);
    const Lattice favoured = with_more_for_starts();
    LatticeDecoding decoding = decode_lattice(lattice_.lattice, windows, threads_, kLatticeWindow, &favoured);
    path_ = std::move(decoding.path.segments);
    out.score = decoding.path.score;
    for (std::size_t i = 1; i < path_.size(); ++i)
      out.score -= more_for_start_ * start_codons_between(path_[i - 1].label, path_[i].label);
    out.log_z = decoding.messages.log_z;
    boundaries_.resize(path_.size() + 1);
    look_up(decoding.messages);
    look_up_ends();
    for (const PathGene& gene : genes_of_path(model_, lattice_, path_, 0))
      out.genes.push_back(finish(gene, out.log_z));
    return out;
  }

 private:
  int start_codons_between(int left, int right) const {
    const auto is_start = [&](int signal) {
      return signal >= 0 && model_.signals[lattice_.signals[signal].model].name == "start";
    };
    const auto& labels = lattice_.lattice.labels;
    return (is_start(labels[left].end_signal) ? 1 : 0) + (is_start(labels[right].start_signal) ? 1 : 0);
  }
  Lattice with_more_for_starts() const {
    Lattice favoured = lattice_.lattice;
    for (LatticeEdge& edge : favoured.edges)
      edge.score += more_for_start_ * start_codons_between(edge.from, edge.to);
    return favoured;
  }

  void look_up(const PathMessages& messages) {
    const std::size_t inner = path_.empty() ? 0 : path_.size() - 1;
    if (messages.forward.events.size() != inner || messages.backward.events.size() != inner)
      throw std::logic_error("a path has a boundary without messages");
    for (std::size_t e = 0; e < inner; ++e)
      look_up(e + 1, messages, messages.forward.events[e], messages.backward.events[inner - 1 - e]);
  }

  // What is known of the left boundary of a segment.
  void look_up(std::size_t segment, const PathMessages& messages, const LatticeNodes::Event& there,
               const LatticeNodes::Event& mirrored) {
    PathBoundary& boundary = boundaries_[segment];
    const int left = path_[segment - 1].label, right = path_[segment].label;
    const double log_z = messages.log_z;
    const auto& labels = lattice_.lattice.labels;
    for (std::size_t i = 0; i < there.step->endings.size(); ++i) {
      const auto& [label, signal, score] = there.step->endings[i];
      const double behind = messages.backward.beginnings[mirrored.first_beginning + i];
      if (label == left) boundary.behind = behind;
      const bool alike = is_alike(label, signal, left, labels[left].end_signal);
      if (segment == 1 && (label == left || (alike && is_alike_at_end(label, left))))
        boundary.cut_behind.emplace_back(label, behind);
      if (!alike) continue;
      boundary.all_behind.emplace_back(label, behind);
      boundary.ends =
          log_add(boundary.ends, messages.forward.endings[there.first_ending + i] + behind - log_z);
    }
    for (std::size_t i = 0; i < there.step->beginnings.size(); ++i) {
      const auto& begins = there.step->beginnings[i];
      const double before = messages.forward.beginnings[there.first_beginning + i];
      if (begins.label == right) boundary.before = before;
      const bool alike = is_alike(begins.label, begins.signal, right, labels[right].start_signal);
      if (segment + 1 == path_.size() &&
          (begins.label == right || (alike && is_alike_at_end(begins.label, right))))
        boundary.cut_before.emplace_back(begins.label, before);
      if (!alike) continue;
      boundary.all_before.emplace_back(begins.label, before);
      boundary.begins =
          log_add(boundary.begins, before + messages.backward.endings[mirrored.first_ending + i] - log_z);
    }
  }

  // What the ends of the sequence say of the first and the last segment, where they may be cut off.
  void look_up_ends() {
    if (path_.empty()) return;
    const auto& labels = lattice_.lattice.labels;
    for (int c = 0; c < count_of(labels); ++c) {
      if (labels[c].initial > kNegativeInfinity && is_alike_at_end(c, path_.front().label))
        boundaries_.front().cut_before.emplace_back(c, labels[c].initial);
      if (labels[c].final > kNegativeInfinity && is_alike_at_end(c, path_.back().label))
        boundaries_.back().cut_behind.emplace_back(c, labels[c].final);
    }
    boundaries_.front().all_before = boundaries_.front().cut_before;
    boundaries_.back().all_behind = boundaries_.back().cut_behind;
  }

  // Whether two labels mean the same for a gene that is cut off in them: states that differ in what lies
  // beyond, or in how the coding sequence looks.
  bool is_alike_at_end(int label, int of_path) const {
    const GeneLabel &one = lattice_.labels[label], &other = lattice_.labels[of_path];
    if (one.state == 0 || other.state == 0) return one.state == other.state;
    return one.strand == other.strand && one.frame == other.frame &&
           model_.states[one.state].coding == model_.states[other.state].coding;
  }

  // Whether a label at a boundary means the same for a gene as the one of the path: by their signals, and
  // what is left of a stop codon behind an intron, which has none, by its state.
  bool is_alike(int label, int signal, int of_path, int signal_of_path) const {
    if (signal != signal_of_path || signal >= 0) return signal == signal_of_path;
    const GeneLabel &one = lattice_.labels[label], &other = lattice_.labels[of_path];
    const GeneState& state = model_.states[one.state];
    return one.strand == other.strand && state.coding && state.frame == FrameRule::kNone;
  }

  // The probability of exactly these segments of the path, where the ends of the sequence cut the first or
  // the last one off with all labels that mean the same.
  double probability(std::size_t first, std::size_t last, double log_z) const {
    std::vector<LatticeSegment> inside(path_.data() + first, path_.data() + last);
    std::vector<std::pair<int, double>> before{{inside.front().label, boundaries_[first].before}};
    std::vector<std::pair<int, double>> behind{{inside.back().label, boundaries_[last].behind}};
    const bool cut_left = first == 0, cut_right = last == path_.size(), alone = inside.size() == 1;
    if (cut_left || (cut_right && alone)) before = boundaries_[first].cut_before;
    if (cut_right || (cut_left && alone)) behind = boundaries_[last].cut_behind;
    double sum = kNegativeInfinity;
    for (const auto& [left, message_before] : before)
      for (const auto& [right, message_behind] : behind) {
        if (inside.size() == 1 && left != right) continue;
        inside.front().label = left, inside.back().label = right;
        if (const auto features = features_of_path(model_, lattice_, source_, inside))
          sum = log_add(sum, message_before + score_of(model_, *features) + message_behind);
      }
    return std::min(1.0, std::exp(sum - log_z));
  }

  PredictedGene finish(const PathGene& gene, double log_z) const {
    PredictedGene out;
    out.strand = gene.strand;
    out.probability = shares_ && gene.exons.size() == 1 ? probability_beside_others(gene, log_z)
                                                        : probability(gene.first, gene.last, log_z);
    out.cut_left = gene.cut_left, out.cut_right = gene.cut_right;
    const double left = std::min(1.0, std::exp(boundaries_[gene.first].begins));
    const double right = std::min(1.0, std::exp(boundaries_[gene.last].ends));
    out.start_probability = gene.strand == '+' ? left : right;
    out.stop_probability = gene.strand == '+' ? right : left;
    add_exons(gene, log_z, out);
    out.transcript_probability = out.probability;
    if (!gene.untranslated.empty()) add_untranslated(gene, log_z, out);
    if (alternatives_ > 0 && !shares_ && !gene.cut_left && !gene.cut_right)
      add_alternatives(gene, log_z, out);
    return out;
  }

  // What the rest of the sequence says of the labels that may stand at the ends of a gene.
  GeneEnds ends_of(const PathGene& gene) const {
    const GeneLabel& label = lattice_.labels[path_[gene.first].label];
    const bool shared = is_overlap(model_.states[label.state].frame);
    const std::vector<double> none(lattice_.labels.size(), kNegativeInfinity);
    GeneEnds ends{gene.strand,   shared ? label.next_frame : label.frame, none, none, gene.cut_left,
                  gene.cut_right};
    for (const auto& [one, message] : boundaries_[gene.first].all_before) ends.before[one] = message;
    for (const auto& [one, message] : boundaries_[gene.last].all_behind) ends.behind[one] = message;
    return ends;
  }

  // The probability of exactly this gene, whatever it shares with its neighbours.
  double probability_beside_others(const PathGene& gene, double log_z) const {
    const double sum = log_sum_of_gene(model_, lattice_, source_, path_[gene.first].begin,
                                       path_[gene.last - 1].end, ends_of(gene));
    return std::min(1.0, std::exp(sum - log_z));
  }

  void add_alternatives(const PathGene& gene, double log_z, PredictedGene& out) const {
    const std::int64_t begin = path_[gene.first].begin, end = path_[gene.last - 1].end;
    // One more, as the gene itself is among them.
    for (const LatticePath& other :
         best_paths_of_gene(model_, lattice_, source_, begin, end, ends_of(gene), alternatives_ + 1)) {
      const double p = std::min(1.0, std::exp(other.score - log_z));
      const std::vector<PathGene> made = genes_of_path(model_, lattice_, other.segments, begin);
      if (p < kLeastAlternative || std::ssize(out.alternatives) == alternatives_) return;
      if (made.size() != 1 || made[0].exons == gene.exons) continue;
      PredictedAlternative alternative{{}, p};
      for (const CodingExon& exon : made[0].exons) alternative.exons.push_back({exon, 0, 0});
      set_phases(gene.strand, 0, alternative.exons);
      out.alternatives.push_back(std::move(alternative));
    }
  }

  // `first`: of the first one along the strand.
  static void set_phases(char strand, int first, std::vector<PredictedExon>& exons) {
    std::int64_t coding = kCodon - first;
    const auto set_phase = [&](PredictedExon& exon) {
      exon.phase = modulo_codon(-coding);
      coding += exon.exon.end - exon.exon.begin;
    };
    if (strand == '+')
      std::for_each(exons.begin(), exons.end(), set_phase);
    else
      std::for_each(exons.rbegin(), exons.rend(), set_phase);
  }

  void add_exons(const PathGene& gene, double log_z, PredictedGene& out) const {
    std::size_t i = gene.first;
    for (const CodingExon& exon : gene.exons) {
      const double p = exon_probability(exon, i, log_z);
      out.exons.push_back({exon, 0, gene.exons.size() == 1 ? out.probability : p});
    }
    set_phases(gene.strand, gene.first_phase, out.exons);
  }

  // The probability of exactly the segments of the path in an exon, from segment i or a later one on; i:
  // behind them.
  double exon_probability(const CodingExon& exon, std::size_t& i, double log_z) const {
    while (path_[i].begin < exon.begin) ++i;
    const std::size_t first = i;
    while (i < path_.size() && path_[i].end <= exon.end) ++i;
    return probability(first, i, log_z);
  }

  void add_untranslated(const PathGene& gene, double log_z, PredictedGene& out) const {
    out.transcript_probability = probability(gene.transcript_first, gene.transcript_last, log_z);
    std::size_t i = gene.transcript_first;
    for (const CodingExon& part : gene.untranslated)
      out.untranslated.push_back({part, 0, exon_probability(part, i, log_z)});
    i = gene.transcript_first;
    for (const CodingExon& exon : whole_exons(gene.exons, gene.untranslated))
      out.whole_exons.push_back({exon, 0, exon_probability(exon, i, log_z)});
  }

  const GeneModel& model_;
  const GeneLattice& lattice_;
  int threads_, alternatives_;
  double more_for_start_;  // in the lattice of the path
  bool shares_;            // genes may overlap
  const LatticeSource& source_;
  std::vector<LatticeSegment> path_;
  std::vector<PathBoundary> boundaries_;  // left of each segment
};

}  // namespace

PredictedSequence predict_genes(const GeneModel& model, const GeneLattice& lattice,
                                const LatticeSource& source, int threads, int alternatives,
                                double missed_cost) {
  return Predictor(model, lattice, source, threads, alternatives, missed_cost).predict();
}

PredictedSequence predict_genes(const GeneModel& model, const GeneLattice& lattice,
                                const std::vector<std::uint8_t>& bases, int threads) {
  const auto length = std::ssize(bases);
  return predict_genes(model, lattice, SequenceSource(model, lattice, bases, 0, length), threads);
}

PredictedSequence both_strands(PredictedSequence plus, const PredictedSequence& minus) {
  plus.log_z += minus.log_z;
  plus.score += minus.score;
  plus.genes.insert(plus.genes.end(), minus.genes.begin(), minus.genes.end());
  std::stable_sort(plus.genes.begin(), plus.genes.end(), [](const PredictedGene& a, const PredictedGene& b) {
    return a.exons.front().exon.begin < b.exons.front().exon.begin;
  });
  return plus;
}

}  // namespace semicrf
