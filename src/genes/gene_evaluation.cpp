#include "genes/gene_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>

#include "core/error.h"

namespace semicrf {
namespace {

// What an annotation has at each level.
struct LevelSets {
  using Place = std::tuple<std::string, char, std::int64_t, std::int64_t>;
  std::set<Place> exons, introns, starts, stops;
  std::set<std::tuple<std::string, char, std::vector<CodingExon>>> transcripts;
  std::map<std::pair<std::string, char>, std::vector<CodingExon>> bases;  // apart from each other, ascending

  LevelSets(const GeneAnnotation& annotation, const std::string& sequences) {
    const std::string wanted = "," + sequences + ",";
    for (const auto& [sequence, list] : annotation.transcripts) {
      if (!sequences.empty() && wanted.find("," + sequence + ",") == std::string::npos) continue;
      for (const CodingTranscript& one : list) add(sequence, one);
    }
    for (auto& [where, exons_there] : bases) join(exons_there);
  }

 private:
  void add(const std::string& sequence, const CodingTranscript& one) {
    const bool plus = one.strand == '+';
    for (std::size_t i = 0; i < one.exons.size(); ++i) {
      exons.emplace(sequence, one.strand, one.exons[i].begin, one.exons[i].end);
      if (i > 0) introns.emplace(sequence, one.strand, one.exons[i - 1].end, one.exons[i].begin);
    }
    starts.emplace(sequence, one.strand, plus ? one.begin() : one.end(), 0);
    stops.emplace(sequence, one.strand, plus ? one.end() : one.begin(), 0);
    transcripts.emplace(sequence, one.strand, one.exons);
    auto& there = bases[{sequence, one.strand}];
    there.insert(there.end(), one.exons.begin(), one.exons.end());
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
  GeneLevel level{name, static_cast<std::int64_t>(truth.size()), static_cast<std::int64_t>(predicted.size()),
                  0};
  for (const auto& one : truth) level.matched += static_cast<std::int64_t>(predicted.count(one));
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

std::string share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "." : fmt::format("{:.4f}", static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::vector<GeneLevel> evaluate_genes(const GeneAnnotation& truth, const GeneAnnotation& predicted,
                                      const std::string& sequences) {
  std::istringstream names(sequences);
  for (std::string name; std::getline(names, name, ',');)
    if (!truth.transcripts.contains(name) && !predicted.transcripts.contains(name))
      throw InputError({truth.path, "", "no sequence " + name + " in it, nor in the predicted genes",
                        "--sequences wants names of the files"});
  const LevelSets a(truth, sequences), b(predicted, sequences);
  GeneLevel bases{"base", total(a.bases), total(b.bases), 0};
  for (const auto& [where, list] : a.bases)
    if (const auto found = b.bases.find(where); found != b.bases.end())
      bases.matched += in_common(list, found->second);
  return {bases,
          compare("exon", a.exons, b.exons),
          compare("intron", a.introns, b.introns),
          compare("start", a.starts, b.starts),
          compare("stop", a.stops, b.stops),
          compare("transcript", a.transcripts, b.transcripts)};
}

std::string gene_levels_text(const std::vector<GeneLevel>& levels) {
  std::string text = "#level\ttruth\tpredicted\tmatched\tsensitivity\tprecision\tf1\n";
  for (const GeneLevel& level : levels)
    text +=
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", level.name, level.truth, level.predicted, level.matched,
                    share(level.matched, level.truth), share(level.matched, level.predicted),
                    share(2 * level.matched, level.truth + level.predicted));
  return text;
}

}  // namespace semicrf
