#include "genes/annotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "io/json/json_document.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

struct Fields {
  std::string_view sequence, kind, strand, attributes;
  std::int64_t begin = 0, end = 0;
};

class AnnotationReader {
 public:
  explicit AnnotationReader(const std::string& path) : lines_(path) { out_.path = path; }

  GeneAnnotation read() {
    for (std::string line; lines_.next(line);) {
      if (line == "##FASTA") break;
      if (line.empty() || line.front() == '#') continue;
      take(line);
    }
    finish();
    return std::move(out_);
  }

 private:
  struct Found {
    std::string sequence, gene;
    char strand = '+';
    std::int64_t line = 0;
    std::vector<CodingExon> exons, stops;
  };

  [[noreturn]] void fail(std::int64_t line, const std::string& what, const std::string& advice) const {
    throw InputError(out_.path, line, what, advice);
  }

  std::int64_t number(std::string_view text, const char* what) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 1)
      fail(lines_.line_number(), fmt::format("the {} is {}", what, in_quotes(text)),
           "columns 4 and 5 are positions from 1");
    return value;
  }

  void take(std::string_view line) {
    std::string_view columns[9];
    std::string_view rest = line;
    for (int i = 0; i < 9; ++i) {
      if (i > 0 && rest.data() == nullptr)
        fail(lines_.line_number(), fmt::format("{} columns", i), "GFF3 and GTF have nine, separated by tabs");
      const std::size_t tab = i == 8 ? rest.npos : rest.find('\t');
      columns[i] = rest.substr(0, tab);
      rest = tab == rest.npos ? std::string_view() : rest.substr(tab + 1);
    }
    Fields fields{columns[0], columns[2], columns[6], columns[8], 0, 0};
    if (fields.kind != "CDS" && fields.kind != "stop_codon") return;
    fields.begin = number(columns[3], "begin") - 1;
    fields.end = number(columns[4], "end");
    if (fields.end <= fields.begin)
      fail(lines_.line_number(),
           fmt::format("ends at {} before it begins at {}", fields.end, fields.begin + 1),
           "correct the line");
    if (fields.strand != "+" && fields.strand != "-")
      fail(lines_.line_number(), fmt::format("the strand of a CDS is {}", in_quotes(fields.strand)),
           "write + or -");
    add(fields);
  }

  // The value of a GFF3 (key=value) or GTF (key "value") attribute.
  static std::optional<std::string_view> attribute(std::string_view text, std::string_view key) {
    while (!text.empty()) {
      const std::size_t end = text.find(';');
      std::string_view one = text.substr(0, end);
      text = end == text.npos ? std::string_view() : text.substr(end + 1);
      one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
      if (!one.starts_with(key) || one.size() <= key.size()) continue;
      const char next = one[key.size()];
      std::string_view value = one.substr(key.size() + 1);
      if (next == '=') return value;
      if (next != ' ') continue;
      if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.find('"', 1) - 1);
      return value;
    }
    return std::nullopt;
  }

  void add(const Fields& fields) {
    std::optional<std::string_view> names = attribute(fields.attributes, "Parent");
    if (!names) names = attribute(fields.attributes, "transcript_id");
    if (!names) names = attribute(fields.attributes, "ID");
    if (!names || names->empty())
      fail(lines_.line_number(), "a CDS without Parent, transcript_id or ID",
           "say which transcript it belongs to");
    for (std::string_view rest = *names; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      add_to(std::string(rest.substr(0, comma)), fields);
      rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    }
  }

  void add_to(const std::string& id, const Fields& fields) {
    const auto [entry, is_new] = found_.try_emplace(id);
    Found& found = entry->second;
    if (is_new) {
      found.sequence = fields.sequence, found.strand = fields.strand.front(),
      found.line = lines_.line_number();
      if (const auto gene = attribute(fields.attributes, "gene_id")) found.gene = *gene;
      order_.push_back(id);
    } else if (found.sequence != fields.sequence || found.strand != fields.strand.front()) {
      fail(lines_.line_number(),
           fmt::format("transcript {} is on another sequence or strand than before", in_quotes(id)),
           "give each copy an ID of its own");
    }
    (fields.kind == "CDS" ? found.exons : found.stops).push_back({fields.begin, fields.end});
  }

  void finish() {
    for (const std::string& id : order_) {
      Found& found = found_[id];
      if (found.exons.empty()) continue;
      CodingTranscript transcript{id, found.gene, found.strand, join(id, found)};
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
    std::vector<CodingExon> exons = std::move(found.exons);
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

  TextLines lines_;
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

GeneAnnotation read_annotation(const std::string& path) { return AnnotationReader(path).read(); }

}  // namespace semicrf
