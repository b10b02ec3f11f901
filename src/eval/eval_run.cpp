#include "eval/eval_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text/text.h"
#include "draw/reliability_picture.h"
#include "eval/compare_models.h"
#include "eval/eval_input.h"
#include "eval/eval_rescore.h"
#include "inputs/arguments/input_arguments.h"
#include "inputs/region_ranges.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/json/eval_json.h"
#include "io/params/params_json.h"
#include "io/text/region.h"
#include "io/text/sample_sheet.h"
#include "log/log.h"
#include "model/bins.h"

namespace semicrf {
namespace {

// The length of a chromosome of which only segments are known.
constexpr std::int64_t kUnknownLength = std::int64_t{1} << 60;

class Run {
 public:
  explicit Run(const EvalOptions& options) : options_(options) {
    if (options.truth == kStandardOutput && options.predicted == kStandardOutput)
      throw UsageError("both segmentations are read from standard input", "give a file for one of them");
    if (!options.input.parameters.empty()) {
      parameters_ = read_params_json(options.input.parameters);
      for (const Label& label : parameters_.parameters.labels) labels_.number(label.name);
    }
    if (!options.input.chrom_sizes_file.empty()) sizes_ = read_chrom_sizes(options.input.chrom_sizes_file);
    truth_ = read_segmentation(options.truth, sizes_, labels_, times_of(options.truth_times));
    if (has_prediction())
      predicted_ = read_segmentation(options.predicted, sizes_, labels_, times_of(options.predicted_times));
    if (!options.background.empty()) {
      const int background = labels_.number(options.background);
      fill(truth_, predicted_, background);
      if (!labels_of(predicted_).contains(background)) fill(predicted_, truth_, background);
    }
    report_.version = options.version;
    report_.truth = {file_title(options.truth), truth_.count};
    if (has_prediction()) report_.predicted = {file_title(options.predicted), predicted_.count};
    report_.merge_adjacent = options.merge_adjacent;
    read_regions_given();
    check_chromosomes();
    settle_tolerance();
    if (options.background.empty()) warn_of_one_label();
  }

  EvalReport run(Progress* progress) {
    report_.labels = labels_.names();
    if (has_prediction()) settle_labels();
    collect_stretches();
    if (has_prediction()) compare();
    if (has_prediction() && has_inputs(options_.input)) score_under_model(progress);
    if (options_.calibration.wanted()) check_posteriors();
    return std::move(report_);
  }

 private:
  bool has_prediction() const { return !options_.predicted.empty(); }

  void score_under_model(Progress* progress) {
    std::vector<std::string> chromosomes;
    for (const EvalReport::Chromosome& chromosome : report_.chromosomes)
      if (chromosome.missing < chromosome.bases || asks_for_all()) chromosomes.push_back(chromosome.name);
    if (numbers_) take_model_numbers(*numbers_, truth_, predicted_);
    const RescoreRequest request{options_.input, options_.engine, options_.max_memory};
    report_.model = rescore(request, parameters_, labels_.names(), chromosomes, truth_, predicted_, progress);
    report_.model->params = file_title(options_.input.parameters);
    const std::vector<Warning>& warnings = report_.model->warnings;  // logged where they came up
    report_.warnings.insert(report_.warnings.end(), warnings.begin(), warnings.end());
  }

  // Posteriors that were written to files against the truth.
  void check_posteriors() {
    CalibrationTruth truth;
    truth.stretches = std::move(stretches_);
    if (numbers_) take_model_numbers(*numbers_, truth.stretches);
    const Parameters& parameters = parameters_.parameters;
    truth.bin_size = options_.input.bin_size;
    if (!options_.input.parameters.empty()) {
      if (parameters.bin_size_given) truth.bin_size = parameters.bin_size;
      for (const Label& label : parameters.labels) truth.model_labels.push_back(label.name);
    }
    std::vector<Warning> warnings;
    report_.calibration = calibrate(options_.calibration, truth, labels_, warnings);
    if (numbers_ && report_.calibration->labels) {
      const std::map<int, std::string> names = names_in_model(*numbers_);
      for (LabelCalibration& label : report_.calibration->labels->labels)
        if (const auto name = names.find(labels_.number(label.name)); name != names.end())
          label.name = name->second;
    }
    if (!report_.bin_size) report_.bin_size = report_.calibration->bin_size;
    for (const Warning& warning : warnings) warn(warning);
  }

  void warn(const Warning& warning) {
    log_warning(warning);
    report_.warnings.push_back(warning);
  }

  // What a list leaves open on its chromosomes, to the end of both files, becomes background.
  void fill(Segmentation& list, const Segmentation& other, int background) const {
    const ChromosomeIndex of_genome(sizes_);
    for (auto& [chromosome, segments] : list.segments) {
      std::int64_t end = segments.back().end;
      if (const std::vector<Segment>& others = other.on(chromosome); !others.empty())
        end = std::max(end, others.back().end);
      if (const Chromosome* const known = of_genome.find(chromosome)) end = known->length;
      segments = with_gaps_filled(segments, end, [&](std::int64_t begin, std::int64_t to, const Segment*) {
        return Segment{begin, to, background};
      });
    }
  }

  static std::set<int> labels_of(const Segmentation& file) {
    std::set<int> found;
    for (const auto& [chromosome, segments] : file.segments)
      for (const Segment& segment : segments) found.insert(segment.label);
    return found;
  }

  void warn_of_one_label() {
    if (labels_of(truth_).size() == 1)
      warn({"one-label-truth",
            report_.truth->file + " has one label, and where it has none nothing is evaluated, so that false "
                                  "predictions do not count; --background NAME gives the rest a label"});
  }

  std::string some_names(const std::set<int>& labels) const {
    std::vector<std::string> names;
    for (const int label : labels) names.push_back(labels_.names()[label]);
    return few_of(names, 5);
  }

  // Which labels of the prediction are which of the truth, where they are not called the same.
  void settle_labels() {
    const LabelsInUse used{labels_of(truth_), labels_of(predicted_)};
    const bool any_shared =
        std::ranges::any_of(used.truth, [&](int label) { return used.predicted.contains(label); });
    if (options_.match || !options_.label_map.empty()) {
      match_labels(used);
    } else if (!any_shared && !used.predicted.empty()) {
      warn({"no-common-label", report_.predicted->file + " and " + report_.truth->file +
                                   " have no label name in common (" + some_names(used.predicted) + " and " +
                                   some_names(used.truth) +
                                   "), so that no label is right; eval --match pairs the labels by their "
                                   "overlap, eval --label-map "
                                   "FILE says which are the same"});
    }
  }

  void match_labels(const LabelsInUse& used) {
    LabelOverlaps overlaps;
    for (const std::string& name : truth_.chromosomes)
      for (const Stretch& stretch : make_stretches(truth_.on(name), predicted_.on(name), wanted_on(name)))
        add_overlaps(stretch, overlaps);
    const std::vector<std::pair<int, int>> pairs =
        options_.match ? best_label_pairs(overlaps) : mapped_pairs(used);
    report_.match = {options_.match ? "" : file_title(options_.label_map),
                     matched_labels(labels_, used, pairs, overlaps)};
    const std::size_t of_model = parameters_.parameters.labels.size();
    numbers_ = match_numbers(labels_, used, pairs, static_cast<int>(of_model));
    report_.labels = numbers_->names;
  }

  std::vector<std::pair<int, int>> mapped_pairs(const LabelsInUse& used) {
    const LabelMap map = read_label_map(options_.label_map);
    if (has_inputs(options_.input) || options_.calibration.wanted()) require_one_to_one(map);
    const std::vector<std::pair<int, int>> pairs = numbered_pairs(map, labels_);
    if (const std::vector<std::string> unknown = unused_names(map, labels_, used); !unknown.empty())
      warn({"label-map", file_title(map.path) + " has labels that the files lack: " + few_of(unknown, 5)});
    return pairs;
  }

  // Regions may name any chromosome that one of the files has.
  void read_regions_given() {
    std::vector<Chromosome> known = sizes_;
    if (known.empty()) {
      for (const std::string& name : truth_.chromosomes) known.push_back({name, kUnknownLength});
      for (const std::string& name : predicted_.chromosomes)
        if (!truth_.segments.contains(name)) known.push_back({name, kUnknownLength});
    }
    regions_ = read_given_regions(options_.input, ChromosomeIndex(known));
    for (const Warning& warning : regions_.warnings) warn(warning);
  }

  void check_chromosomes() {
    if (truth_.count == 0) throw InputError({options_.truth, "", "has no segment", ""});
    std::vector<std::string> strangers;
    for (const std::string& name : predicted_.chromosomes)
      if (!truth_.segments.contains(name)) strangers.push_back(name);
    if (predicted_.count > 0 && strangers.size() == predicted_.chromosomes.size())
      throw InputError({options_.predicted, "",
                        "no chromosome in common with " + options_.truth + ": it has " +
                            few_names(strangers) + ", the truth has " + few_names(truth_.chromosomes),
                        "chromosome names must match exactly, including any \"chr\" prefix"});
    if (has_prediction() && predicted_.count == 0 && !asks_for_all())
      throw InputError({options_.predicted, "", "has no segment",
                        "use --all-chromosomes or --region to count the truth as missing"});
    if (!strangers.empty())
      warn({"not-in-truth", report_.predicted->file + " has segments on " + few_names(strangers) +
                                ", where the truth has none; they are not evaluated"});
  }

  LabelTimes times_of(LabelTimes times) const {
    const bool known = !options_.input.parameters.empty() && parameters_.parameters.bin_size_given;
    times.bin_size = options_.input.bin_size.value_or(known ? parameters_.parameters.bin_size : 1);
    return times;
  }

  bool asks_for_all() const { return regions_.include_given || options_.input.all_chromosomes; }

  // The bases that are asked for, cut to where the truth's last segment ends.
  std::vector<BinRange> wanted_on(const std::string& chromosome) const {
    return regions_.within(chromosome, truth_.on(chromosome).back().end);
  }

  // Boundaries of a decode lie at the edges of bins: the next edge is nearly right.
  void settle_tolerance() {
    if (!options_.input.parameters.empty()) {
      const Parameters& parameters = parameters_.parameters;
      report_.bin_size =
          parameters.bin_size_given ? std::optional(parameters.bin_size) : options_.input.bin_size;
    }
    if (!report_.bin_size) report_.bin_size = predicted_.bin_size;
    if (!report_.bin_size) report_.bin_size = truth_.bin_size;
    report_.tolerance_given = options_.tolerance.has_value();
    const std::int64_t least = units().one == Units().one ? kTolerance : 1;  // 30 frames are many
    tolerance_ = options_.tolerance.value_or(std::max(least, report_.bin_size.value_or(0)));
  }

  // The prediction as a file for -L, which takes BED alone.
  std::string region_file() const {
    return options_.predicted_times.rate > 0 ? std::string(kStandardOutput) : options_.predicted;
  }

  // What is evaluated.
  void collect_stretches() {
    for (const std::string& name : truth_.chromosomes) {
      const std::vector<BinRange> wanted = wanted_on(name);
      if (wanted.empty()) continue;
      std::vector<Segment> truth = truth_.on(name), predicted = predicted_.on(name);
      if (numbers_) {
        truth = relabelled(std::move(truth), numbers_->truth);
        predicted = relabelled(std::move(predicted), numbers_->predicted);
      }
      std::vector<Stretch> stretches =
          options_.merge_adjacent ? make_stretches(merge_touching(truth), merge_touching(predicted), wanted)
                                  : make_stretches(truth, predicted, wanted);
      if (stretches.empty()) continue;
      const std::int64_t missing_before = coverage_.missing();
      coverage_.add(name, stretches);
      std::int64_t bases = 0;
      for (const Stretch& stretch : stretches) bases += stretch.end - stretch.begin;
      report_.chromosomes.push_back({name, bases, coverage_.missing() - missing_before});
      report_.bases += bases;
      report_.stretches += std::ssize(stretches);
      stretches_.emplace(name, std::move(stretches));
    }
    if (report_.bases == 0)
      throw InputError({options_.truth, "", "has no segment in the evaluated regions", ""});
  }

  void compare() {
    Evaluator evaluator(report_.labels.size(), tolerance_);
    for (const EvalReport::Chromosome& chromosome : report_.chromosomes)
      for (const Stretch& stretch : stretches_.at(chromosome.name)) evaluator.add(stretch);
    report_.evaluation = evaluator.result();
    report_.missing_places = coverage_.missing_places();
    const std::string options = coverage_.options_to_leave_out(region_file());
    // Where both are lists of peaks, only what both have would be left, and all of it right.
    const bool are_lists = labels_of(truth_).size() == 1 && labels_of(predicted_).size() == 1;
    if (options_.names_options && !options.empty() && !are_lists)
      report_.hint = options + " evaluates only what is predicted";
    if (coverage_.missing() > 0)
      warn({"not-predicted", report_.predicted->file + " has no segment on " + amount(coverage_.missing()) +
                                 " of the " + amount(report_.bases) + " that the truth labels (" +
                                 report_.missing_places + "), which count as missing" +
                                 (report_.hint.empty() ? "" : "; " + report_.hint)});
  }

  const EvalOptions& options_;
  ParameterFile parameters_;
  std::vector<Chromosome> sizes_;
  LabelNumbers labels_;
  std::optional<MatchedNumbers> numbers_;  // where labels are matched
  Segmentation truth_, predicted_;
  GivenRegions regions_;
  std::int64_t tolerance_ = kTolerance;  // bases
  Coverage coverage_;
  std::map<std::string, std::vector<Stretch>> stretches_;  // evaluated ones of each chromosome
  EvalReport report_;
};

// Everything that is read, for the check that no output is one of them.
std::vector<std::string> input_paths(const EvalOptions& options) {
  const InputOptions& input = options.input;
  std::vector<std::string> paths = {options.truth,      options.predicted,  input.parameters,
                                    input.regions_file, input.exclude_file, input.chrom_sizes_file,
                                    input.samples_file, options.label_map};
  for (const std::string& path : {options.against, options.calibration.posterior, options.calibration.labels,
                                  options.calibration.intervals})
    paths.push_back(path);
  if (!options.calibration.labels.empty())
    for (const auto& [label, path] : label_track_files(options.calibration.labels)) paths.push_back(path);
  if (!input.samples_file.empty())
    for (const SampleRow& row : read_sample_sheet(input.samples_file)) paths.push_back(row.path);
  for (const auto* arguments : {&input.inputs, &input.start_scores, &input.end_scores})
    for (const std::string& argument : *arguments) paths.push_back(argument.substr(argument.find('=') + 1));
  std::erase_if(paths, [](const std::string& path) { return path.empty() || path == kStandardOutput; });
  return paths;
}

std::string calibration_picture(const CalibrationReport& report) {
  std::vector<ReliabilitySeries> series;
  if (report.boundaries) series.push_back({"starts of segments", &report.boundaries->reliability});
  std::optional<Reliability> labels;
  if (report.labels) labels = report.labels->pooled();
  if (labels) series.push_back({"labels of bins", &*labels});
  return reliability_picture("Reliability of the posteriors", series);
}

}  // namespace

EvalReport evaluate(const EvalOptions& options, Progress* progress) {
  EvalReport report;
  report.version = options.version;
  if (!options.truth.empty()) report = Run(options).run(progress);
  if (options.against.empty()) return report;
  report.against =
      compare_models({options.input, options.against, options.engine, options.max_memory}, progress);
  if (!report.bin_size) report.bin_size = report.against->bin_size;
  for (const Warning& warning : report.against->warnings)  // logged where they came up
    if (std::ranges::find(report.warnings, warning.message, &Warning::message) == report.warnings.end())
      report.warnings.push_back(warning);
  return report;
}

void run_eval(const EvalOptions& options, Progress* progress) {
  std::vector<OutputSpec> specs;
  for (const std::string& path : {options.output, options.json_path, options.calibration.picture})
    if (!path.empty()) specs.push_back({path, IndexKind::kNone});
  if (options.multiqc.wanted())
    for (const std::string& kind : kEvaluationDocuments)
      specs.push_back({multiqc_path(options.multiqc, kind), IndexKind::kNone});
  check_outputs(specs, input_paths(options));
  const EvalReport report = evaluate(options, progress);
  OutputGroup files;
  const auto write = [&](const std::string& path, const auto& text_of) {
    if (!path.empty()) files.write(path, text_of());
  };
  write(options.output, [&] { return report_text(report); });
  write(options.json_path, [&] { return eval_json_text(report); });
  write(options.calibration.picture, [&] { return calibration_picture(*report.calibration); });
  if (options.multiqc.wanted())
    for (const MultiqcDocument& document : multiqc_evaluation(options.multiqc.sample, report))
      write(multiqc_path(options.multiqc, document.kind), [&] { return document.text; });
  files.commit();
}

}  // namespace semicrf
