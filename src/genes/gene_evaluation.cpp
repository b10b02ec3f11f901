#include "genes/gene_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>

#include "core/counts.h"
#include "core/error.h"

namespace semicrf {
namespace {

// What an annotation has at each level.
struct LevelSets {
  using Place = std::tuple<std::string, char, std::int64_t, std::int64_t>;
  std::set<Place> exons, introns, starts, stops;
  using Transcript = std::tuple<std::string, char, std::vector<CodingExon>>;
  std::set<Transcript> transcripts;
  std::map<Transcript, std::int64_t> chains;  // introns: how many transcripts have exactly these
  std::map<std::pair<std::string, char>, std::vector<CodingExon>> bases;  // apart from each other, ascending

  LevelSets(const GeneAnnotation& annotation, const std::string& sequences, ComparedExons compared) {
    const std::string wanted = "," + sequences + ",";
    for (const auto& [sequence, list] : annotation.transcripts) {
      if (!sequences.empty() && wanted.find("," + sequence + ",") == std::string::npos) continue;
      for (const CodingTranscript& one : list)
        add(sequence, one,
            compared == ComparedExons::kCoding ? one.exons : whole_exons(one.exons, one.untranslated));
    }
    for (auto& [where, exons_there] : bases) join(exons_there);
  }

 private:
  void add(const std::string& sequence, const CodingTranscript& one, const std::vector<CodingExon>& parts) {
    const bool plus = one.strand == '+';
    for (const CodingExon& part : parts) exons.emplace(sequence, one.strand, part.begin, part.end);
    for (const CodingExon& part : introns_of(parts))
      introns.emplace(sequence, one.strand, part.begin, part.end);
    starts.emplace(sequence, one.strand, plus ? one.begin() : one.end(), 0);
    stops.emplace(sequence, one.strand, plus ? one.end() : one.begin(), 0);
    if (transcripts.emplace(sequence, one.strand, parts).second && parts.size() > 1)
      chains[{sequence, one.strand, introns_of(parts)}] += 1;
    auto& there = bases[{sequence, one.strand}];
    there.insert(there.end(), parts.begin(), parts.end());
  }
  static std::vector<CodingExon> introns_of(const std::vector<CodingExon>& exons) {
    std::vector<CodingExon> introns;
    for (std::size_t i = 1; i < exons.size(); ++i) introns.push_back({exons[i - 1].end, exons[i].begin});
    return introns;
  }
  static void join(std::vector<CodingExon>& list) {
    std::sort(list.begin(), list.end());
    std::vector<CodingExon> joined;
    for (const CodingExon& exon : list)
      if (!joined.empty() && exon.begin <= joined.back().end)
        joined.back().end = std::max(joined.back().end, exon.end);
      else
        joined.push_back(exon);
    list = std::move(joined);
  }
};

template <class Set>
GeneLevel compare(const char* name, const Set& truth, const Set& predicted) {
  GeneLevel level{name, std::ssize(truth), std::ssize(predicted)};
  for (const auto& one : truth) level.matched += static_cast<std::int64_t>(predicted.count(one));
  level.right = level.matched;
  return level;
}

// One transcript matches one other.
GeneLevel compare_chains(const LevelSets& truth, const LevelSets& predicted) {
  GeneLevel level{"intron_chain"};
  for (const auto& [chain, count] : predicted.chains) level.predicted += count;
  for (const auto& [chain, count] : truth.chains) {
    level.truth += count;
    const auto found = predicted.chains.find(chain);
    if (found != predicted.chains.end()) level.matched += std::min(count, found->second);
  }
  level.right = level.matched;
  return level;
}

// How many loci the transcripts form, and how many of these have a transcript that the other annotation has.
std::pair<std::int64_t, std::int64_t> count_loci(const LevelSets& of, const LevelSets& other) {
  struct Exon {
    std::pair<std::string_view, char> where;
    CodingExon place;
    std::size_t transcript = 0;
  };
  std::vector<Exon> exons;
  std::vector<bool> is_right;
  for (const LevelSets::Transcript& one : of.transcripts) {
    const auto& [sequence, strand, places] = one;
    for (const CodingExon& place : places) exons.push_back({{sequence, strand}, place, is_right.size()});
    is_right.push_back(other.transcripts.contains(one));
  }
  std::sort(exons.begin(), exons.end(), [](const Exon& a, const Exon& b) {
    return std::tie(a.where, a.place) < std::tie(b.where, b.place);
  });
  std::vector<std::size_t> parent(is_right.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t one) {
    while (parent[one] != one) one = parent[one] = parent[parent[one]];
    return one;
  };
  // The exon that reaches farthest of those so far.
  for (std::size_t i = 1, far = 0; i < exons.size(); ++i) {
    const bool together = exons[i].where == exons[far].where && exons[i].place.begin < exons[far].place.end;
    if (together) parent[root(exons[i].transcript)] = root(exons[far].transcript);
    if (!together || exons[i].place.end > exons[far].place.end) far = i;
  }
  std::set<std::size_t> all, right;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    all.insert(root(i));
    if (is_right[i]) right.insert(root(i));
  }
  return {std::ssize(all), std::ssize(right)};
}

GeneLevel compare_loci(const LevelSets& truth, const LevelSets& predicted) {
  GeneLevel level{"locus"};
  std::tie(level.truth, level.matched) = count_loci(truth, predicted);
  std::tie(level.predicted, level.right) = count_loci(predicted, truth);
  return level;
}

std::int64_t total(const std::map<std::pair<std::string, char>, std::vector<CodingExon>>& bases) {
  std::int64_t sum = 0;
  for (const auto& [where, list] : bases)
    for (const CodingExon& exon : list) sum += exon.end - exon.begin;
  return sum;
}

std::int64_t in_common(const std::vector<CodingExon>& a, const std::vector<CodingExon>& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum += std::max<std::int64_t>(0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    (a[i].end < b[j].end ? i : j) += 1;
  }
  return sum;
}

template <class Number>
std::string share(Number part, Number whole) {
  return whole > 0 ? fmt::format("{:.4f}", ratio(part, whole)) : ".";
}

// The harmonic mean of sensitivity and precision.
std::string f1(const GeneLevel& level) {
  const auto truth = static_cast<double>(level.truth), predicted = static_cast<double>(level.predicted);
  const auto matched = static_cast<double>(level.matched), right = static_cast<double>(level.right);
  if (level.matched == level.right) return share(2 * matched, truth + predicted);
  return share(2 * matched * right, matched * predicted + right * truth);
}

}  // namespace

std::vector<GeneLevel> evaluate_genes(const GeneAnnotation& truth, const GeneAnnotation& predicted,
                                      const std::string& sequences, ComparedExons compared) {
  std::istringstream names(sequences);
  for (std::string name; std::getline(names, name, ',');)
    if (!truth.transcripts.contains(name) && !predicted.transcripts.contains(name))
      throw InputError({truth.path, "", "no sequence " + name + " in it, nor in the predicted genes",
                        "--sequences wants names of the files"});
  const LevelSets a(truth, sequences, compared), b(predicted, sequences, compared);
  GeneLevel bases{"base", total(a.bases), total(b.bases)};
  for (const auto& [where, list] : a.bases)
    if (const auto found = b.bases.find(where); found != b.bases.end())
      bases.matched += in_common(list, found->second);
  bases.right = bases.matched;
  return {bases,
          compare("exon", a.exons, b.exons),
          compare("intron", a.introns, b.introns),
          compare("start", a.starts, b.starts),
          compare("stop", a.stops, b.stops),
          compare_chains(a, b),
          compare("transcript", a.transcripts, b.transcripts),
          compare_loci(a, b)};
}

std::string gene_levels_text(const std::vector<GeneLevel>& levels) {
  std::string text = "#level\ttruth\tpredicted\tmatched\tsensitivity\tprecision\tf1\n";
  for (const GeneLevel& level : levels)
    text +=
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", level.name, level.truth, level.predicted, level.matched,
                    share(level.matched, level.truth), share(level.right, level.predicted), f1(level));
  return text;
}

}  // namespace semicrf
