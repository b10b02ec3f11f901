#include "segmentation/joint_posteriors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/files/output_names.h"
#include "io/json/json_document.h"
#include "io/text/bedgraph.h"
#include "segmentation/posterior_records.h"

namespace semicrf {
namespace {

constexpr double kRounding = 1e-3;  // what sums of posteriors may miss beside the digits of the files

std::vector<std::string> chromosomes_of(const std::string& path) {
  BedGraphReader reader(path);
  BedGraphRecord record;
  std::vector<std::string> names;
  while (reader.next(record))
    if (names.empty() || names.back() != record.chromosome) names.push_back(record.chromosome);
  return names;
}

// Names of labels or chromosomes.
struct NamesOfRun {
  std::string prefix;
  std::set<std::string> names;
};

// The names that not all runs have, with the prefixes of those without them.
std::vector<std::string> partial_names(const std::vector<std::string>& names,
                                       const std::vector<NamesOfRun>& runs) {
  std::vector<std::string> partial;
  for (const std::string& name : names) {
    std::vector<std::string> without;
    for (const NamesOfRun& run : runs)
      if (!run.names.contains(name)) without.push_back(run.prefix);
    if (!without.empty()) partial.push_back(name + " (not in " + few_of(without, 5) + ")");
  }
  return partial;
}

std::string few_names(const std::set<std::string>& names) {
  return few_of(std::vector<std::string>(names.begin(), names.end()), 3);
}

constexpr const char* kOneOrder = "give files of runs over the same chromosomes, in one order";

}  // namespace

// The posterior of one label in one run.
class JointPosteriors::File {
 public:
  File(const std::string& path, std::size_t run, std::size_t label, const PosteriorRecords::Places& places)
      : run_(run),
        label_(label),
        records_(path, places,
                 {[](const std::string&, std::size_t) {
                    return "chromosomes are in another order than in the other files";
                  },
                  kOneOrder}) {
    if (records_.reader().options().contains("min-posterior"))
      throw InputError({path, "", "was written with --min-posterior, so that small probabilities are missing",
                        "write the posteriors without it"});
  }

  std::size_t run() const { return run_; }
  std::size_t label() const { return label_; }
  std::optional<std::int64_t> bin_size() const { return records_.reader().bin_size(); }
  std::span<const Chromosome> lengths() const { return records_.reader().chromosomes(); }
  int decimals() const { return records_.record().decimals; }
  PosteriorRecords& records() { return records_; }

 private:
  std::size_t run_, label_;
  PosteriorRecords records_;
};

JointPosteriors::JointPosteriors(const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    Run& run = runs_.emplace_back(Run{prefix, label_track_files(prefix), {}, 0});
    if (run.files.empty())
      throw InputError({prefix, "", "there is no file " + prefix + ".LABEL.bedgraph, .bedgraph.gz or .bw",
                        "give the NAME that posterior --labels-out was given"});
  }
  join_labels();
  join_chromosomes();
  open_files();
}

JointPosteriors::~JointPosteriors() = default;

void JointPosteriors::join_labels() {
  std::vector<NamesOfRun> of_run;
  std::set<std::string> all;
  for (const Run& run : runs_) {
    std::set<std::string>& names = of_run.emplace_back(NamesOfRun{run.prefix, {}}).names;
    for (const auto& [label, path] : run.files) names.insert(label);
    all.insert(names.begin(), names.end());
    const auto is_in_first = [&](const std::string& name) { return of_run.front().names.contains(name); };
    if (std::ranges::none_of(names, is_in_first))
      throw InputError({run.prefix, "",
                        "has no label in common with " + runs_.front().prefix + ": it has " +
                            few_names(names) + ", the other " + few_names(of_run.front().names),
                        "compare posteriors of models with the same labels"});
  }
  labels_.assign(all.begin(), all.end());
  std::ranges::sort(labels_, natural_less);
  partial_labels_ = partial_names(labels_, of_run);
}

void JointPosteriors::join_chromosomes() {
  std::vector<NamesOfRun> of_run;
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (Run& run : runs_) {
    run.chromosomes = chromosomes_of(run.files.begin()->second);
    of_run.push_back({run.prefix, {run.chromosomes.begin(), run.chromosomes.end()}});
    for (const std::string& name : run.chromosomes)
      if (seen.insert(name).second) all.push_back(name);
  }
  partial_chromosomes_ = partial_names(all, of_run);
  for (const std::string& name : all)
    if (std::ranges::all_of(of_run, [&](const NamesOfRun& run) { return run.names.contains(name); }))
      chromosomes_.push_back(name);
  if (chromosomes_.empty())
    throw InputError({runs_.back().prefix, "",
                      "has no chromosome in common with all the others: it has " +
                          few_names(of_run.back().names) + ", and " + runs_.front().prefix + " " +
                          few_names(of_run.front().names),
                      "compare runs over one genome; chromosome names must match exactly"});
  for (std::size_t i = 0; i < chromosomes_.size(); ++i) places_.emplace(chromosomes_[i], i);
  for (const Run& run : runs_) {
    std::size_t next = 0;
    for (const std::string& name : run.chromosomes) {
      if (!places_.contains(name)) continue;
      if (name != chromosomes_[next])
        throw InputError({run.files.begin()->second, "",
                          "has the chromosome " + in_quotes(name) + " where " +
                              runs_.front().files.begin()->second + " has " + in_quotes(chromosomes_[next]),
                          kOneOrder});
      ++next;
    }
  }
}

void JointPosteriors::open_files() {
  std::optional<std::int64_t> bin_size;
  std::string bins_of;
  std::unordered_map<std::string, std::pair<std::int64_t, std::string>> lengths;  // and the file with them
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    runs_[r].tolerance = kRounding;
    for (const auto& [label, path] : runs_[r].files) {
      const auto place = std::ranges::find(labels_, label) - labels_.begin();
      const File& file = *files_.emplace_back(std::make_unique<File>(path, r, place, places_));
      runs_[r].tolerance += 0.5 * std::pow(10.0, -file.decimals());
      if (file.bin_size() && bin_size && file.bin_size() != bin_size)
        throw InputError(
            {path, "",
             fmt::format("has bins of {} bases, and {} of {}", *file.bin_size(), bins_of, *bin_size),
             "compare runs with bins of one size"});
      if (file.bin_size() && !bin_size) {
        bin_size = file.bin_size();
        bins_of = path;
      }
      for (const Chromosome& one : file.lengths()) {
        const auto& [length, owner] = lengths.try_emplace(one.name, one.length, path).first->second;
        if (length != one.length)
          throw InputError(
              {path, "",
               fmt::format("{} has {} bases, in {} {}", in_quotes(one.name), one.length, owner, length),
               "compare runs over one genome"});
      }
      if (r == 0 && lengths_.empty()) lengths_.assign(file.lengths().begin(), file.lengths().end());
    }
  }
}

void JointPosteriors::visit(const Visitor& visit) {
  for (std::size_t place = 0; place < chromosomes_.size(); ++place) visit_chromosome(place, visit);
  for (const std::unique_ptr<File>& file : files_) file->records().finish();
}

void JointPosteriors::visit_chromosome(std::size_t place, const Visitor& visit) {
  constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();
  std::vector<double> values(runs_.size() * labels_.size());
  std::vector<char> known(runs_.size());
  for (std::int64_t begin = 0;;) {
    std::ranges::fill(values, 0.0);
    std::ranges::fill(known, 0);
    std::int64_t end = kNowhere;
    for (const std::unique_ptr<File>& file : files_) {
      file->records().advance(place, begin);
      const BedGraphRecord* const record = file->records().on(place);
      if (record == nullptr) continue;
      const bool is_inside = record->begin <= begin;
      end = std::min(end, is_inside ? record->end : record->begin);
      if (!is_inside) continue;
      values[file->run() * labels_.size() + file->label()] = record->value;
      known[file->run()] = 1;
    }
    if (end == kNowhere) return;
    const auto known_runs = std::ranges::count(known, 1);
    if (known_runs == std::ssize(known)) {
      check_sums(place, begin, end, values);
      visit(chromosomes_[place], begin, end, values);
    } else if (known_runs > 0) {
      incomplete_ += end - begin;
    }
    begin = end;
  }
}

void JointPosteriors::check_sums(std::size_t place, std::int64_t begin, std::int64_t end,
                                 std::span<const double> values) const {
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    double sum = 0;
    for (const double value : values.subspan(r * labels_.size(), labels_.size())) sum += value;
    if (std::abs(sum - 1) > runs_[r].tolerance)
      throw InputError({runs_[r].prefix, place_of_bases(chromosomes_[place], begin, end),
                        "the label posteriors add up to " + formatted("%.3g", sum) + " in place of 1",
                        "give the files of all labels of one run, and no others of that prefix"});
  }
}

}  // namespace semicrf
