#include "report/genes/gene_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/counts.h"
#include "draw/scale.h"
#include "report/page.h"

namespace semicrf {
namespace {

constexpr double kFewRight = 0.5;  // share of the genes that is expected to be right

}  // namespace

GeneReport::GeneReport(const GeneModel& model) {
  const bool has_stop =
      std::ranges::any_of(model.states, [](const GeneState& state) { return state.name == "stop"; });
  for (const LengthOf kind : {kSingle, kInitial, kInternal, kTerminal, kIntron, kBetween})
    for (const LengthModel& law : model.lengths)
      if (law.name == kLengthNames[kind])
        laws_.emplace_back(
            kind, TrainedLengths(law, has_stop && (kind == kSingle || kind == kTerminal) ? kCodon : 0));
}

const TrainedLengths* GeneReport::law(LengthOf kind) const {
  for (const auto& [of, law] : laws_)
    if (of == kind && law.any()) return &law;
  return nullptr;
}

std::vector<Section> GeneReport::sections(const GeneReportFacts& facts) const {
  std::array<const TrainedLengths*, kLengthKinds> laws{};
  for (std::size_t i = 0; i < kLengthKinds; ++i) laws[i] = law(static_cast<LengthOf>(i));
  std::vector<Section> sections{gene_numbers_section(statistics_), gene_certainty_section(statistics_),
                                gene_review_section(statistics_), gene_lengths_section(statistics_, laws),
                                gene_sites_section(statistics_)};
  Section origin{"origin", "How these genes were found", {}};
  TableBlock table{"origin", "The run", {}};
  table.table.names = {"what", "value"};
  table.table.headings = {"", ""};
  for (const auto& [name, value] : facts.origin)
    table.table.rows.push_back({text_cell(name), text_cell(value)});
  origin.add(std::move(table));
  sections.push_back(std::move(origin));
  return sections;
}

std::string GeneReport::page(const GeneReportFacts& facts, const std::vector<Section>& sections) const {
  const SequenceNumbers all = statistics_.total();
  PageHead head{facts.title, facts.subtitle, {}, {}};
  head.facts = {{"Genes", count_text(all.genes)},
                {"Expected to be right to the base", count_text(std::llround(all.expected))},
                {"Introns", count_text(all.introns)},
                {"Sequences", count_text(std::ssize(statistics_.sequences()))},
                {"Length", bases_text(all.bases)}};
  if (all.bases > 0) head.facts.emplace_back("Coding", share_text(ratio(all.coding, all.bases)));
  if (all.genes == 0) head.notices.push_back("No gene was found.");
  if (all.genes > 0 && all.expected < kFewRight * static_cast<double>(all.genes))
    head.notices.push_back(
        "The model expects fewer than half of these genes to be right to the base. It may have been "
        "trained on a species that is too different: train one with train-genes, or give hints.");
  return page_text(head, sections);
}

}  // namespace semicrf
