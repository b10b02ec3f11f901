#include "io/tracks/vcf_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/text/names.h"

namespace semicrf {
namespace {

enum Field : std::size_t { kChromosome, kPosition, kReference = 3, kAlternative, kInfo = 7, kFormat };
constexpr std::size_t kFirstSample = 9;

bool is_base(std::string_view text) {
  return text.size() == 1 && std::string_view("ACGTacgt").find(text.front()) != std::string_view::npos;
}

// The part of a list between `mark`s at a place; empty: there is none.
std::string_view part_at(std::string_view list, char mark, std::size_t place) {
  for (; place > 0; --place) {
    const std::size_t end = list.find(mark);
    if (end == std::string_view::npos) return {};
    list.remove_prefix(end + 1);
  }
  return list.substr(0, list.find(mark));
}

std::optional<std::size_t> place_in(std::string_view list, char mark, std::string_view name) {
  for (std::size_t place = 0;; ++place) {
    const std::size_t end = list.find(mark);
    if (list.substr(0, end) == name) return place;
    if (end == std::string_view::npos) return std::nullopt;
    list.remove_prefix(end + 1);
  }
}

bool is_heterozygous(std::string_view genotype) {
  return genotype.size() == 3 && (genotype[1] == '/' || genotype[1] == '|') &&
         ((genotype[0] == '0' && genotype[2] == '1') || (genotype[0] == '1' && genotype[2] == '0'));
}

class VcfReader : public TrackTextReader {
 public:
  VcfReader(const TrackText& text, std::span<const std::size_t> columns, const TextSample& sample,
            std::int64_t bin_size)
      : lines_(text.path),
        fields_count_(kFirstSample + text.samples.size()),
        sample_(field_of(text, sample.name)),
        normal_(sample.normal.empty() ? sample_ : field_of(text, sample.normal)),
        bin_size_(bin_size),
        columns_(columns.begin(), columns.end()) {}

 protected:
  bool next_row(TrackRow& row) override {
    if (!has_site_ && !next_site()) {
      if (row.line == 0)
        throw InputError({lines_.path(), "", "has no heterozygous position with reads of each allele",
                          "records need GT and AD; ?normal=NAME takes genotypes from another sample"});
      return false;
    }
    row.chromosome = site_.chromosome;
    row.begin = site_.begin / bin_size_ * bin_size_;
    row.end = row.begin + bin_size_;
    row.is_bin = true;
    if (row.line == 0) row.file = lines_.path();
    std::array<std::int64_t, 2> reads{};  // by column
    do {
      if (site_.depth > reads[1]) reads = {site_.alternative, site_.depth};
      row.line = lines_.line_number();
      has_site_ = next_site();
    } while (has_site_ && site_.chromosome == row.chromosome && site_.begin < row.end);
    row.values.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) row.values[i] = static_cast<float>(reads[columns_[i]]);
    return true;
  }

 private:
  struct Site {
    std::string chromosome;
    std::int64_t begin = 0;  // base, from 0
    std::int64_t alternative = 0, depth = 0;
  };

  static std::size_t field_of(const TrackText& text, const std::string& sample) {
    const auto found = std::ranges::find(text.samples, sample);
    return kFirstSample +
           (found == text.samples.end() ? 0 : static_cast<std::size_t>(found - text.samples.begin()));
  }

  // The next position that counts; false at the end.
  bool next_site() {
    while (lines_.next(line_)) {
      if (line_.empty() || line_.starts_with('#')) continue;
      fields_ = split_at('\t', line_);
      if (fields_.size() != fields_count_)
        throw refused_at(lines_,
                         fmt::format("found {}, expected {} as in the line of names",
                                     plural(fields_.size(), "column"), fields_count_),
                         "correct the line");
      const std::int64_t begin = position_in(lines_, fields_[kPosition], "the position", 0) - 1;
      if (fields_[kChromosome] != site_.chromosome) {
        site_.chromosome = fields_[kChromosome];
      } else if (begin < site_.begin) {
        throw refused_at(lines_, fmt::format("position {} comes behind {}", begin + 1, site_.begin + 1),
                         "sort the file, for example with bcftools sort");
      }
      site_.begin = begin;
      if (begin >= 0 && is_base(fields_[kReference]) && is_base(fields_[kAlternative]) && takes_reads())
        return true;
    }
    return false;
  }

  // Whether the record, of one other base, says reads of a heterozygous position.
  bool takes_reads() {
    const std::string_view format = fields_[kFormat];
    const auto genotype = place_in(format, ':', "GT"), reads = place_in(format, ':', "AD");
    if (!genotype || !reads || !is_heterozygous(part_at(fields_[normal_], ':', *genotype))) return false;
    if (normal_ == sample_ && place_in(fields_[kInfo], ';', "SOMATIC")) return false;
    const std::string_view counts = part_at(fields_[sample_], ':', *reads);
    if (counts.empty() || counts.find('.') != std::string_view::npos) return false;
    const std::vector<std::string_view> both = split_at(',', counts);
    if (both.size() != 2)
      throw refused_at(lines_, "AD is " + quoted_field(counts) + ", expected the reads of two alleles",
                       "correct the line");
    site_.alternative = reads_in(both[1]);
    site_.depth = reads_in(both[0]) + site_.alternative;
    return site_.depth > 0;
  }

  std::int64_t reads_in(std::string_view text) const {
    constexpr std::int64_t kMost = 1'000'000'000;
    const auto number = number_in<std::int64_t>(text);
    if (!number || *number < 0 || *number > kMost)
      throw refused_at(lines_, "AD has " + quoted_field(text) + ", expected a whole number from 0 to 1e9",
                       "correct the line");
    return *number;
  }

  TextLines lines_;
  std::size_t fields_count_, sample_, normal_;
  std::int64_t bin_size_;
  std::vector<std::size_t> columns_;
  std::string line_;
  std::vector<std::string_view> fields_;
  Site site_;              // the last one that was read
  bool has_site_ = false;  // whether it is in no row yet
};

}  // namespace

TrackText vcf_text(const std::string& path) {
  TextLines lines(path);
  std::string line;
  while (lines.next(line) && line.starts_with("##")) {
  }
  const std::vector<std::string_view> names = split_at('\t', line);
  if (names.front() != "#CHROM" || names.size() <= kFirstSample)
    throw refused_at(lines, "the header ends without the names of samples",
                     "allele depths need a VCF file with FORMAT and a column for each sample");
  TrackText text;
  text.path = path;
  text.format = TrackTextFormat::kVcf;
  text.columns = {"alt", "depth"};
  NameIndex known;
  for (std::size_t i = kFirstSample; i < names.size(); ++i) {
    const std::string& name = text.samples.emplace_back(names[i]);
    const std::string problem = name_problem(name);
    if (!problem.empty() || !known.add(name).second)
      throw refused_at(
          lines, "the sample " + quoted_field(name) + (problem.empty() ? " comes twice" : ": " + problem),
          "correct the header, for example with bcftools reheader");
  }
  return text;
}

std::unique_ptr<TrackTextReader> open_vcf(const TrackText& text, std::span<const std::size_t> columns,
                                          const TextSample& sample, std::int64_t bin_size) {
  return std::make_unique<VcfReader>(text, columns, sample, bin_size);
}

}  // namespace semicrf
