#include "segmentation/difference_files.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <unordered_map>

#include "core/error.h"
#include "core/text/text.h"
#include "io/bigwig/bbi_writers.h"
#include "io/files/output_names.h"
#include "io/json/json_document.h"
#include "io/text/chromosomes.h"

namespace semicrf {
namespace {

constexpr std::int64_t kZoom = 2000;  // bases of a record of the finest zoom level

// Steps of the same printed value as one.
class StepJoiner {
 public:
  using Emit = std::function<void(const std::string& chromosome, std::int64_t begin, std::int64_t end,
                                  const std::string& value)>;
  explicit StepJoiner(Emit emit) : emit_(std::move(emit)) {}

  void add(const std::string& chromosome, const LabelTrack::Step& step) {
    std::string value = formatted("%.6f", step.value);
    if (chromosome == chromosome_ && step.begin == end_ && value == value_) {
      end_ = step.end;
      return;
    }
    finish();
    chromosome_ = chromosome;
    begin_ = step.begin;
    end_ = step.end;
    value_ = std::move(value);
  }

  void finish() {
    if (!chromosome_.empty()) emit_(chromosome_, begin_, end_, value_);
    chromosome_.clear();
  }

 private:
  Emit emit_;
  std::string chromosome_, value_;
  std::int64_t begin_ = 0, end_ = 0;
};

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
                      auto_sql("semicrf_differences", comment, columns), {.zoom = kZoom});
  std::vector<JointStretch> sorted = agreement.differences;
  std::ranges::sort(sorted, {}, [&](const JointStretch& stretch) {
    return std::pair(places.place(stretch.chromosome), stretch.begin);
  });
  for (const JointStretch& stretch : sorted)
    writer.add(places.place(stretch.chromosome), stretch.begin, stretch.end,
               joint_name(stretch, agreement.labels));
  writer.write(output);
}

}  // namespace

std::vector<Chromosome> listed_chromosomes(const std::vector<Sample>& samples,
                                           const std::vector<Chromosome>& lengths) {
  std::vector<Chromosome> chromosomes;
  std::unordered_map<std::string, std::int64_t> of_name;
  for (const Chromosome& chromosome : lengths) of_name.emplace(chromosome.name, chromosome.length);
  const SegmentationFile& first = samples.front().segmentation;
  for (const SegmentedChromosome& chromosome : first.chromosomes) {
    const auto known = of_name.find(chromosome.name);
    if (known == of_name.end())
      throw InputError(
          {first.path, "",
           "has the chromosome " + in_quotes(chromosome.name) + ", which --chrom-sizes does not list",
           "give the sizes of this genome"});
    if (chromosome.segments.back().end > known->second)
      throw InputError({first.path, first.place_of(chromosome, chromosome.segments.back()),
                        "ends at " + std::to_string(chromosome.segments.back().end) +
                            ", but the chromosome has " + std::to_string(known->second) +
                            " bases in --chrom-sizes",
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

void write_disagreement(OutputGroup& files, const std::string& path, const std::vector<Sample>& samples,
                        const JointLabels& labels, const std::vector<NamedTracks>& tracks,
                        const std::vector<Chromosome>& listed) {
  OutputFile& output = files.open(path);
  const auto visit_all = [&](StepJoiner joiner) {
    visit_disagreement(
        samples, labels, tracks,
        [&](const std::string& chromosome, const LabelTrack::Step& step) { joiner.add(chromosome, step); });
    joiner.finish();
  };
  if (is_bigwig_name(path)) {
    const ListedChromosomes places(listed);
    BigWigWriter writer(places, {.zoom = kZoom});
    visit_all(StepJoiner(
        [&](const std::string& chromosome, std::int64_t begin, std::int64_t end, const std::string& value) {
          writer.add(places.place(chromosome), begin, end, std::strtof(value.c_str(), nullptr));
        }));
    writer.write(output);
  } else {
    visit_all(StepJoiner(
        [&](const std::string& chromosome, std::int64_t begin, std::int64_t end, const std::string& value) {
          output.write(chromosome + "\t" + std::to_string(begin) + "\t" + std::to_string(end) + "\t" + value +
                       "\n");
        }));
  }
}

}  // namespace semicrf
