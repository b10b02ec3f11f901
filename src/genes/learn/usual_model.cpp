#include "genes/learn/usual_model.h"

#include <cmath>
#include <map>

#include "core/chain_model.h"
#include "core/counts.h"
#include "genes/genetic_code.h"
#include "genes/learn/gene_counts.h"

namespace semicrf {
namespace {

constexpr std::int64_t kLongestTable = 3000;
constexpr std::size_t kGeometricTable = 64;  // what may begin anywhere sums over the whole of it
constexpr double kRareCodon = -7;            // natural logarithm; a stop codon within codons

// Logarithms of lengths are normal, with this median and standard deviation; or lengths are geometric.
struct UsualLength {
  double median = 0, deviation = 0;  // deviation 0: geometric, with the median as its mean
};

const std::map<std::string, UsualLength>& usual_lengths(const std::string& kind) {
  static const std::map<std::string, UsualLength> kBacterium{{"intergenic", {150, 0}},
                                                             {"single", {800, 0.8}},
                                                             {"overlap", {10, 0}},
                                                             {"convergent", {15, 0}},
                                                             {"divergent", {30, 0}}};
  static const std::map<std::string, UsualLength> kFungus{
      {"intergenic", {700, 0}}, {"single", {1100, 0.8}}, {"initial", {200, 1.1}},
      {"internal", {250, 1}},   {"terminal", {500, 1}},  {"intron", {70, 0.5}},
      {"5' UTR", {100, 0}},     {"3' UTR", {150, 0}},    {"UTR intron", {100, 0.7}}};
  static const std::map<std::string, UsualLength> kEukaryote{
      {"intergenic", {3000, 0}}, {"single", {900, 0.8}},   {"initial", {150, 0.9}},
      {"internal", {130, 0.5}},  {"terminal", {200, 0.9}}, {"intron", {400, 1.3}},
      {"5' UTR", {150, 0}},      {"3' UTR", {300, 0}},     {"UTR intron", {500, 1.2}}};
  return kind == "prokaryote" ? kBacterium : kind == "fungus" ? kFungus : kEukaryote;
}

void set_geometric(double mean, LengthModel& law) {
  const double step = std::log1p(-1 / mean);
  if (law.log_tail > kNegativeInfinity) law.table.resize(kGeometricTable), law.log_tail = step;
  for (int k = 0; k < count_of(law.table); ++k) law.table[k] = k * step - std::log(mean);
}

void set_normal(const UsualLength& usual, LengthModel& law) {
  int shortest = 1;
  while (law.table[shortest - 1] == kNegativeInfinity) ++shortest;
  const int longest =
      static_cast<int>(std::min<double>(kLongestTable, usual.median * std::exp(3 * usual.deviation)));
  law.table.assign(longest, kNegativeInfinity);
  const auto away = [&](int k) { return std::log(k / usual.median) / usual.deviation; };
  for (int k = shortest; k <= longest; ++k)
    law.table[k - 1] = -0.5 * away(k) * away(k) - std::log(k * usual.deviation * 2.5066);
  // The slope at the last entry.
  law.log_tail = std::min(-(1 + away(longest) / usual.deviation) / longest, -1e-5);
}

// The log odds of each base of a codon after those before it, where all codons but stop codons are alike.
void set_codons(const CodonTable& codons, ContentModel& content) {
  constexpr int kOrder = kCodon - 1;
  content.order = kOrder;
  // Those that do not stop, of the codons with indexes [from, to).
  const auto count = [&](int from, int to) {
    double sum = 0;
    for (int i = from; i < to; ++i) sum += codons.is_stop(i / 16, i / 4 % 4, i % 4) ? 0 : 1;
    return sum;
  };
  for (int position = 0; position < kCodon; ++position) {
    std::vector<float>& table = content.tables[position];
    table.assign(64, 0);
    for (int word = 0; word < 64; ++word) {
      // The codon's bases so far are the last ones of the word.
      const int width = position == 0 ? 16 : position == 1 ? 4 : 1;
      const int known = word % (64 / width), before = known / 4;
      const double with = count(known * width, (known + 1) * width);
      const double all = count(before * width * 4, (before + 1) * width * 4);
      table[word] = with > 0 ? static_cast<float>(std::log(4 * with / all)) : static_cast<float>(kRareCodon);
    }
  }
}

}  // namespace

GeneModel usual_gene_model(const std::string& kind, const GrammarParts& parts, int genetic_code) {
  GeneModel model = gene_grammar(kind, parts, genetic_code);
  const CodonTable codons(genetic_code);
  for (ContentModel& content : model.contents)
    if (content.codons) set_codons(codons, content);
  const auto& lengths = usual_lengths(kind);
  for (LengthModel& law : model.lengths) {
    const auto usual = lengths.find(law.name);
    if (usual == lengths.end()) continue;
    if (usual->second.deviation == 0)
      set_geometric(usual->second.median, law);
    else
      set_normal(usual->second, law);
  }
  std::vector<double> successors(model.states.size());
  for (const GeneTransition& one : model.transitions) successors[one.from] += 1;
  const std::array<double, 4> composition{0.25, 0.25, 0.25, 0.25};
  for (GeneTransition& one : model.transitions)
    one.score = -std::log(successors[one.from]) - log_chance_of_signals(model, one, composition);
  return model;
}

}  // namespace semicrf
