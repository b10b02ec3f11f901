// Genes of an annotation: coding exons by transcript, from GFF3 or GTF, and to GFF3.
#pragma once

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

// The coding part of a transcript, the stop codon included.
struct CodingTranscript {
  std::string id, gene;
  char strand = '+';
  std::vector<CodingExon> exons;  // ascending, apart from each other

  std::int64_t begin() const { return exons.front().begin; }
  std::int64_t end() const { return exons.back().end; }
  std::int64_t bases() const;
};

struct GeneAnnotation {
  std::string path;
  // By sequence, in the order of their first lines; transcripts by begin, then end.
  std::vector<std::string> sequences;
  std::map<std::string, std::vector<CodingTranscript>, std::less<>> transcripts;
};

// Reads the CDS lines of a GFF3 or GTF file, plain or compressed. A CDS belongs to the transcripts that its
// Parent (GFF3; without one its ID) or transcript_id (GTF) names. In GTF the stop codon is no part of CDS
// where stop_codon lines say so. InputError with the line: fields that are missing or no numbers, an end
// before the begin, a strand that is neither + nor -; a transcript on two strands or sequences, or with
// exons that overlap; no CDS at all.
GeneAnnotation read_annotation(const std::string& path);

}  // namespace semicrf
