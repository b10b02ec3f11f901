// The page about the genes that a run found.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/blocks.h"
#include "report/genes/gene_statistics.h"
#include "report/genes/trained_lengths.h"

namespace semicrf {

// What the run was, for the head of the page and its last section: names and values.
struct GeneReportFacts {
  std::string title, subtitle;
  std::vector<std::pair<std::string, std::string>> origin;
};

class GeneReport {
 public:
  explicit GeneReport(const GeneModel& model);

  // Sequences in the order of the output.
  void add(const std::string& name, const PredictedSequence& sequence,
           const std::vector<std::uint8_t>& bases) {
    statistics_.add(name, sequence, bases);
  }
  std::vector<Section> sections(const GeneReportFacts& facts) const;
  std::string page(const GeneReportFacts& facts, const std::vector<Section>& sections) const;

 private:
  // The law of a kind of length in the model; null where it has none.
  const TrainedLengths* law(LengthOf kind) const;

  std::vector<std::pair<LengthOf, TrainedLengths>> laws_;
  GeneStatistics statistics_;
};

// The sections, each of which says how to read it.
Section gene_numbers_section(const GeneStatistics& genes);
Section gene_certainty_section(const GeneStatistics& genes);
Section gene_review_section(const GeneStatistics& genes);
Section gene_sites_section(const GeneStatistics& genes);
// `laws`: of each kind of length; null: none.
Section gene_lengths_section(const GeneStatistics& genes,
                             const std::array<const TrainedLengths*, kLengthKinds>& laws);

}  // namespace semicrf
