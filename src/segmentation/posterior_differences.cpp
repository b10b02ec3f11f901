#include "segmentation/posterior_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/text/text.h"
#include "core/text/utf8.h"
#include "io/bigwig/bbi_writers.h"
#include "io/files/output_names.h"
#include "io/files/temp_spool.h"
#include "io/json/json_document.h"
#include "io/segments/segment_columns.h"
#include "io/segments/segment_reader.h"
#include "io/text/chromosomes.h"
#include "segmentation/difference_files.h"
#include "segmentation/joint_posteriors.h"

namespace semicrf {
namespace {

std::vector<std::string> prefixes_of(const std::vector<Condition>& conditions) {
  std::vector<std::string> prefixes;
  for (const Condition& condition : conditions)
    prefixes.insert(prefixes.end(), condition.prefixes.begin(), condition.prefixes.end());
  return prefixes;
}

// All chromosomes of the genome, those with data first and in their order; empty where lengths are not known.
std::vector<Chromosome> genome_of(const JointPosteriors& posteriors, const DifferenceOptions& options) {
  const bool by_option = !options.chrom_sizes.empty();
  const std::vector<Chromosome> known =
      by_option ? read_chrom_sizes(options.chrom_sizes) : posteriors.lengths();
  if (known.empty()) return {};
  const ChromosomeIndex index(known);
  std::vector<Chromosome> genome;
  std::set<std::string> with_data;
  for (const std::string& name : posteriors.chromosomes()) {
    const Chromosome* const chromosome = index.find(name);
    if (chromosome == nullptr)
      throw InputError({options.chrom_sizes, "",
                        "lacks the chromosome " + in_quotes(name) + " of the posteriors",
                        "give the sizes of this genome"});
    genome.push_back(*chromosome);
    with_data.insert(name);
  }
  for (const Chromosome& chromosome : known)
    if (!with_data.contains(chromosome.name)) genome.push_back(chromosome);
  return genome;
}

// Consecutive bases with one P(differs), and the most probable labels that differ.
struct Step {
  std::uint32_t chromosome = 0;  // its place in the genome's order
  std::int64_t begin = 0, end = 0;
  double p = 0;
  std::vector<std::uint32_t> labels;  // by condition
};

// Steps on disk beyond a MiB, each of the same number of bytes.
class StepSpool {
 public:
  explicit StepSpool(std::size_t conditions) : conditions_(conditions) {}

  void add(const Step& step) {
    bytes_.clear();
    append(&step.chromosome, sizeof step.chromosome);
    append(&step.begin, sizeof step.begin);
    append(&step.end, sizeof step.end);
    append(&step.p, sizeof step.p);
    append(step.labels.data(), conditions_ * sizeof(std::uint32_t));
    text_.append(bytes_);
  }

  template <class Visit>
  void visit(Visit visit) const {
    Step step;
    step.labels.resize(conditions_);
    text_.visit([&](std::string_view bytes) {
      while (!bytes.empty()) {
        take(bytes, &step.chromosome, sizeof step.chromosome);
        take(bytes, &step.begin, sizeof step.begin);
        take(bytes, &step.end, sizeof step.end);
        take(bytes, &step.p, sizeof step.p);
        take(bytes, step.labels.data(), conditions_ * sizeof(std::uint32_t));
        visit(std::as_const(step));
      }
    });
  }

 private:
  void append(const void* value, std::size_t size) { bytes_.append(static_cast<const char*>(value), size); }
  static void take(std::string_view& bytes, void* value, std::size_t size) {
    std::memcpy(value, bytes.data(), size);
    bytes.remove_prefix(size);
  }

  std::size_t conditions_;
  std::string bytes_;
  SpooledText text_;
};

// The posteriors of conditions, as means of those of their replicates, and of mixed groups of these.
class ConditionPosteriors {
 public:
  ConditionPosteriors(const std::vector<Condition>& conditions, std::size_t labels)
      : labels_(labels), means_(conditions.size() * labels), mixed_(2 * labels) {
    for (const Condition& condition : conditions) replicates_.push_back(condition.prefixes.size());
    if (conditions.size() == 2) groups_ = mixed_groups(replicates_[0], replicates_[1]);
  }

  // `values`: by replicate and label.
  std::span<const double> means(std::span<const double> values) {
    std::ranges::fill(means_, 0.0);
    std::size_t at = 0;
    for (std::size_t s = 0; s < replicates_.size(); ++s)
      for (std::size_t r = 0; r < replicates_[s]; ++r)
        for (std::size_t c = 0; c < labels_; ++c, ++at)
          means_[s * labels_ + c] += values[at] / static_cast<double>(replicates_[s]);
    return means_;
  }

  // Calls visit(P(differs)) for the groups of each relabelling.
  template <class Visit>
  void visit_mixed(std::span<const double> values, Visit visit) {
    for (const std::vector<char>& in_first : groups_) {
      std::ranges::fill(mixed_, 0.0);
      std::size_t at = 0;
      for (const char is_first : in_first) {
        const std::size_t group = is_first != 0 ? 0 : 1;
        for (std::size_t c = 0; c < labels_; ++c, ++at)
          mixed_[group * labels_ + c] += values[at] / static_cast<double>(replicates_[group]);
      }
      visit(difference_probability(mixed_, labels_));
    }
  }

  std::int64_t relabellings() const { return std::ssize(groups_); }

 private:
  std::size_t labels_;
  std::vector<std::size_t> replicates_;  // by condition
  std::vector<std::vector<char>> groups_;
  std::vector<double> means_, mixed_;
};

// Regions as lines of BED: labels by condition with | between them, 1000 times the mean of P, the strand,
// the mean, expected differing bases, the largest P.
class RegionFile {
 public:
  RegionFile(OutputFile& output, const std::string& path, const std::vector<std::string>& labels,
             const std::vector<Chromosome>& genome)
      : output_(output), labels_(labels), genome_(genome) {
    if (!is_bigbed_name(path)) return;
    const std::vector<BigBedColumn> columns = {{"string", "chrom", "Chromosome"},
                                               {"uint", "chromStart", "First base, counted from 0"},
                                               {"uint", "chromEnd", "Base behind the region"},
                                               {"string", "name", "Labels in the order of the conditions"},
                                               {"uint", "score", "1000 times the mean of P(labels differ)"},
                                               {"char[1]", "strand", "None"},
                                               {"float", "meanP", "Mean of P(labels differ)"},
                                               {"float", "expectedBases", "Expected bases that differ"},
                                               {"float", "maxP", "Largest P(labels differ)"}};
    constexpr std::size_t kOfBed = 6;
    bigbed_ = std::make_unique<BigBedWriter>(ListedChromosomes(genome), columns.size(), kOfBed,
                                             auto_sql("semicrf_regions", "Where labels differ", columns),
                                             BbiOptions{.zoom = kFinestZoom});
  }

  void add(const Step& region, double expected, double largest) {
    std::vector<std::string> names;
    for (const std::uint32_t label : region.labels) names.push_back(escape_control(labels_[label]));
    const double mean = expected / static_cast<double>(region.end - region.begin);
    const std::string rest =
        fmt::format("{}\t{}\t.\t{}\t{}\t{}", joined(names, "|"), bed_score(mean), formatted("%.6g", mean),
                    formatted("%.6g", expected), formatted("%.6g", largest));
    if (bigbed_) {
      bigbed_->add(region.chromosome, region.begin, region.end, rest);
    } else {
      output_.write(
          fmt::format("{}\t{}\t{}\t{}\n", genome_[region.chromosome].name, region.begin, region.end, rest));
    }
  }

  void finish() {
    if (bigbed_) bigbed_->write(output_);
  }

 private:
  OutputFile& output_;
  const std::vector<std::string>& labels_;
  const std::vector<Chromosome>& genome_;
  std::unique_ptr<BigBedWriter> bigbed_;  // null: BED
};

// Calls visit(region, expected differing bases, largest P) for every maximal run of steps in the cell or
// above it with the same labels; `region.p` has no meaning.
template <class Visit>
void visit_regions(const StepSpool& steps, std::size_t cell, Visit visit) {
  Step region;
  double expected = 0, largest = 0;
  const auto close = [&] {
    if (region.end > region.begin) visit(std::as_const(region), expected, largest);
    expected = largest = 0;
  };
  steps.visit([&](const Step& step) {
    if (probability_cell(step.p) < cell) return;
    const bool goes_on = region.end > region.begin && region.chromosome == step.chromosome &&
                         region.end == step.begin && region.labels == step.labels;
    if (!goes_on) {
      close();
      region = step;
    }
    region.end = step.end;
    expected += step.p * static_cast<double>(step.end - step.begin);
    largest = std::max(largest, step.p);
  });
  close();
}

void warn_of_parts(const JointPosteriors& posteriors, std::vector<Warning>& warnings) {
  if (!posteriors.partial_labels().empty())
    warnings.push_back({"labels-differ", "labels that not all have, and that count as 0 there: " +
                                             few_of(posteriors.partial_labels(), 5)});
  if (!posteriors.partial_chromosomes().empty())
    warnings.push_back({"chromosomes-differ", "chromosomes that not all have, and that are left out: " +
                                                  few_of(posteriors.partial_chromosomes(), 5)});
  if (posteriors.incomplete() > 0)
    warnings.push_back(
        {"no-posterior", amount(posteriors.incomplete()) + " without posteriors of all are left out"});
}

std::string share_or_dot(const std::optional<double>& share) {
  return share ? formatted("%.6g", *share) : ".";
}

}  // namespace

std::vector<Condition> conditions_of(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2)
    throw UsageError("one condition has nothing to be compared with", "give two or more: --posterior A B");
  std::vector<Condition> conditions;
  std::set<std::string> names, prefixes;
  for (std::string list : arguments) {
    Condition condition{take_sequence_name(list), {}};
    for (const std::string_view prefix : split_at(',', list)) {
      if (prefix.empty())
        throw UsageError("--posterior: '" + list + "' has an empty name between commas", "write A1,A2");
      if (!prefixes.emplace(prefix).second)
        throw UsageError("--posterior: '" + std::string(prefix) + "' is given twice", "give it once");
      condition.prefixes.emplace_back(prefix);
    }
    if (condition.name.empty())
      condition.name = std::filesystem::path(condition.prefixes.front()).filename().string();
    if (!names.insert(condition.name).second)
      throw UsageError("two conditions are named '" + condition.name + "'", "name them: NAME=PREFIX");
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

PosteriorDifferences find_differences(const std::vector<Condition>& conditions,
                                      const DifferenceOptions& options, OutputGroup& files) {
  JointPosteriors posteriors(prefixes_of(conditions));
  std::vector<Chromosome> genome = genome_of(posteriors, options);
  for (const std::string& path : {options.regions, options.disagreement})
    if (genome.empty() && is_indexed_name(path))
      throw UsageError(
          path + ": bigWig and bigBed files hold the lengths of chromosomes, which bedGraph lacks",
          "give --chrom-sizes FILE");
  const bool lengths_known = !genome.empty();
  const std::string& lengths_from =
      options.chrom_sizes.empty() ? conditions.front().prefixes.front() : options.chrom_sizes;
  if (!lengths_known)
    for (const std::string& name : posteriors.chromosomes()) genome.push_back({name, 1});
  const std::vector<std::string>& labels = posteriors.labels();
  if (labels.size() < 2)
    throw InputError({conditions.front().prefixes.front(), "", "has a single label, which cannot differ",
                      "give the posteriors of all labels of a model"});

  PosteriorDifferences found;
  ConditionPosteriors of_conditions(conditions, labels.size());
  found.curves.relabellings = of_conditions.relabellings();
  if (conditions.size() > 2 && prefixes_of(conditions).size() > conditions.size())
    throw UsageError("replicates of more than two conditions", "compare two conditions at a time");
  std::optional<StepFile> track;
  if (!options.disagreement.empty())
    track.emplace(files.open(options.disagreement), options.disagreement, genome);
  StepSpool spool(conditions.size());
  Step step;
  posteriors.visit([&](const std::string& chromosome, std::int64_t begin, std::int64_t end,
                       std::span<const double> values) {
    while (genome[step.chromosome].name != chromosome) ++step.chromosome;
    if (lengths_known && end > genome[step.chromosome].length)
      throw InputError({lengths_from, "",
                        fmt::format("{} has {} bases, and posteriors end at {}", in_quotes(chromosome),
                                    genome[step.chromosome].length, end),
                        "give the sizes of this genome"});
    const std::span<const double> means = of_conditions.means(values);
    step.begin = begin;
    step.end = end;
    step.p = difference_probability(means, labels.size());
    found.bases += end - begin;
    found.expected += step.p * static_cast<double>(end - begin);
    found.curves.conditions.add(step.p, end - begin);
    of_conditions.visit_mixed(values, [&](double p) { found.curves.mixed.add(p, end - begin); });
    if (track) track->add(chromosome, {begin, end, step.p});
    if (step.p == 0) return;
    step.labels = likeliest_difference(means, labels.size());
    spool.add(step);
  });
  if (track) track->finish();
  warn_of_parts(posteriors, found.warnings);
  if (found.bases == 0)
    throw InputError({conditions.back().prefixes.back(), "", "has no base in common with all the others",
                      "compare runs over the same regions of one genome"});

  std::optional<RegionFile> region_file;
  if (!options.regions.empty())
    region_file.emplace(files.open(options.regions), options.regions, labels, genome);
  found.cell = lowest_cell(found.curves, options.fdr);
  double empty = 0;
  if (found.cell)
    visit_regions(spool, *found.cell, [&](const Step& region, double expected, double largest) {
      ++found.regions;
      empty += 1 - largest;
      if (region_file) region_file->add(region, expected, largest);
    });
  if (found.regions > 0) found.empty_regions = empty / static_cast<double>(found.regions);
  if (region_file) region_file->finish();
  return found;
}

std::string differences_text(const std::vector<Condition>& conditions, const DifferenceOptions& options,
                             const PosteriorDifferences& found) {
  DifferenceCurves::Point point;
  for (const DifferenceCurves::Point& one : found.curves.points())
    if (one.cell == found.cell) point = one;
  std::vector<std::string> names;
  for (const Condition& condition : conditions) names.push_back(escape_control(condition.name));
  std::string text =
      "conditions\tbases\texpected_bases\texpected_share\tfdr\tthreshold\tregions\tregion_bases\tsame_share\t"
      "empty_regions\trelabellings\tnull_bases\tnull_share\n";
  text += fmt::format(
      "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", joined(names, "|"), found.bases,
      formatted("%.6g", found.expected), formatted("%.6g", found.expected / static_cast<double>(found.bases)),
      formatted("%.6g", options.fdr), found.cell ? formatted("%.6f", lowest_probability(*found.cell)) : ".",
      found.regions, point.bases, found.cell ? formatted("%.6g", point.same_share) : ".",
      share_or_dot(found.empty_regions), found.curves.relabellings,
      found.cell && found.curves.relabellings > 0 ? formatted("%.6g", point.null_bases) : ".",
      share_or_dot(point.null_share));
  return text;
}

std::string difference_curve_text(const DifferenceCurves& curves) {
  std::string text = "threshold\tbases\tsame_share\tnull_bases\tnull_share\n";
  for (const DifferenceCurves::Point& point : curves.points())
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n", formatted("%.6f", lowest_probability(point.cell)),
                        point.bases, formatted("%.6g", point.same_share),
                        curves.relabellings > 0 ? formatted("%.6g", point.null_bases) : ".",
                        share_or_dot(point.null_share));
  return text;
}

}  // namespace semicrf
