#include "genes/annotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "genes/text/gff_lines.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

enum class PartKind { kCoding, kStop, kExon };

std::optional<PartKind> part_kind(std::string_view kind) {
  if (kind == "CDS") return PartKind::kCoding;
  if (kind == "stop_codon") return PartKind::kStop;
  for (const std::string_view one : {"exon", "five_prime_UTR", "three_prime_UTR", "UTR", "5UTR", "3UTR"})
    if (kind == one) return PartKind::kExon;
  return std::nullopt;
}

// What `exons` (in any order) have outside of the coding sequence, which is one stretch here.
std::vector<CodingExon> untranslated_part(std::vector<CodingExon> exons, const CodingTranscript& coding) {
  std::sort(exons.begin(), exons.end());
  std::vector<CodingExon> rest;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    if (!rest.empty() && begin <= rest.back().end)
      rest.back().end = std::max(rest.back().end, end);
    else
      rest.push_back({begin, end});
  };
  for (const CodingExon& exon : exons) add(exon.begin, std::min(exon.end, coding.begin()));
  for (const CodingExon& exon : exons) add(std::max(exon.begin, coding.end()), exon.end);
  return rest;
}

class AnnotationReader {
 public:
  explicit AnnotationReader(const std::string& path) : lines_(path) { out_.path = path; }

  GeneAnnotation read() {
    for (GffLine line; lines_.next(line);) {
      const std::optional<PartKind> kind = part_kind(line.kind);
      // Exons of what does not code may be on no strand.
      if (!kind || (kind == PartKind::kExon && line.strand != "+" && line.strand != "-")) continue;
      lines_.check_place(line);
      add(line, *kind);
    }
    finish();
    return std::move(out_);
  }

 private:
  struct Found {
    std::string sequence, gene;
    char strand = '+';
    std::int64_t line = 0;
    std::vector<CodingExon> coding, stops, exons;
  };

  [[noreturn]] void fail(std::int64_t line, const std::string& what, const std::string& advice) const {
    throw InputError(out_.path, line, what, advice);
  }

  void add(const GffLine& fields, PartKind kind) {
    std::optional<std::string_view> names = gff_attribute(fields.attributes, "Parent");
    if (!names) names = gff_attribute(fields.attributes, "transcript_id");
    if (!names) names = gff_attribute(fields.attributes, "ID");
    if (kind == PartKind::kExon && (!names || names->empty())) return;
    if (!names || names->empty())
      lines_.fail("a CDS without Parent, transcript_id or ID", "say which transcript it belongs to");
    for (std::string_view rest = *names; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      add_to(std::string(rest.substr(0, comma)), fields, kind);
      rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    }
  }

  void add_to(const std::string& id, const GffLine& fields, PartKind kind) {
    const auto [entry, is_new] = found_.try_emplace(id);
    Found& found = entry->second;
    if (is_new) {
      found.sequence = fields.sequence, found.strand = fields.strand.front(),
      found.line = lines_.line_number();
      if (const auto gene = gff_attribute(fields.attributes, "gene_id")) found.gene = *gene;
      order_.push_back(id);
    } else if (found.sequence != fields.sequence || found.strand != fields.strand.front()) {
      if (kind == PartKind::kExon) return;
      lines_.fail(fmt::format("transcript {} is on another sequence or strand than before", in_quotes(id)),
                  "give each copy an ID of its own");
    }
    auto& list = kind == PartKind::kCoding ? found.coding
                 : kind == PartKind::kStop ? found.stops
                                           : found.exons;
    list.push_back({fields.begin, fields.end});
  }

  void finish() {
    for (const std::string& id : order_) {
      Found& found = found_[id];
      if (found.coding.empty()) continue;
      CodingTranscript transcript{id, found.gene, found.strand, join(id, found)};
      transcript.untranslated = untranslated_part(std::move(found.exons), transcript);
      if (!out_.transcripts.contains(found.sequence)) out_.sequences.push_back(found.sequence);
      out_.transcripts[found.sequence].push_back(std::move(transcript));
    }
    if (out_.sequences.empty())
      throw InputError({out_.path, "", "no CDS in it", "give GFF3 or GTF with the coding exons of genes"});
    for (auto& [name, list] : out_.transcripts)
      std::stable_sort(list.begin(), list.end(), [](const CodingTranscript& a, const CodingTranscript& b) {
        return std::pair(a.begin(), a.end()) < std::pair(b.begin(), b.end());
      });
  }

  // The exons in order, with stop codons that were apart from them.
  std::vector<CodingExon> join(const std::string& id, Found& found) const {
    std::vector<CodingExon> exons = std::move(found.coding);
    std::sort(exons.begin(), exons.end());
    for (std::size_t i = 1; i < exons.size(); ++i)
      if (exons[i].begin < exons[i - 1].end)
        fail(found.line, fmt::format("two CDS of transcript {} overlap", in_quotes(id)),
             "give each transcript an ID of its own");
    std::sort(found.stops.begin(), found.stops.end());
    for (const CodingExon& stop : found.stops) {
      const auto overlaps = [&](const CodingExon& exon) {
        return stop.begin < exon.end && exon.begin < stop.end;
      };
      if (std::any_of(exons.begin(), exons.end(), overlaps)) continue;
      const auto next = std::upper_bound(exons.begin(), exons.end(), stop);
      if (next != exons.begin() && std::prev(next)->end == stop.begin) {
        std::prev(next)->end = stop.end;
      } else if (next != exons.end() && stop.end == next->begin) {
        next->begin = stop.begin;
      } else {
        exons.insert(next, stop);
      }
    }
    return exons;
  }

  GffLines lines_;
  GeneAnnotation out_;
  std::map<std::string, Found, std::less<>> found_;
  std::vector<std::string> order_;
};

}  // namespace

std::int64_t CodingTranscript::bases() const {
  std::int64_t sum = 0;
  for (const CodingExon& exon : exons) sum += exon.end - exon.begin;
  return sum;
}

std::vector<CodingExon> whole_exons(const std::vector<CodingExon>& coding,
                                    const std::vector<CodingExon>& untranslated) {
  std::vector<CodingExon> parts = coding, exons;
  parts.insert(parts.end(), untranslated.begin(), untranslated.end());
  std::sort(parts.begin(), parts.end());
  for (const CodingExon& part : parts)
    if (!exons.empty() && exons.back().end == part.begin)
      exons.back().end = part.end;
    else
      exons.push_back(part);
  return exons;
}

GeneAnnotation read_annotation(const std::string& path) { return AnnotationReader(path).read(); }

}  // namespace semicrf
