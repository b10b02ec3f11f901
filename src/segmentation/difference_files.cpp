#include "segmentation/difference_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/text/text.h"
#include "io/bigwig/bbi_writers.h"
#include "io/files/output_names.h"
#include "io/json/json_document.h"
#include "io/text/chromosomes.h"

namespace semicrf {

namespace {

void write_bigbed(OutputFile& output, const std::vector<Sample>& samples, const Agreement& agreement,
                  const std::vector<Chromosome>& listed) {
  const ListedChromosomes places(listed);
  std::string comment = "Labels that differ between " + joined(names_of(samples), ", ");
  std::ranges::replace(comment, '"', '\'');
  const std::vector<BigBedColumn> columns = {{"string", "chrom", "Chromosome"},
                                             {"uint", "chromStart", "First base, counted from 0"},
                                             {"uint", "chromEnd", "Base behind the region"},
                                             {"string", "name", "Labels in the order of the samples"}};
  BigBedWriter writer(places, columns.size(), columns.size(),
                      auto_sql("semicrf_differences", comment, columns), {.zoom = kFinestZoom});
  std::vector<JointStretch> sorted = agreement.differences;
  std::ranges::sort(sorted, {}, [&](const JointStretch& stretch) {
    return std::pair(places.place(stretch.chromosome), stretch.begin);
  });
  for (const JointStretch& stretch : sorted)
    writer.add(places.place(stretch.chromosome), stretch.begin, stretch.end,
               joint_name(stretch, agreement.labels));
  writer.write(output);
}

std::vector<Chromosome> known_lengths(const SegmentationFile& first, const std::string& chrom_sizes,
                                      const std::string& output) {
  if (!chrom_sizes.empty()) return read_chrom_sizes(chrom_sizes);
  if (first.lengths.empty())
    throw UsageError(
        output + ": bigWig and bigBed files hold the lengths of chromosomes, which BED files lack",
        "give --chrom-sizes FILE");
  std::vector<Chromosome> lengths;
  for (const auto& [name, length] : first.lengths) lengths.push_back({name, length});
  return lengths;
}

}  // namespace

std::vector<Chromosome> listed_chromosomes(const std::vector<Sample>& samples, const std::string& chrom_sizes,
                                           const std::string& output) {
  const SegmentationFile& first = samples.front().segmentation;
  const std::vector<Chromosome> lengths = known_lengths(first, chrom_sizes, output);
  std::vector<Chromosome> chromosomes;
  std::unordered_map<std::string, std::int64_t> of_name;
  for (const Chromosome& chromosome : lengths) of_name.emplace(chromosome.name, chromosome.length);
  for (const SegmentedChromosome& chromosome : first.chromosomes) {
    const auto known = of_name.find(chromosome.name);
    if (known == of_name.end())
      throw InputError(
          {first.path, "",
           "has the chromosome " + in_quotes(chromosome.name) + ", which --chrom-sizes does not list",
           "give the sizes of this genome"});
    if (chromosome.segments.back().end > known->second)
      throw InputError({first.path, first.place_of(chromosome, chromosome.segments.back()),
                        fmt::format("ends at {}, but the chromosome has {} bases in --chrom-sizes",
                                    chromosome.segments.back().end, known->second),
                        "give the sizes of this genome"});
    chromosomes.push_back({known->first, known->second});
  }
  for (const Chromosome& chromosome : lengths)
    if (first.find(chromosome.name) == nullptr) chromosomes.push_back(chromosome);
  return chromosomes;
}

void write_differences(OutputGroup& files, const std::string& path, const std::vector<Sample>& samples,
                       const Agreement& agreement, const std::vector<Chromosome>& listed) {
  OutputFile& output = files.open(path);
  if (is_bigbed_name(path)) {
    write_bigbed(output, samples, agreement, listed);
  } else {
    output.write(differences_text(agreement));
  }
}

struct StepFile::BigWig {
  explicit BigWig(const std::vector<Chromosome>& listed)
      : places(listed), writer(places, {.zoom = kFinestZoom}) {}
  ListedChromosomes places;
  BigWigWriter writer;
};

StepFile::StepFile(OutputFile& output, const std::string& path, const std::vector<Chromosome>& listed)
    : output_(output), bigwig_(is_bigwig_name(path) ? std::make_unique<BigWig>(listed) : nullptr) {}

StepFile::~StepFile() = default;

void StepFile::add(const std::string& chromosome, const LabelTrack::Step& step) {
  std::string value = formatted("%.6f", step.value);
  if (chromosome == chromosome_ && step.begin == end_ && value == value_) {
    end_ = step.end;
    return;
  }
  emit();
  chromosome_ = chromosome;
  begin_ = step.begin;
  end_ = step.end;
  value_ = std::move(value);
}

void StepFile::emit() {
  if (chromosome_.empty()) return;
  if (bigwig_) {
    bigwig_->writer.add(bigwig_->places.place(chromosome_), begin_, end_,
                        std::strtof(value_.c_str(), nullptr));
  } else {
    output_.write(fmt::format("{}\t{}\t{}\t{}\n", chromosome_, begin_, end_, value_));
  }
  chromosome_.clear();
}

void StepFile::finish() {
  emit();
  if (bigwig_) bigwig_->writer.write(output_);
}

}  // namespace semicrf
