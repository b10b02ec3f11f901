#include "genes/learn/gene_counts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/chain_model.h"
#include "core/counts.h"
#include "genes/gene_path.h"
#include "genes/learn/site_motif.h"
#include "genes/sequence_source.h"

namespace semicrf {
namespace {

// Rows of log odds tell the composition where bases with A or T and with C or G have unlike odds.
constexpr double kLeastDifference = 0.1;
constexpr double kPriorBases = 8;    // that a shorter context counts beside a longer one
constexpr double kPriorOfSite = 2;   // that the background counts beside the sites of a signal
constexpr double kBandwidth = 0.15;  // standard deviation of the kernel over logarithms of lengths
constexpr int kLongestTable = 3000;
// The table of what may begin or end anywhere: every base sums over the whole of it.
constexpr int kLongestFreeTable = 64;
constexpr int kTurnsOfKinds = 10;
constexpr std::size_t kStopSignal = 1;  // in a gene_grammar()
constexpr int kOrderOfKinds = 2;
// Where the branch point of an intron may begin, from its acceptor, and how many bases it has.
constexpr int kBranchFrom = -70, kBranchTo = -14, kBranchWidth = 7;
// Where ribosomes bind (Shine-Dalgarno), from the start codon.
constexpr int kBindingFrom = -18, kBindingTo = -8, kBindingWidth = 6;

// Words of order + 1 bases, counted.
class WordCounts {
 public:
  explicit WordCounts(int order) : order_(order), counts_(std::size_t{1} << (2 * (order + 1))) {}

  // Every base of a stretch after those before it; `take` says which ones count.
  template <class Take>
  void add(const std::vector<int>& stretch, const Take& take) {
    std::size_t word = 0;
    int known = 0;
    for (std::size_t i = 0; i < stretch.size(); ++i) {
      if (stretch[i] == kUnknownBase) {
        known = 0;
        continue;
      }
      word = (word * 4 + stretch[i]) % counts_.size();
      if (++known > order_ && take(i)) counts_[word] += 1;
    }
  }

  // The logarithm of the probability of each word's last base after its others: longer contexts count beside
  // shorter ones by how often they were seen.
  std::vector<double> log_probabilities() const {
    std::vector<double> shorter(4, 0.25);
    for (int order = 0; order <= order_; ++order) {
      const std::size_t words = std::size_t{1} << (2 * (order + 1));
      std::vector<double> here(words);
      for (std::size_t w = 0; w < counts_.size(); ++w) here[w % words] += counts_[w];
      std::vector<double> probability(words);
      for (std::size_t context = 0; context < words; context += 4) {
        double total = kPriorBases;
        for (std::size_t b = 0; b < 4; ++b) total += here[context + b];
        for (std::size_t b = 0; b < 4; ++b)
          probability[context + b] =
              (here[context + b] + kPriorBases * shorter[(context + b) % shorter.size()]) / total;
      }
      shorter = std::move(probability);
    }
    for (double& value : shorter) value = std::log(value);
    return shorter;
  }

 private:
  int order_;
  std::vector<double> counts_;
};

class GeneCounter {
 public:
  GeneCounter(const std::vector<CountedSequence>& sequences, int order, GeneModel& model)
      : sequences_(sequences), order_(order), model_(model), sites_(model.signals.size()) {}

  void count() {
    count_background();
    follow_paths();
    divide_kinds();
    for (std::size_t i = 0; i < model_.contents.size(); ++i) count_content(i);
    for (std::size_t i = 0; i < model_.signals.size(); ++i) {
      count_signal(model_.signals[i], sites_[i]);
      find_motif(model_.signals[i], sites_[i]);
    }
    collect_distances();
    for (LengthModel& length : model_.lengths) fit_length(length);
    for (GeneTransition& transition : model_.transitions) score_transition(transition);
  }

 private:
  bool has_introns() const {
    return std::any_of(model_.states.begin(), model_.states.end(),
                       [](const GeneState& state) { return state.frame == FrameRule::kCarry; });
  }

  // Intergenic words on both strands, and the composition.
  void count_background() {
    WordCounts words(order_);
    double bases[4] = {1, 1, 1, 1};
    for (const CountedSequence& sequence : sequences_) {
      std::vector<CodingExon> taken = sequence.masked;
      for (const CodingTranscript& gene : sequence.genes)
        taken.push_back({gene.transcript_begin(), gene.transcript_end()});
      std::sort(taken.begin(), taken.end());
      taken.push_back({std::ssize(*sequence.bases), 0});
      std::int64_t from = 0;
      for (const CodingExon& stretch : taken) {
        if (stretch.begin > from) {
          for (const char strand : {'+', '-'}) {
            const std::vector<int> joined = spliced(*sequence.bases, {{from, stretch.begin}}, strand);
            words.add(joined, [](std::size_t) { return true; });
            for (const int base : joined)
              if (base != kUnknownBase) bases[base] += 1;
          }
        }
        from = std::max(from, stretch.end);
      }
    }
    background_ = words.log_probabilities();
    const double all = bases[0] + bases[1] + bases[2] + bases[3];
    for (std::size_t b = 0; b < 4; ++b) composition_[b] = bases[b] / all;
  }

  void count_content(std::size_t index) {
    ContentModel& content = model_.contents[index];
    std::vector<WordCounts> words(content.tables.size(), WordCounts(order_));
    std::size_t gene_index = 0;
    for (const CountedSequence& sequence : sequences_)
      for (const CodingTranscript& gene : sequence.genes) {
        if (content.codons) {
          if (kind_of_[gene_index++] == index) add_codons(sequence, gene, words);
          continue;
        }
        const bool untranslated = content.name == "untranslated";
        for (const CodingExon& part : untranslated ? gene.untranslated : introns(gene))
          words[0].add(spliced(*sequence.bases, {part}, gene.strand), [](std::size_t) { return true; });
      }
    content.order = order_;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::vector<double> logs = words[i].log_probabilities();
      content.tables[i].resize(logs.size());
      for (std::size_t w = 0; w < logs.size(); ++w)
        content.tables[i][w] = static_cast<float>(logs[w] - background_[w]);
    }
  }

  static std::vector<CodingExon> introns(const CodingTranscript& gene) {
    std::vector<CodingExon> exons = gene.untranslated, between;
    exons.insert(exons.end(), gene.exons.begin(), gene.exons.end());
    std::sort(exons.begin(), exons.end());
    for (std::size_t i = 1; i < exons.size(); ++i)
      if (exons[i - 1].end < exons[i].begin) between.push_back({exons[i - 1].end, exons[i].begin});
    return between;
  }

  static void add_codons(const CountedSequence& sequence, const CodingTranscript& gene,
                         std::vector<WordCounts>& words) {
    const std::vector<int> joined = spliced(*sequence.bases, gene.exons, gene.strand);
    for (std::size_t position = 0; position < 3; ++position)
      words[position].add(joined, [&](std::size_t i) { return i % 3 == position; });
  }

  // Which content with codons each gene is counted for: where there are several, each gene goes to the one
  // that makes it most probable, by words of a few bases, again and again. They begin with genes alike in GC.
  void divide_kinds() {
    std::vector<std::size_t> kinds;
    for (std::size_t i = 0; i < model_.contents.size(); ++i)
      if (model_.contents[i].codons) kinds.push_back(i);
    std::vector<std::vector<int>> genes;
    std::vector<std::pair<double, std::size_t>> by_gc;
    for (const CountedSequence& sequence : sequences_)
      for (const CodingTranscript& gene : sequence.genes) {
        genes.push_back(spliced(*sequence.bases, gene.exons, gene.strand));
        const auto gc =
            std::count_if(genes.back().begin(), genes.back().end(), [](int b) { return b == 1 || b == 2; });
        by_gc.emplace_back(ratio(gc, genes.back().size()), genes.size() - 1);
      }
    std::sort(by_gc.begin(), by_gc.end());
    kind_of_.resize(genes.size());
    for (std::size_t i = 0; i < by_gc.size(); ++i)
      kind_of_[by_gc[i].second] = kinds[i * kinds.size() / by_gc.size()];
    share_of_.assign(model_.contents.size(), 1);
    for (int turn = 0; kinds.size() > 1 && turn < kTurnsOfKinds; ++turn) move_to_kinds(kinds, genes);
  }

  void move_to_kinds(const std::vector<std::size_t>& kinds, const std::vector<std::vector<int>>& genes) {
    std::vector<std::vector<std::vector<double>>> logs(kinds.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      double members = 1;
      for (std::size_t position = 0; position < 3; ++position) {
        WordCounts words(kOrderOfKinds);
        for (std::size_t g = 0; g < genes.size(); ++g)
          if (kind_of_[g] == kinds[k]) words.add(genes[g], [&](std::size_t i) { return i % 3 == position; });
        logs[k].push_back(words.log_probabilities());
      }
      members += static_cast<double>(std::count(kind_of_.begin(), kind_of_.end(), kinds[k]));
      share_of_[kinds[k]] = members / static_cast<double>(genes.size() + kinds.size());
    }
    for (std::size_t g = 0; g < genes.size(); ++g) {
      double most = kNegativeInfinity;
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        double sum = std::log(share_of_[kinds[k]]);
        std::size_t word = 0;
        for (std::size_t i = 0; i < genes[g].size(); ++i) {
          word = (word * 4 + genes[g][i] % 4) % logs[k][0].size();
          if (i >= kOrderOfKinds) sum += logs[k][i % 3][word];
        }
        if (sum > most) most = sum, kind_of_[g] = kinds[k];
      }
    }
  }

  // Where a signal stands in an annotated gene.
  struct Site {
    const std::vector<std::uint8_t>* bases = nullptr;
    std::int64_t boundary = 0;
    char strand = '+';

    int base(std::int64_t offset) const { return base_along(*bases, boundary, offset, strand); }
  };

  // Sites, lengths and transitions of each gene for itself.
  void follow_paths() {
    const GeneLattice lattice = compile(model_, "");
    for (const CountedSequence& sequence : sequences_)
      for (const CodingTranscript& gene : sequence.genes) {
        const auto path = path_of_genes(model_, lattice, *sequence.bases, {gene}, gene.transcript_begin() - 1,
                                        gene.transcript_end() + 1);
        if (path) follow(*path, lattice, *sequence.bases, gene);
      }
  }
  void follow(const std::vector<LatticeSegment>& path, const GeneLattice& lattice,
              const std::vector<std::uint8_t>& bases, const CodingTranscript& gene) {
    const auto state = [&](std::size_t i) -> const GeneState& {
      return model_.states[lattice.labels[path[i].label].state];
    };
    for (std::size_t i = 1; i < path.size(); ++i) {
      const std::int64_t boundary = gene.transcript_begin() - 1 + path[i].begin;
      const auto& labels = lattice.lattice.labels;
      for (const int signal : {labels[path[i - 1].label].end_signal, labels[path[i].label].start_signal})
        if (signal >= 0) sites_[lattice.signals[signal].model].push_back({&bases, boundary, gene.strand});
      const bool plus = gene.strand == '+';
      passed_[{group_of(state(plus ? i - 1 : i)), group_of(state(plus ? i : i - 1))}] += 1;
      if (i + 1 < path.size())
        lengths_[model_.lengths[state(i).length].name].push_back(path[i].end - path[i].begin);
    }
  }

  // States that only the sequence tells from each other have one group.
  static std::string group_of(const GeneState& state) {
    if (state.split == SplitCodon::kAny) return state.name;
    return state.ends_in_stop ? "intron in stop" : "intron";
  }

  void count_signal(SignalModel& signal, const std::vector<Site>& sites) {
    static const std::map<std::string, std::pair<int, int>> kAround = {
        {"start", {-15, 6}},    {"stop", {-6, 12}},      {"donor", {-4, 8}},
        {"acceptor", {-22, 4}}, {"donor U12", {-4, 12}}, {"acceptor U12", {-22, 4}}};
    const auto around = kAround.find(signal.name);
    if (around == kAround.end()) return;
    const int last = around->second.second;
    // Before starts of bacteria there is a motif instead, of which the bases would count twice.
    const int first =
        signal.name == "start" && !has_introns() ? kBindingTo + kBindingWidth - 1 : around->second.first;
    std::vector<std::array<double, 4>> counts(last - first);
    for (const Site& site : sites)
      for (int i = first; i < last; ++i)
        if (const int base = site.base(i); base != kUnknownBase) counts[i - first][base] += 1;
    signal.first = first;
    signal.log_odds.assign(counts.size(), {});
    for (int i = first; i < last; ++i) {
      if (stands_always(signal, i - signal.consensus_at)) continue;
      const auto& row = counts[i - first];
      const double total = row[0] + row[1] + row[2] + row[3] + kPriorOfSite;
      for (std::size_t b = 0; b < 4; ++b)
        signal.log_odds[i - first][b] =
            static_cast<float>(std::log((row[b] + kPriorOfSite * composition_[b]) / total / composition_[b]));
    }
  }

  // A base that every word of a signal has, which says nothing. Of several start or stop codons, and of GT
  // and GC, all bases count.
  static bool stands_always(const SignalModel& signal, int at) {
    const std::string& word = signal.consensus.front();
    if (at < 0 || at >= std::ssize(word)) return false;
    if (word.size() <= kCodon) return signal.consensus.size() == 1;
    return std::all_of(signal.consensus.begin(), signal.consensus.end(),
                       [&](const std::string& other) { return other[at] == word[at]; });
  }

  // What stands somewhere before a signal: the branch point of introns before their acceptors, and in
  // genomes without introns the place where ribosomes bind before start codons.
  void find_motif(SignalModel& signal, const std::vector<Site>& sites) const {
    if (signal.name == "acceptor") find_motif(signal, sites, kBranchFrom, kBranchTo, kBranchWidth);
    if (signal.name == "start" && !has_introns())
      find_motif(signal, sites, kBindingFrom, kBindingTo, kBindingWidth);
  }

  void find_motif(SignalModel& signal, const std::vector<Site>& sites, int from, int to, int width) const {
    std::vector<std::vector<int>> windows;
    for (const Site& site : sites) {
      windows.emplace_back();
      for (int i = from; i < to + width - 1; ++i) windows.back().push_back(site.base(i));
    }
    signal.motif = learn_motif(windows, width, composition_);
    signal.motif_from = from, signal.motif_to = to;
  }

  // Between genes, and in what two of them share.
  void collect_distances() {
    for (const CountedSequence& sequence : sequences_) {
      const CodingTranscript* before = nullptr;
      for (const CodingTranscript& gene : sequence.genes) {
        const std::int64_t between =
            gene.transcript_begin() - (before == nullptr ? 0 : before->transcript_end());
        if (between > 0) lengths_["intergenic"].push_back(between);
        if (between < 0) lengths_[overlap_of(*before, gene)].push_back(-between);
        before = &gene;
      }
    }
  }

  // The state of what two genes share.
  static const char* overlap_of(const CodingTranscript& left, const CodingTranscript& right) {
    if (left.strand == right.strand) return "overlap";
    return left.strand == '+' ? "convergent" : "divergent";
  }

  std::int64_t longest_table(const LengthModel& law) const {
    const auto is_free = [&](const GeneTransition& one) {
      const GeneState &from = model_.states[one.from], &to = model_.states[one.to];
      return from.end < 0 && to.start < 0 &&
             (&model_.lengths[from.length] == &law || &model_.lengths[to.length] == &law);
    };
    return std::any_of(model_.transitions.begin(), model_.transitions.end(), is_free) ? kLongestFreeTable
                                                                                      : kLongestTable;
  }

  // Seen lengths, each spread over those near it in proportion to itself; beyond the table a tail with the
  // mean of what is there.
  void fit_length(LengthModel& law) const {
    const auto found = lengths_.find(law.name);
    std::int64_t shortest = 1;
    while (law.table[shortest - 1] == kNegativeInfinity) ++shortest;
    // A law without a tail keeps its longest duration.
    const bool has_tail = law.log_tail > kNegativeInfinity;
    if (found == lengths_.end() || (!has_tail && shortest == std::ssize(law.table))) return;
    std::vector<std::int64_t> seen = found->second;
    std::sort(seen.begin(), seen.end());
    const std::int64_t longest =
        has_tail ? std::clamp<std::int64_t>(seen.back() * 3 / 2, shortest + 1, longest_table(law))
                 : std::ssize(law.table);
    std::vector<double> density(longest);
    double beyond = 0, excess = 0;
    for (const std::int64_t length : seen) {
      if (length > longest) beyond += 1, excess += static_cast<double>(length - longest);
      const double width = kBandwidth, middle = std::log(std::max(length, shortest));
      const auto low = static_cast<std::int64_t>(std::exp(middle - 4 * width));
      const auto high = static_cast<std::int64_t>(std::exp(middle + 4 * width)) + 1;
      for (std::int64_t k = std::max(low, shortest); k <= std::min(high, longest); ++k) {
        const double z = (std::log(k) - middle) / width;
        density[k - 1] += std::exp(-0.5 * z * z) / (static_cast<double>(k) * width * 2.5066);
      }
    }
    // A thousandth of a flat law keeps every length possible.
    const double floor = 1e-3 / static_cast<double>(longest);
    const auto all = static_cast<double>(seen.size());
    law.table.assign(longest, kNegativeInfinity);
    for (std::int64_t k = shortest; k <= longest; ++k)
      law.table[k - 1] = std::log(density[k - 1] / all + floor);
    if (!has_tail) return;
    const double mean = beyond > 0 ? excess / beyond : static_cast<double>(longest) / 3;
    law.log_tail = std::log1p(-1 / std::max(mean, 2.0));
  }

  double share(const GeneState& from, const GeneState& to) const {
    if (has_introns()) return share_of_passed(group_of(from), group_of(to));
    const auto count = [&](const char* name) {
      const auto found = lengths_.find(name);
      return 1 + (found == lengths_.end() ? 0.0 : static_cast<double>(found->second.size()));
    };
    // Both strands pass to what they share.
    if (to.name == "overlap") return count("overlap") / count("single");
    if (to.name == "convergent") return std::sqrt(count("convergent") / count("single"));
    if (from.name == "divergent") return std::sqrt(count("divergent") / count("single"));
    return 1;
  }

  // Each group that the grammar knows counts once more.
  double share_of_passed(const std::string& from, const std::string& to) const {
    std::set<std::string> groups;
    for (const GeneTransition& one : model_.transitions)
      if (group_of(model_.states[one.from]) == from) groups.insert(group_of(model_.states[one.to]));
    double all = 0;
    const auto count = [&](const std::string& other) {
      const auto found = passed_.find({from, other});
      return 1 + (found == passed_.end() ? 0.0 : found->second);
    };
    for (const std::string& other : groups) all += count(other);
    return count(to) / all;
  }

  void score_transition(GeneTransition& transition) const {
    const GeneState& from = model_.states[transition.from];
    const GeneState& to = model_.states[transition.to];
    double score = std::log(share(from, to));
    if (to.content >= 0 && (from.content < 0 || from.content != to.content))
      score += std::log(share_of_[to.content]);
    score -= log_chance_of_signals(model_, transition, composition_);
    transition.score = score;
  }

  const std::vector<CountedSequence>& sequences_;
  int order_;
  GeneModel& model_;
  std::vector<double> background_;
  std::vector<std::size_t> kind_of_;  // by gene, in order: its content
  std::vector<double> share_of_;      // by content: how many of the genes
  std::array<double, 4> composition_{};
  std::vector<std::vector<Site>> sites_;                          // by signal
  std::map<std::string, std::vector<std::int64_t>> lengths_;      // by law
  std::map<std::pair<std::string, std::string>, double> passed_;  // transitions, by groups of states
};

}  // namespace

double log_chance_of_signals(const GeneModel& model, const GeneTransition& transition,
                             const std::array<double, 4>& composition) {
  const GeneState& from = model.states[transition.from];
  const GeneState& to = model.states[transition.to];
  const auto words_of = [&](int signal) { return model.signals[signal].consensus; };
  double sum = 0;
  const auto add = [&](const std::vector<std::string>& words) {
    double chance = 0;
    for (const std::string& word : words) {
      double product = 1;
      for (const std::uint8_t code : base_codes(word)) product *= composition[code];
      chance += product;
    }
    sum += std::log(chance);
  };
  for (const int signal : {from.end, to.start}) {
    // The bases of a codon with a signal on both sides are counted once.
    const bool told =
        signal >= 0 && signal == from.end && from.start >= 0 && words_of(from.start) == words_of(signal);
    if (signal >= 0 && !told) add(words_of(signal));
  }
  if (to.ends_in_stop) add(model.signals[kStopSignal].consensus);
  return sum;
}

std::array<double, 4> composition_of(const GeneModel& model) {
  double share = 0.25, most = kLeastDifference;  // the probability of A, and of T
  for (const SignalModel& signal : model.signals)
    for (const std::array<float, 4>& row : signal.log_odds) {
      const double weak = std::exp(row[0]) + std::exp(row[3]), strong = std::exp(row[1]) + std::exp(row[2]);
      if (std::abs(weak - strong) <= most) continue;
      most = std::abs(weak - strong);
      share = std::clamp((1 - 0.5 * strong) / (weak - strong), 0.01, 0.49);
    }
  return {share, 0.5 - share, 0.5 - share, share};
}

void count_genes(const std::vector<CountedSequence>& sequences, int order, GeneModel& model) {
  GeneCounter(sequences, order, model).count();
}

}  // namespace semicrf
