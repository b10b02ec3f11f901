#include "eval/calibrate.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "core/text/names.h"
#include "core/text/text.h"
#include "inputs/arguments/input_argument.h"
#include "io/arrays/npy_reader.h"
#include "io/files/output_names.h"
#include "io/segments/segment_columns.h"
#include "io/text/bedgraph.h"
#include "io/text/chromosomes.h"
#include "io/text/provenance_header.h"
#include "runs/prepared_run.h"

namespace semicrf {
namespace {

constexpr int kDefaultDecimals = 6;           // decimals of probabilities that were written without a point
constexpr std::int64_t kRowSlab = 1 << 14;    // rows of an array read at a time
constexpr double kFloatResolution = 0x1p-25;  // half of the step of float32 below 1
constexpr double kDoubleResolution = 0x1p-54;

double printed_resolution(int decimals) {
  return 0.5 * std::pow(10.0, -(decimals > 0 ? decimals : kDefaultDecimals));
}

// The level of intervals in a header; nothing where it is not between 0 and 1.
std::optional<double> level_in(const std::string& text) {
  const auto level = number_in<double>(text);
  return level && *level > 0 && *level < 1 ? level : std::nullopt;
}

// A run of bins of one printed probability, in bases.
struct ProbabilityRun {
  BinRun bins;
  double p = 0;
  double resolution = 0;
};

class Calibration {
 public:
  Calibration(const CalibrationOptions& options, const CalibrationTruth& truth, LabelNumbers& labels,
              std::vector<Warning>& warnings)
      : options_(options), truth_(truth), labels_(labels), warnings_(warnings) {
    if (truth.bin_size) {
      bin_size_ = *truth.bin_size;
      bin_size_from_ = "the parameters or --bin-size";
    }
    for (const auto& [chromosome, stretches] : truth_.stretches)
      for (const Stretch& stretch : stretches) truth_bases_ += stretch.end - stretch.begin;
  }

  CalibrationReport run() {
    if (!options_.posterior.empty()) report_.boundaries = boundaries();
    if (!options_.intervals.empty()) report_.intervals = intervals();
    if (!options_.labels.empty()) report_.labels = all_labels();
    report_.bin_size = bin_size_;
    return std::move(report_);
  }

 private:
  // The bin size that a file's header says, or absent, must be that of the others.
  void settle_bin_size(const std::string& path, std::optional<std::int64_t> said) {
    if (said && bin_size_ == 0) {
      bin_size_ = *said;
      bin_size_from_ = path;
    }
    if (bin_size_ == 0)
      throw UsageError(path + " does not say how many bases a bin has (a header line \"#option bin-size=N\")",
                       "give --bin-size N");
    if (said && *said != bin_size_)
      throw InputError({path, "",
                        "its header says bins of " + amount(*said) + ", but " + bin_size_from_ + " says " +
                            amount(bin_size_),
                        "give files of one run, or the right parameters"});
  }

  [[noreturn]] void refuse_nothing(const std::string& path, const std::vector<std::string>& found) const {
    std::vector<std::string> wanted;
    for (const auto& [chromosome, stretches] : truth_.stretches) wanted.push_back(chromosome);
    throw InputError({path, "",
                      "no chromosome in common with the evaluated truth: it has " +
                          (found.empty() ? "no line" : few_names(found)) + ", the truth has " +
                          few_names(wanted),
                      "chromosome names must match exactly, including any \"chr\" prefix"});
  }

  void warn_of_missing(const std::string& file, std::int64_t missing) {
    if (missing > 0)
      warnings_.push_back({"no-posterior", file + " has no value on " + amount(missing) + " of the " +
                                               amount(truth_bases_) +
                                               " that the truth labels; they are not counted"});
  }

  static void check_options(const std::string& path, const BedGraphReader& reader) {
    if (reader.options().contains("min-posterior"))
      throw InputError({path, "", "was written with --min-posterior, so that small probabilities are missing",
                        "write it again without this option"});
  }

  // Bins that a line has; only the last line of a run may have part of one.
  void check_grid(const std::string& path, const BedGraphRecord& record, const BedGraphRecord& before,
                  std::int64_t run_begin) const {
    const std::int64_t edge = record.begin == run_begin ? 0 : before.end - run_begin;
    if (edge % bin_size_ == 0) return;
    throw InputError({path, place_of(before),
                      fmt::format("ends at {}, inside a bin of {}", before.end, amount(bin_size_)),
                      "give a file with the bin size of the parameters"});
  }

  static void check_probability(const std::string& path, const std::string& where, double p) {
    if (p >= 0 && p <= 1) return;
    throw InputError(
        {path, where,
         "the value " + formatted("%.6g", p) + " is not a probability: it must be between 0 and 1",
         "give posteriors that semicrf posterior or decode --posterior wrote"});
  }

  // Calls add(truth, run) for every line on an evaluated chromosome, returns the truth's bases without a
  // value.
  std::int64_t read_track(const std::string& path,
                          const std::function<void(BinTruth&, const ProbabilityRun&)>& add) {
    BedGraphReader reader(path);
    BedGraphRecord record, before;
    std::vector<std::string> found;
    std::optional<BinTruth> truth;
    std::span<const Stretch> stretches;
    std::int64_t run_begin = 0, covered = 0;
    while (reader.next(record)) {
      if (record.chromosome != before.chromosome) {
        if (found.empty()) check_options(path, reader);
        if (found.empty()) settle_bin_size(path, reader.bin_size());
        found.push_back(record.chromosome);
        const auto of_chromosome = truth_.stretches.find(record.chromosome);
        truth.reset();
        stretches = {};
        if (of_chromosome != truth_.stretches.end()) stretches = of_chromosome->second;
        if (!stretches.empty()) truth.emplace(stretches);
      }
      const bool first = record.chromosome != before.chromosome || record.begin != before.end;
      if (first) run_begin = record.begin;
      check_grid(path, record, before, run_begin);
      check_probability(path, place_of(record), record.value);
      if (truth) {
        covered += covered_bases(stretches, record.begin, record.end);
        add(*truth, {{record.begin, record.end, bin_size_, first},
                     record.value,
                     printed_resolution(record.decimals)});
        evaluated_.insert(record.chromosome);
      }
      before = record;
    }
    if (std::ranges::none_of(found, [&](const std::string& name) { return truth_.stretches.contains(name); }))
      refuse_nothing(path, found);
    return truth_bases_ - covered;
  }

  // Bases of [begin, end) in stretches.
  static std::int64_t covered_bases(std::span<const Stretch> stretches, std::int64_t begin,
                                    std::int64_t end) {
    std::int64_t sum = 0;
    auto stretch = std::ranges::upper_bound(stretches, begin, {}, &Stretch::end);
    for (; stretch != stretches.end() && stretch->begin < end; ++stretch)
      sum += std::min(stretch->end, end) - std::max(stretch->begin, begin);
    return sum;
  }

  BoundaryCalibration boundaries() {
    BoundaryCalibration result;
    result.file = file_title(options_.posterior);
    result.reliability = Reliability(options_.bins);
    result.missing = read_track(options_.posterior, [&](BinTruth& truth, const ProbabilityRun& run) {
      const BinEvents events = truth.starts(run.bins);
      result.reliability.add(run.p, run.resolution, events.bins, events.events);
    });
    warn_of_missing(result.file, result.missing);
    return result;
  }

  IntervalCalibration intervals() {
    IntervalCalibration result;
    result.file = file_title(options_.intervals);
    const BoundaryTable table = read_boundary_table(options_.intervals);
    settle_bin_size(options_.intervals, bin_size_option(table.options));
    if (const auto level = table.options.find("intervals"); level != table.options.end())
      result.level = level_in(level->second);
    std::map<std::string, std::vector<PredictedBoundary>> predicted;
    for (const BoundaryRecord& record : table.boundaries) {
      PredictedBoundary boundary{record.position, labels_.number(record.to), {}};
      if (record.lower) boundary.interval = BinRange{*record.lower, *record.upper + bin_size_};
      predicted[record.chromosome].push_back(boundary);
    }
    bool any = false;
    for (const auto& [chromosome, boundaries] : predicted) {
      const auto stretches = truth_.stretches.find(chromosome);
      if (stretches == truth_.stretches.end()) continue;
      result.coverage.add(stretches->second, boundaries);
      any = true;
    }
    if (!any) {
      std::vector<std::string> found;
      found.reserve(predicted.size());
      for (const auto& [chromosome, boundaries] : predicted) found.push_back(chromosome);
      refuse_nothing(options_.intervals, found);
    }
    return result;
  }

  LabelsCalibration all_labels() {
    std::string path = options_.labels;
    const std::string name = has_ending(path, {".npy"}) ? take_sequence_name(path) : "";
    LabelsCalibration result = has_ending(path, {".npy"}) ? label_array(path, name) : label_tracks(path);
    warn_of_missing(result.file, result.missing);
    for (const auto& [label, bins] : unknown_)
      warnings_.push_back(
          {"label-without-posterior",
           fmt::format(
               "{} bins have the true label '{}', for which {} has no posterior; it counts as 0 there", bins,
               labels_.names()[label], result.file)});
    for (const auto& [label, bins] : unknown_) result.unknown += bins;
    return result;
  }

  // The labels of the files, with their numbers, in the order of these.
  std::map<int, std::string> label_files(const std::string& prefix) {
    std::map<std::string, std::string> files = label_track_files(prefix);
    std::error_code ignored;
    if (!options_.posterior.empty())
      std::erase_if(files, [&](const auto& file) {
        return std::filesystem::equivalent(file.second, options_.posterior, ignored);
      });
    std::map<int, std::string> numbered;
    const std::vector<std::string> known =
        truth_.model_labels.empty() ? labels_.names() : truth_.model_labels;
    for (const std::string& label : known) {
      const auto file = files.find(in_file_name(label));
      if (file == files.end() && !truth_.model_labels.empty())
        throw InputError({prefix + "." + in_file_name(label) + ".bedgraph", "",
                          "is not there: the label posterior of '" + label + "', a label of the parameters",
                          "write it with posterior --labels-out " + prefix});
      if (file == files.end()) continue;
      numbered.emplace(labels_.number(label), file->second);
      files.erase(file);
    }
    if (truth_.model_labels.empty()) {
      std::vector<std::pair<std::string, std::string>> others(files.begin(), files.end());
      std::ranges::sort(others, natural_less, &std::pair<std::string, std::string>::first);
      for (const auto& [label, file] : others) numbered.emplace(labels_.number(label), file);
    }
    if (numbered.empty())
      throw InputError({prefix, "", "there is no file " + prefix + ".LABEL.bedgraph, .bedgraph.gz or .bw",
                        "give the NAME that posterior --labels-out was given"});
    return numbered;
  }

  LabelsCalibration label_tracks(const std::string& prefix) {
    LabelsCalibration result;
    result.file = file_title(prefix);
    std::string first;
    for (const auto& [number, path] : label_files(prefix)) {
      const int label = number;  // clang cannot capture what a binding names
      LabelCalibration& one = result.labels.emplace_back();
      one.name = labels_.names()[label];
      one.reliability = Reliability(options_.bins);
      std::map<int, std::int64_t> bins_of;
      result.missing = read_track(path, [&](BinTruth& truth, const ProbabilityRun& run) {
        BinEvents events;
        for (const Segment& segment : truth.labels(run.bins)) {
          const std::int64_t bins = segment.end - segment.begin;
          bins_of[segment.label] += bins;
          events.bins += bins;
          if (segment.label == label) events.events += bins;
        }
        one.reliability.add(run.p, run.resolution, events.bins, events.events);
      });
      if (first.empty()) {
        first = path;
        result.bins = one.reliability.count();
        unknown_ = bins_of;
      }
      if (one.reliability.count() != result.bins)
        throw InputError({path, "",
                          fmt::format("has values for {} evaluated bins, but {} for {}",
                                      one.reliability.count(), first, result.bins),
                          "give files of one run"});
      unknown_.erase(label);
    }
    return result;
  }

  // The chromosome of an array, and the base at which its first bin begins.
  std::pair<std::string, std::int64_t> place_of_array(const std::string& path,
                                                      const std::string& name) const {
    if (!name.empty()) {
      if (truth_.stretches.contains(name)) return {name, 0};
      if (const auto part = parse_chromosome_part(name)) return {part->chromosome, part->begin};
      return {name, 0};
    }
    if (evaluated_.size() == 1) return {*evaluated_.begin(), 0};
    if (truth_.stretches.size() == 1) return {truth_.stretches.begin()->first, 0};
    throw UsageError(path + " does not say which chromosome it is for, and the truth has several",
                     "give --labels-posterior CHROMOSOME=" + path + ", or choose one with -r");
  }

  void check_array(const std::string& path, const NpyArray& array) const {
    if (truth_.model_labels.empty())
      throw UsageError(path + " does not hold the names of its labels", "give the parameters with -p");
    if (array.columns() != std::ssize(truth_.model_labels))
      throw InputError({path, "",
                        fmt::format("has {} columns, but the parameters have {} labels", array.columns(),
                                    truth_.model_labels.size()),
                        "give the label posteriors of these parameters"});
  }

  LabelsCalibration label_array(const std::string& path, const std::string& name) {
    LabelsCalibration result;
    result.file = file_title(path);
    const NpyArray array = NpyArray::open(path);
    check_array(path, array);
    settle_bin_size(path, {});
    const auto [chromosome, origin] = place_of_array(path, name);
    const auto found = truth_.stretches.find(chromosome);
    if (found == truth_.stretches.end()) refuse_nothing(path, {chromosome});
    const std::vector<Stretch>& stretches = found->second;
    for (const std::string& label : truth_.model_labels)
      result.labels.push_back({label, Reliability(options_.bins)});
    const double resolution = array.header().type == NpyType::kFloat64 ? kDoubleResolution : kFloatResolution;
    // Where the truth ends inside of the last bin, that is the end of the chromosome.
    std::int64_t limit = origin + array.rows() * bin_size_;
    if (stretches.back().end > limit - bin_size_) limit = std::min(limit, stretches.back().end);
    BinTruth truth(stretches);
    std::vector<double> rows;
    const std::size_t columns = truth_.model_labels.size();
    std::int64_t covered = 0;
    for (std::int64_t row = 0; row < array.rows(); ++row) {
      if (row % kRowSlab == 0) {
        const std::int64_t end = std::min(array.rows(), row + kRowSlab);
        rows.resize((end - row) * columns);
        array.read_rows(row, end, rows.data());
      }
      const std::span<const double> p(rows.data() + (row % kRowSlab) * columns, columns);
      if (std::isnan(p[0])) continue;  // not computed
      const std::int64_t begin = origin + row * bin_size_;
      const BinRun bin{begin, std::max(begin + 1, std::min(begin + bin_size_, limit)), bin_size_, false};
      covered += covered_bases(stretches, bin.begin, bin.end);
      add_row(path, row, p, truth.labels(bin), resolution, result);
    }
    result.missing = truth_bases_ - covered;
    return result;
  }

  void add_row(const std::string& path, std::int64_t row, std::span<const double> p,
               std::span<const Segment> labels, double resolution, LabelsCalibration& result) {
    for (std::size_t c = 0; c < p.size(); ++c)
      check_probability(path, fmt::format("row {}, column {}", row, c), p[c]);
    if (labels.empty()) return;
    const int label = labels[0].label;
    ++result.bins;
    if (static_cast<std::size_t>(label) >= p.size()) ++unknown_[label];
    for (std::size_t c = 0; c < p.size(); ++c)
      result.labels[c].reliability.add(p[c], resolution, 1, static_cast<std::size_t>(label) == c ? 1 : 0);
  }

  const CalibrationOptions& options_;
  const CalibrationTruth& truth_;
  LabelNumbers& labels_;
  std::vector<Warning>& warnings_;
  std::int64_t bin_size_ = 0;  // bases, 0: not known yet
  std::string bin_size_from_;  // what said it
  std::int64_t truth_bases_ = 0;
  std::set<std::string> evaluated_;      // chromosomes that a track has
  std::map<int, std::int64_t> unknown_;  // bins by their true label, of labels without a posterior
  CalibrationReport report_;
};

}  // namespace

CalibrationReport calibrate(const CalibrationOptions& options, const CalibrationTruth& truth,
                            LabelNumbers& labels, std::vector<Warning>& warnings) {
  return Calibration(options, truth, labels, warnings).run();
}

}  // namespace semicrf
