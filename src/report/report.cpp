// The command report: gathers, makes the sections, writes the page and the figures.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>

#include "core/counts.h"
#include "core/error.h"
#include "core/text/text.h"
#include "draw/scale.h"
#include "eval/eval_input.h"
#include "eval/eval_run.h"
#include "eval/metrics/stretches.h"
#include "inputs/arguments/input_argument.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "report/page.h"
#include "report/report_options.h"
#include "report/sections/sections.h"

namespace semicrf {
namespace {

constexpr double kManyAtCap = 0.02;

// Everything that is read, for the check that no output is one of them.
std::vector<std::string> input_paths(const ReportOptions& options) {
  std::vector<std::string> paths{options.input.parameters,
                                 options.segments,
                                 options.posterior,
                                 options.truth,
                                 options.regions_file,
                                 options.input.samples_file,
                                 options.input.chrom_sizes_file};
  if (!options.labels_posterior.empty())
    for (const auto& [label, path] : label_track_files(options.labels_posterior)) paths.push_back(path);
  for (const auto* arguments : {&options.annotations, &options.input.inputs})
    for (const std::string& argument : *arguments) paths.push_back(path_of_argument(argument));
  std::erase(paths, std::string());
  return paths;
}

class Report {
 public:
  explicit Report(const ReportOptions& options) : options_(options), basis_(read_basis(options)) {}

  void gather() {
    ElsewhereCount elsewhere;
    for (const std::string& argument : options_.annotations) {
      annotations_.push_back(read_annotation(argument));
      require_common_chromosome({&annotations_.back(), 1}, argument, basis_.segmentation);
      elsewhere.add(annotations_.back(), basis_.segmentation);
      merge_overlaps(annotations_.back());
      const std::string& name = annotations_.back().name;
      if (std::ranges::count(annotations_, name, &Annotation::name) > 1)
        throw UsageError("two annotations are named '" + name + "'",
                         "name the files: --annotation NAME=PATH");
      if (const std::string text = outside_text(annotations_.back(), basis_.segmentation); !text.empty())
        doubts_.push_back(name + ": " + text);
    }
    if (const auto warning = elsewhere.warning()) doubts_.push_back(warning->message);
    if (!options_.posterior.empty()) boundary_ = read_bin_values(options_.posterior, basis_);
    if (!options_.truth.empty()) compare();
    loci_ = named_loci(options_, basis_);
    const auto first_wide = std::stable_partition(
        loci_.begin(), loci_.end(), [](const Locus& locus) { return locus.group <= kMostBinsOfColumn; });
    const std::vector<Locus> wide(first_wide, loci_.end());
    loci_inputs_.in_regions = !wide.empty();
    loci_inputs_.are_named = !loci_.empty() && wide.empty();
    if (!loci_inputs_.are_named) {
      loci_.erase(loci_.end() - std::ssize(wide), loci_.end());
      const std::vector<Locus> chosen = choose_loci(basis_, boundary_, loci_inputs_.truth, wide);
      loci_.insert(loci_.end(), chosen.begin(), chosen.end());
    }
    for (Locus& locus : loci_)
      if (!boundary_.empty())
        locus.boundary = columns_of(locus, within(locus, boundary_[locus.part]), ColumnRule::kLargest);
    BinValues called;
    if (!options_.labels_posterior.empty())
      called = read_called_labels(options_.labels_posterior, basis_, loci_);
    certainty_ = measure_certainty(basis_, boundary_, called);
    if (basis_.inputs) signal_ = measure_signal(basis_, loci_, options_.threads);
    facts_ = provenance_facts(options_, basis_);
    loci_inputs_.annotations = annotations_;
  }

  std::vector<Section> sections() const {
    constexpr std::size_t kShownLoci = 2;
    std::vector<Section> sections{labels_section(basis_),
                                  signal_section(basis_, signal_),
                                  loci_section(basis_, loci_, loci_inputs_),
                                  enrichment_section(basis_, annotations_),
                                  certainty_section(basis_, certainty_, evaluation_),
                                  evaluation_section(evaluation_),
                                  model_section(basis_),
                                  provenance_section(facts_)};
    for (Section& section : sections) {
      section.is_folded = section.id == "model" || section.id == "provenance";
      if (section.id == "labels") section.shown_figures = 1;
      if (section.id == "certainty" || section.id == "evaluation") section.shown_figures = 0;
      if (section.id == "loci" && !loci_inputs_.are_named) section.shown_figures = kShownLoci;
    }
    return sections;
  }

  PageHead head() const {
    PageHead head;
    head.title = options_.title;
    head.subtitle =
        file_title(options_.segments) + ", with the model " + file_title(options_.input.parameters);
    std::int64_t segments = 0;
    for (const DecodedLabelStats& label : basis_.labels) segments += label.segments;
    const std::int64_t bases = basis_.segmentation.bases();
    head.facts = {{"Segments", count_text(segments)},
                  {"Labels", fmt::format("{}", basis_.num_labels())},
                  {"Segmented", bases_text(bases)},
                  {units().one == "base" ? "Chromosomes" : "Sequences",
                   fmt::format("{}", basis_.segmentation.chromosomes.size())},
                  {"Bin", bases_text(basis_.bin_size())},
                  {"Mean length", bases_text(ratio(bases, segments))}};
    ProbabilityClasses starts;
    for (const ProbabilityClasses& label : certainty_.starts) {
      starts.total += label.total;
      starts.sum += label.sum;
    }
    if (starts.total > 0) head.facts.emplace_back("Mean P of a boundary", short_number(*starts.mean()));
    if (evaluation_ && evaluation_->evaluation)
      if (const auto right = evaluation_->evaluation->over_labels().bases.precision())
        head.facts.emplace_back("Agrees with the truth, where both have a label", share_text(*right));
    head.notices = facts_.doubts;
    head.notices.insert(head.notices.end(), doubts_.begin(), doubts_.end());
    for (const DecodedLabelStats& label : basis_.labels)
      if (label.at_cap && *label.at_cap > kManyAtCap)
        head.notices.push_back(
            share_text(*label.at_cap) + " of the segments of " + label.name +
            " have exactly K bins, the longest that the model knows: a larger K or a tail would "
            "let them be longer.");
    return head;
  }

 private:
  void compare() {
    EvalOptions eval;
    eval.truth = options_.truth;
    eval.predicted = options_.segments;
    eval.truth_times = options_.truth_times;
    eval.input.parameters = options_.input.parameters;
    eval.input.bin_size = options_.input.bin_size;
    eval.input.regions = options_.regions;
    eval.input.regions_file = options_.regions_file;
    eval.calibration.posterior = options_.posterior;
    eval.calibration.labels = options_.labels_posterior;
    eval.tolerance = options_.tolerance;
    eval.version = options_.version;
    eval.names_options = false;
    evaluation_ = evaluate(eval, nullptr);
    LabelNumbers numbers;
    for (const Label& label : basis_.model().labels) numbers.number(label.name);
    LabelTimes times = options_.truth_times;
    times.bin_size = basis_.bin_size();
    const Segmentation truth = read_segmentation(options_.truth, {}, numbers, times);
    loci_inputs_.truth_labels = numbers.names();
    for (const Part& part : basis_.parts)
      loci_inputs_.truth.push_back(
          bin_segments(truth.on(part.chromosome), {part.origin, basis_.bin_size(), part.origin + part.length})
              .segments);
  }

  const ReportOptions& options_;
  ReportBasis basis_;
  std::vector<Annotation> annotations_;
  std::vector<std::string> doubts_;  // doubts about the annotations
  BinValues boundary_;
  std::optional<EvalReport> evaluation_;
  std::vector<Locus> loci_;
  LociInputs loci_inputs_;
  Certainty certainty_;
  std::optional<Signal> signal_;
  ProvenanceFacts facts_;
};

}  // namespace

void run_report(const ReportOptions& options) {
  check_outputs(std::vector<OutputSpec>{{options.output, IndexKind::kNone}}, input_paths(options));
  check_figure_folder(options.figures);
  Report report(options);
  report.gather();
  const std::vector<Section> sections = report.sections();
  std::vector<OutputSpec> specs{{options.output, IndexKind::kNone}};
  std::vector<std::pair<std::string, std::string>> figures;
  std::optional<NewFolder> folder;
  if (!options.figures.empty()) {
    folder.emplace(options.figures);
    figures = figure_files(sections);
    for (const auto& [name, text] : figures)
      specs.push_back({(std::filesystem::path(options.figures) / name).string(), IndexKind::kNone});
    check_outputs(specs, input_paths(options));
  }
  std::deque<OutputFile> files;  // one is open at a time
  for (std::size_t i = 0; i < specs.size(); ++i) {
    files.emplace_back(specs[i]).write(i == 0 ? page_text(report.head(), sections) : figures[i - 1].second);
    files.back().finish();
  }
  for (OutputFile& file : files) file.commit();
}

}  // namespace semicrf
