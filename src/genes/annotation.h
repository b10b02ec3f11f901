// Genes of an annotation: exons by transcript, from GFF3 or GTF.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace semicrf {

struct CodingExon {
  std::int64_t begin = 0, end = 0;  // bases, 0-based, half-open
  friend bool operator==(const CodingExon&, const CodingExon&) = default;
  friend auto operator<=>(const CodingExon&, const CodingExon&) = default;
};

// A transcript with a coding sequence.
struct CodingTranscript {
  std::string id, gene;
  char strand = '+';
  std::vector<CodingExon> exons;           // CDS with the stop codon, ascending, apart from each other
  std::vector<CodingExon> untranslated{};  // the rest of its exons, ascending, before and behind the CDS

  // Those of the coding sequence.
  std::int64_t begin() const { return exons.front().begin; }
  std::int64_t end() const { return exons.back().end; }
  std::int64_t transcript_begin() const {
    return untranslated.empty() ? begin() : std::min(begin(), untranslated.front().begin);
  }
  std::int64_t transcript_end() const {
    return untranslated.empty() ? end() : std::max(end(), untranslated.back().end);
  }
  std::int64_t bases() const;
};

// CDS and what is not translated, joined where they touch.
std::vector<CodingExon> whole_exons(const std::vector<CodingExon>& coding,
                                    const std::vector<CodingExon>& untranslated);

struct GeneAnnotation {
  std::string path;
  // By sequence, in the order of their first lines; transcripts by begin, then end.
  std::vector<std::string> sequences;
  std::map<std::string, std::vector<CodingTranscript>, std::less<>> transcripts;
};

// Reads the CDS lines of a GFF3 or GTF file, plain or compressed, and the lines of exons and untranslated
// regions (exon, five_prime_UTR, three_prime_UTR, UTR) of the transcripts that have CDS; what exons have
// beside CDS is untranslated. A line belongs to the transcripts that its Parent (GFF3; without one its ID) or
// transcript_id (GTF) names. In GTF the stop codon is no part of CDS where stop_codon lines say so.
// InputError with the line: fields that are missing or no numbers, an end before the begin, a strand that is
// neither + nor -; a transcript on two strands or sequences, or with CDS that overlap; no CDS at all.
GeneAnnotation read_annotation(const std::string& path);

}  // namespace semicrf
