#include "io/tracks/vcf_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/text/names.h"
#include "io/tracks/site_text.h"

namespace semicrf {
namespace {

enum Field : std::size_t { kChromosome, kPosition, kReference = 3, kAlternative, kInfo = 7, kFormat };
enum Column : std::size_t { kAlternativeReads, kDepth };
constexpr std::size_t kFirstSample = 9;

bool is_base(std::string_view text) {
  return text.size() == 1 && std::string_view("ACGTacgt").find(text.front()) != std::string_view::npos;
}

// What a sample has at a place of FORMAT; empty: nothing.
std::string_view part_at(std::string_view sample, std::size_t place) {
  for (; place > 0; --place) {
    const std::size_t end = sample.find(':');
    if (end == std::string_view::npos) return {};
    sample.remove_prefix(end + 1);
  }
  return sample.substr(0, sample.find(':'));
}

std::optional<std::size_t> place_of(std::string_view name, const std::vector<std::string_view>& list) {
  const auto found = std::ranges::find(list, name);
  if (found == list.end()) return std::nullopt;
  return found - list.begin();
}

bool is_heterozygous(std::string_view genotype) {
  return genotype.size() == 3 && (genotype[1] == '/' || genotype[1] == '|') &&
         ((genotype[0] == '0' && genotype[2] == '1') || (genotype[0] == '1' && genotype[2] == '0'));
}

class VcfReader : public SiteTextReader {
 public:
  VcfReader(const TrackText& text, std::span<const std::size_t> columns, const TextSample& sample,
            std::int64_t bin_size)
      : SiteTextReader(text, columns, bin_size),
        fields_count_(kFirstSample + text.samples.size()),
        sample_(field_of(text, sample.name)),
        normal_(sample.normal.empty() ? sample_ : field_of(text, sample.normal)) {}

 private:
  static std::size_t field_of(const TrackText& text, const std::string& sample) {
    const auto found = std::ranges::find(text.samples, sample);
    return kFirstSample + (found == text.samples.end() ? 0 : found - text.samples.begin());
  }

  void take(const Counts& site, Counts& bin) const override {
    if (site[kDepth] > bin[kDepth]) bin = site;
  }

  bool next_site() override {
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
      if (begin >= 0 && is_base(fields_[kReference]) && is_base(fields_[kAlternative]) && takes_reads()) {
        site_.line = lines_.line_number();
        return true;
      }
    }
    if (site_.line == 0)
      throw InputError({lines_.path(), "", "has no heterozygous position with reads of each allele",
                        "records need GT and AD; ?normal=NAME takes genotypes from another sample"});
    return false;
  }

  // Whether the record, of one other base, says reads of a heterozygous position.
  bool takes_reads() {
    read_format();
    if (!genotype_ || !reads_ || !is_heterozygous(part_at(fields_[normal_], *genotype_))) return false;
    if (normal_ == sample_ && place_of("SOMATIC", split_at(';', fields_[kInfo]))) return false;
    const std::string_view counts = part_at(fields_[sample_], *reads_);
    if (counts.empty() || counts.find('.') != std::string_view::npos) return false;
    const std::vector<std::string_view> both = split_at(',', counts);
    if (both.size() != 2)
      throw refused_at(lines_, "AD is " + quoted_field(counts) + ", expected the reads of two alleles",
                       "correct the line");
    site_.counts[kAlternativeReads] = reads_in(both[1]);
    site_.counts[kDepth] = reads_in(both[0]) + site_.counts[kAlternativeReads];
    return site_.counts[kDepth] > 0;
  }

  // Where the sample's columns have GT and AD: mostly as in the record before.
  void read_format() {
    if (fields_[kFormat] == format_) return;
    format_ = fields_[kFormat];
    const std::vector<std::string_view> keys = split_at(':', format_);
    genotype_ = place_of("GT", keys);
    reads_ = place_of("AD", keys);
  }

  std::int64_t reads_in(std::string_view text) const {
    constexpr std::int64_t kMost = 1'000'000'000;
    const auto number = number_in<std::int64_t>(text);
    if (!number || *number < 0 || *number > kMost)
      throw refused_at(lines_, "AD has " + quoted_field(text) + ", expected a whole number from 0 to 1e9",
                       "correct the line");
    return *number;
  }

  std::size_t fields_count_, sample_, normal_;
  std::string line_, format_;
  std::optional<std::size_t> genotype_, reads_;  // their places in format_
  std::vector<std::string_view> fields_;
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
