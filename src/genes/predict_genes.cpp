#include "genes/predict_genes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/chain_model.h"
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
};

class Predictor {
 public:
  Predictor(const GeneModel& model, const GeneLattice& lattice, const std::vector<std::uint8_t>& bases,
            int threads)
      : model_(model),
        lattice_(lattice),
        bases_(bases),
        threads_(threads),
        shares_(std::any_of(model.states.begin(), model.states.end(),
                            [](const GeneState& state) { return is_overlap(state.frame); })),
        source_(model, lattice, bases, 0, static_cast<std::int64_t>(bases.size())) {}

  PredictedSequence predict() {
    PredictedSequence out;
    out.length = source_.length();
    if (out.length == 0) return out;
    const RecentWindows windows(source_, kKeptWindows);
    LatticePath path = best_path(lattice_.lattice, windows, threads_);
    out.score = path.score;
    path_ = std::move(path.segments);
    boundaries_.resize(path_.size());
    std::vector<std::int64_t> inner;
    for (std::size_t i = 1; i < path_.size(); ++i) inner.push_back(path_[i].begin);
    const MessagesAt messages = messages_at(lattice_.lattice, windows, inner, threads_);
    out.log_z = messages.log_z;
    look_up(inner, messages);
    for (const PathGene& gene : genes_of_path(model_, lattice_, path_, 0))
      out.genes.push_back(finish(gene, out.log_z));
    return out;
  }

 private:
  void look_up(const std::vector<std::int64_t>& inner, const MessagesAt& messages) {
    if (messages.forward.events.size() != inner.size() || messages.backward.events.size() != inner.size())
      throw std::logic_error("a path has a boundary without messages");
    for (std::size_t e = 0; e < inner.size(); ++e)
      look_up(e + 1, messages, messages.forward.events[e], messages.backward.events[inner.size() - 1 - e]);
  }

  // What is known of the left boundary of a segment.
  void look_up(std::size_t segment, const MessagesAt& messages, const LatticeNodes::Event& there,
               const LatticeNodes::Event& mirrored) {
    PathBoundary& boundary = boundaries_[segment];
    const int left = path_[segment - 1].label, right = path_[segment].label;
    const double log_z = messages.log_z;
    const auto& labels = lattice_.lattice.labels;
    for (std::size_t i = 0; i < there.step->endings.size(); ++i) {
      const auto [label, signal] = there.step->endings[i];
      const double behind = messages.backward.beginnings[mirrored.first_beginning + i];
      if (label == left) boundary.behind = behind;
      if (signal != labels[static_cast<std::size_t>(left)].end_signal) continue;
      boundary.all_behind.emplace_back(label, behind);
      boundary.ends =
          log_add(boundary.ends, messages.forward.endings[there.first_ending + i] + behind - log_z);
    }
    for (std::size_t i = 0; i < there.step->beginnings.size(); ++i) {
      const auto& begins = there.step->beginnings[i];
      const double before = messages.forward.beginnings[there.first_beginning + i];
      if (begins.label == right) boundary.before = before;
      if (begins.signal != labels[static_cast<std::size_t>(right)].start_signal) continue;
      boundary.all_before.emplace_back(begins.label, before);
      boundary.begins =
          log_add(boundary.begins, before + messages.backward.endings[mirrored.first_ending + i] - log_z);
    }
  }

  // The probability of exactly these segments of the path, which are neither the first nor the last.
  double probability(std::size_t first, std::size_t last, double log_z) const {
    const std::vector<LatticeSegment> inside(path_.begin() + static_cast<std::ptrdiff_t>(first),
                                             path_.begin() + static_cast<std::ptrdiff_t>(last));
    const auto features = features_of_path(model_, lattice_, source_, inside);
    if (!features) return 0;
    const double score = score_of(model_, *features);
    return std::min(1.0, std::exp(boundaries_[first].before + score + boundaries_[last].behind - log_z));
  }

  PredictedGene finish(const PathGene& gene, double log_z) const {
    PredictedGene out;
    out.strand = gene.strand;
    out.probability = shares_ && gene.exons.size() == 1 ? probability_beside_others(gene, log_z)
                                                        : probability(gene.first, gene.last, log_z);
    const double left = std::min(1.0, std::exp(boundaries_[gene.first].begins));
    const double right = std::min(1.0, std::exp(boundaries_[gene.last].ends));
    out.start_probability = gene.strand == '+' ? left : right;
    out.stop_probability = gene.strand == '+' ? right : left;
    add_exons(gene, log_z, out);
    return out;
  }

  // The probability of exactly this gene, whatever it shares with its neighbours.
  double probability_beside_others(const PathGene& gene, double log_z) const {
    const LatticeSegment &first = path_[gene.first], &last = path_[gene.last - 1];
    const GeneLabel& label = lattice_.labels[static_cast<std::size_t>(first.label)];
    const bool shared = is_overlap(model_.states[static_cast<std::size_t>(label.state)].frame);
    const std::vector<double> none(lattice_.labels.size(), kNegativeInfinity);
    GeneEnds ends{gene.strand, shared ? label.next_frame : label.frame, none, none};
    for (const auto& [one, message] : boundaries_[gene.first].all_before)
      ends.before[static_cast<std::size_t>(one)] = message;
    for (const auto& [one, message] : boundaries_[gene.last].all_behind)
      ends.behind[static_cast<std::size_t>(one)] = message;
    const double sum = log_sum_of_gene(model_, lattice_, bases_, first.begin, last.end, ends);
    return std::min(1.0, std::exp(sum - log_z));
  }

  void add_exons(const PathGene& gene, double log_z, PredictedGene& out) const {
    std::size_t i = gene.first;
    for (const CodingExon& exon : gene.exons) {
      while (path_[i].begin < exon.begin) ++i;
      const std::size_t first = i;
      while (i < gene.last && path_[i].end <= exon.end) ++i;
      const bool whole = gene.exons.size() == 1;
      out.exons.push_back({exon, 0, whole ? out.probability : probability(first, i, log_z)});
    }
    std::int64_t coding = 0;
    const auto set_phase = [&](PredictedExon& exon) {
      exon.phase = static_cast<int>((3 - coding % 3) % 3);
      coding += exon.exon.end - exon.exon.begin;
    };
    if (gene.strand == '+')
      std::for_each(out.exons.begin(), out.exons.end(), set_phase);
    else
      std::for_each(out.exons.rbegin(), out.exons.rend(), set_phase);
  }

  const GeneModel& model_;
  const GeneLattice& lattice_;
  const std::vector<std::uint8_t>& bases_;
  int threads_;
  bool shares_;  // genes may overlap
  SequenceSource source_;
  std::vector<LatticeSegment> path_;
  std::vector<PathBoundary> boundaries_;  // left of each segment
};

// A name as GFF3 wants it in column 1 and in attributes.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (code <= ' ' || code == 127 || std::string_view(";=&,%>").find(c) != std::string_view::npos)
      text += fmt::format("%{:02X}", code);
    else
      text += c;
  }
  return text;
}

char amino_acid(int a, int b, int c) {
  constexpr std::string_view kCode = "KNKNTTTTRSRSIIMIQHQHPPPPRRRRLLLLEDEDAAAAGGGGVVVV*Y*YSSSS*CWCLFLF";
  if (a == kUnknownBase || b == kUnknownBase || c == kUnknownBase) return 'X';
  return kCode[a * 16 + b * 4 + c];
}

}  // namespace

PredictedSequence predict_genes(const GeneModel& model, const GeneLattice& lattice,
                                const std::vector<std::uint8_t>& bases, int threads) {
  return Predictor(model, lattice, bases, threads).predict();
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

std::string gff_text(const std::string& name, const PredictedSequence& sequence) {
  const std::string id = escaped(name);
  std::string text = fmt::format("##sequence-region {} 1 {}\n", id, sequence.length);
  int number = 0;
  for (const PredictedGene& gene : sequence.genes) {
    ++number;
    const std::int64_t begin = gene.exons.front().exon.begin + 1, end = gene.exons.back().exon.end;
    const auto line = [&](const char* kind, std::int64_t from, std::int64_t to, double score,
                          const std::string& phase, const std::string& attributes) {
      text += fmt::format("{}\tsemicrf\t{}\t{}\t{}\t{:.4g}\t{}\t{}\t{}\n", id, kind, from, to, score,
                          gene.strand, phase, attributes);
    };
    const std::string gene_id = fmt::format("{}.g{}", id, number), transcript = gene_id + ".t1";
    line("gene", begin, end, gene.probability, ".",
         fmt::format("ID={};p_start={:.4g};p_stop={:.4g}", gene_id, gene.start_probability,
                     gene.stop_probability));
    line("mRNA", begin, end, gene.probability, ".", fmt::format("ID={};Parent={}", transcript, gene_id));
    int exon_number = 0;
    for (const PredictedExon& exon : gene.exons) {
      ++exon_number;
      line("exon", exon.exon.begin + 1, exon.exon.end, exon.probability, ".",
           fmt::format("ID={}.exon{};Parent={}", transcript, exon_number, transcript));
      line("CDS", exon.exon.begin + 1, exon.exon.end, exon.probability, std::to_string(exon.phase),
           fmt::format("ID={}.cds;Parent={}", transcript, transcript));
    }
  }
  return text;
}

std::string coding_text(const std::string& name, const PredictedSequence& sequence,
                        const std::vector<std::uint8_t>& bases, bool protein) {
  constexpr std::size_t kWidth = 60;
  std::string text;
  int number = 0;
  for (const PredictedGene& gene : sequence.genes) {
    std::vector<CodingExon> exons;
    for (const PredictedExon& exon : gene.exons) exons.push_back(exon.exon);
    const std::vector<int> joined = spliced(bases, exons, gene.strand);
    std::string letters;
    if (protein) {
      for (std::size_t i = 0; i + 5 < joined.size(); i += 3)
        letters += amino_acid(joined[i], joined[i + 1], joined[i + 2]);
    } else {
      for (const int base : joined) letters += "ACGTN"[base];
    }
    text += fmt::format(">{}.g{}.t1 {}:{}-{}({})\n", escaped(name), ++number, name,
                        gene.exons.front().exon.begin + 1, gene.exons.back().exon.end, gene.strand);
    for (std::size_t at = 0; at < letters.size(); at += kWidth) text += letters.substr(at, kWidth) + "\n";
  }
  return text;
}

}  // namespace semicrf
