// What stands at start codons, splice sites and stop codons.
#include <algorithm>

#include "draw/scale.h"
#include "eval/metrics/text_table.h"
#include "report/genes/gene_report.h"
#include "report/genes/site_logo.h"

namespace semicrf {
namespace {

constexpr std::size_t kMostWords = 8;  // shown for each site; the others together
constexpr std::array<const char*, 4> kTitles{"Start codon", "Donor: begin of introns",
                                             "Acceptor: end of introns", "Stop codon"};

void add_words(const char* of, const std::map<std::string, std::int64_t>& words, Table& table) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(words.begin(), words.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::int64_t all = 0, shown = 0;
  for (const auto& [word, count] : sorted) all += count;
  const auto add = [&](const std::string& word, std::int64_t count) {
    table.rows.push_back(
        {text_cell(of), text_cell(word), count_cell(count), share_cell(share_of(count, all))});
    shown += count;
  };
  for (std::size_t i = 0; i < sorted.size() && i < kMostWords; ++i) add(sorted[i].first, sorted[i].second);
  if (shown < all) add("(others)", all - shown);
}

}  // namespace

Section gene_sites_section(const GeneStatistics& genes) {
  Section section{"sites", "Start codons, splice sites and stop codons", {}};
  const std::array<double, 4> background = genes.background();
  Figure figure;
  figure.name = "sites";
  figure.title = "What the genes have in common at their sites";
  figure.reading =
      "Each column is a place along the strand, counted from the dashed boundary. Its height says how much "
      "the bases there differ from those of the whole sequence (relative entropy, bits); each letter takes "
      "the share of its base. Sites without their usual letters are a sign of a wrong model.";
  figure.table.names = {"site", "place", "a", "c", "g", "t", "bits"};
  double top = 0;
  for (const SiteOf kind : {kStartSite, kDonorSite, kAcceptorSite, kStopSite})
    for (const auto& counts : genes.site(kind).counts) top = std::max(top, site_bits(counts, background));
  for (const SiteOf kind : {kStartSite, kDonorSite, kAcceptorSite, kStopSite}) {
    const SiteBases& site = genes.site(kind);
    if (site.sites == 0) continue;
    figure.panels.push_back(draw_logo(kTitles[kind], site, background, nice_ceiling(top)));
    for (std::size_t i = 0; i < site.counts.size(); ++i) {
      const int offset = site.first + static_cast<int>(i);
      std::vector<Cell>& row = figure.table.rows.emplace_back();
      row = {text_cell(site.name), integer_cell(offset < 0 ? offset : offset + 1)};
      for (const std::int64_t count : site.counts[i]) row.push_back(count_cell(count));
      row.push_back(number_cell(site_bits(site.counts[i], background)));
    }
  }
  if (figure.panels.empty()) {
    section.add(Paragraph{"There are no genes with sites."});
    return section;
  }
  section.add(std::move(figure));
  TableBlock block{"words", "Codons and ends of introns", {}};
  block.table.names = {"of", "word", "count", "share"};
  block.table.headings = {"Of", "Bases", "Count", "Share"};
  add_words("start codon", genes.start_codons(), block.table);
  add_words("stop codon", genes.stop_codons(), block.table);
  add_words("intron", genes.introns(), block.table);
  section.add(std::move(block));
  return section;
}

}  // namespace semicrf
