#include "train/data/label_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/counts.h"
#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/params/params_json.h"

namespace semicrf {

namespace {

using Color = std::array<std::uint8_t, 3>;

std::string line_name(std::int64_t line) { return fmt::format("line {}", line); }

class LabelReader {
 public:
  LabelReader(const std::vector<std::string>& paths, const std::vector<Label>& known)
      : fixed_(!known.empty()), paths_(paths) {
    file_.labels = known;
    for (int c = 0; c < count_of(known); ++c) index_.emplace(known[c].name, c);
  }

  LabelFile read(const LabelTimes& times) {
    for (std::string& path : paths_) {
      LabelTimes own = times;
      own.sequence = take_sequence_name(path);
      SegmentReader reader(path, own);
      for (BedRecord record; reader.next(record);) {
        source_ = reader.file();
        add(record);
      }
      file_.files.insert(file_.files.end(), reader.files().begin(), reader.files().end());
      file_.vanished += reader.vanished();
    }
    file_.path = few_of(paths_, 3);
    for (const Undecided& line : undecided_) decide(line);
    if (file_.order.empty())
      throw InputError({file_.path, "", "there is no labelled segment in this file",
                        "give a BED file with a label in column 4"});
    if (!fixed_) sort_labels();
    for (auto& [chromosome, records] : file_.chromosomes) sort_and_check(chromosome, records);
    return std::move(file_);
  }

 private:
  [[noreturn]] void refuse(std::int64_t line, const std::string& what, const std::string& advice) const {
    throw InputError({source_, line_name(line), what, advice});
  }

  // A line whose name may be one label or several: that is known when all lines are read.
  struct Undecided {
    std::string chromosome, name;
    std::size_t index = 0;  // place of its record
    std::int64_t line = 0;
    std::optional<Color> color;
  };

  // The label of that name, which may be new; lines of the file have it with this colour.
  int label_named(const std::string& name, std::int64_t line, const std::optional<Color>& color) {
    if (const auto known = index_.find(name); known != index_.end()) {
      std::optional<Color>& seen = file_.labels[known->second].color;
      if (!fixed_ && seen != color) seen.reset();
      return known->second;
    }
    if (fixed_) {
      std::string names;
      for (const Label& label : file_.labels) names += (names.empty() ? "" : ", ") + in_quotes(label.name);
      refuse(line, "the label " + in_quotes(name) + " is not one of the parameters' labels (" + names + ")",
             "add it to the --init parameters or remove it from the labels");
    }
    if (const std::string problem = name_problem(name); !problem.empty())
      refuse(line, problem, "change the label in column 4");
    check_label_count(file_.labels.size() + 1, source_, line_name(line));
    const int label = count_of(file_.labels);
    index_.emplace(name, label);
    file_.labels.push_back({name, color});
    return label;
  }

  void add(const BedRecord& record) {
    if (record.name.empty())
      refuse(record.line, "there is no label in column 4",
             "add a fourth column with the name of the label, the same on every line of a list of peaks");
    auto [place, is_new] = file_.chromosomes.try_emplace(record.chromosome);
    if (is_new) file_.order.push_back(record.chromosome);
    std::string& file = file_.sources[record.chromosome];
    if (is_new) file = source_;
    if (file != source_)
      refuse(record.line, in_quotes(record.chromosome) + " has labels in " + file + ", too",
             "put the labels of one sequence into one file");
    LabelRecord found{record.begin, record.end, kNoLabel, record.line};
    if (record.name.find('|') == std::string::npos || index_.contains(record.name)) {
      found.label = label_named(record.name, record.line, item_color(record));
    } else {
      undecided_.push_back(
          {record.chromosome, record.name, place->second.size(), record.line, item_color(record)});
    }
    place->second.push_back(found);
  }

  // One of the labels between the bars of a name: "A", or "A:0.7".
  struct Choice {
    std::string_view text;
    std::optional<int> label;  // nothing: no label of that name
    std::optional<double> weight;
  };

  Choice choice_of(std::string_view text) const {
    Choice choice{text, std::nullopt, std::nullopt};
    const auto find = [&](std::string_view name) {
      if (const auto known = index_.find(std::string(name)); known != index_.end())
        choice.label = known->second;
    };
    find(text);
    const std::size_t colon = text.rfind(':');
    if (choice.label || colon == std::string_view::npos) return choice;
    choice.weight = number_in<double>(text.substr(colon + 1));
    if (choice.weight) find(text.substr(0, colon));
    return choice;
  }

  // A name with bars is a list of labels where one of them is a label, else it is a label itself.
  void decide(const Undecided& line) {
    source_ = file_.sources.at(line.chromosome);
    int& label = file_.chromosomes.at(line.chromosome)[line.index].label;
    std::vector<Choice> choices;
    for (const std::string_view part : split_at('|', line.name)) choices.push_back(choice_of(part));
    if (std::ranges::none_of(choices, [](const Choice& choice) { return choice.label.has_value(); })) {
      label = label_named(line.name, line.line, line.color);
      return;
    }
    label = choice_number(file_.choices.size());
    file_.choices.push_back(checked(line, choices));
  }

  LabelChoice checked(const Undecided& line, std::vector<Choice>& choices) const {
    const std::string advice = "write the labels of the line as A|B, or with weights as A:0.7|B:0.3";
    double sum = 0;
    for (const Choice& choice : choices) {
      if (!choice.label)
        refuse(line.line,
               in_quotes(std::string(choice.text)) + " in " + in_quotes(line.name) +
                   (fixed_ ? " is not one of the parameters' labels" : " is not the label of any other line"),
               advice);
      if (choice.weight.has_value() != choices.front().weight.has_value())
        refuse(line.line, "some labels of " + in_quotes(line.name) + " have a weight and some have none",
               advice);
      if (choice.weight && !(*choice.weight > 0 && *choice.weight <= 1e9))
        refuse(line.line, "a weight in " + in_quotes(line.name) + " is not a number above 0", advice);
      sum += choice.weight.value_or(0);
    }
    std::ranges::sort(choices, {}, &Choice::label);
    LabelChoice found;
    for (const Choice& choice : choices) {
      if (!found.labels.empty() && found.labels.back() == *choice.label)
        refuse(line.line, "a label stands twice in " + in_quotes(line.name), advice);
      found.labels.push_back(*choice.label);
      if (choice.weight) found.log_weights.push_back(std::log(*choice.weight / sum));
    }
    return found;
  }

  // E1, E2, E10, whatever comes first in the file: models of different files have their labels in one order.
  void sort_labels() {
    const std::vector<std::size_t> ranks = natural_ranks(names_of(file_.labels));
    std::vector<Label> sorted(ranks.size());
    for (std::size_t c = 0; c < ranks.size(); ++c) sorted[ranks[c]] = std::move(file_.labels[c]);
    file_.labels = std::move(sorted);
    const auto rank = [&](int label) { return static_cast<int>(ranks[label]); };
    for (auto& [chromosome, records] : file_.chromosomes)
      for (LabelRecord& record : records)
        if (record.label >= 0) record.label = rank(record.label);
    for (LabelChoice& choice : file_.choices) sort_choice(choice, rank);
  }

  template <class Rank>
  static void sort_choice(LabelChoice& choice, Rank rank) {
    std::map<int, double> weights;
    for (std::size_t i = 0; i < choice.labels.size(); ++i)
      weights[rank(choice.labels[i])] = choice.log_weights.empty() ? 0 : choice.log_weights[i];
    for (std::size_t i = 0; const auto& [label, weight] : weights) {
      choice.labels[i] = label;
      if (!choice.log_weights.empty()) choice.log_weights[i] = weight;
      ++i;
    }
  }

  void sort_and_check(const std::string& chromosome, std::vector<LabelRecord>& records) {
    source_ = file_.sources.at(chromosome);
    std::ranges::stable_sort(records, {}, &LabelRecord::begin);
    for (std::size_t i = 1; i < records.size(); ++i) {
      const LabelRecord& left = records[i - 1];
      const LabelRecord& right = records[i];
      if (left.end <= right.begin) continue;
      refuse(std::max(left.line, right.line),
             fmt::format("the segment overlaps the segment of {} on {} ({}-{} and {}-{})",
                         line_name(std::min(left.line, right.line)), chromosome, left.begin, left.end,
                         right.begin, right.end),
             "a " + units().one + " can have one label only");
    }
  }

  bool fixed_;
  std::vector<std::string> paths_;  // with names of sequences until they are read
  LabelFile file_;
  std::string source_;  // the file of what is looked at
  std::unordered_map<std::string, int> index_;
  std::vector<Undecided> undecided_;
};

}  // namespace

LabelFile read_label_file(const std::vector<std::string>& paths, const std::vector<Label>& known,
                          const LabelTimes& times) {
  return LabelReader(paths, known).read(times);
}

std::vector<LabelFile> read_label_files(const std::vector<std::vector<std::string>>& paths,
                                        const std::vector<Label>& known, const LabelTimes& times) {
  std::vector<Label> labels = known;
  const bool settled = !known.empty() || paths.size() == 1;
  for (std::size_t i = 0; !settled && i < paths.size(); ++i)
    for (const Label& label : read_label_file(paths[i], {}, times).labels) {
      const auto found = std::ranges::find(labels, label.name, &Label::name);
      if (found == labels.end()) {
        labels.push_back(label);
      } else if (found->color != label.color) {
        found->color.reset();
      }
    }
  if (!settled)
    std::ranges::sort(labels, [](const Label& a, const Label& b) { return natural_less(a.name, b.name); });
  std::vector<LabelFile> files;
  files.reserve(paths.size());
  for (const std::vector<std::string>& of_sample : paths)
    files.push_back(read_label_file(of_sample, labels, times));
  return files;
}

void set_background(const std::string& name, const std::vector<Label>& known, LabelFile& labels) {
  if (const std::string problem = name_problem(name); !problem.empty())
    throw UsageError("--background: " + problem, "give the name of a label");
  const auto found = std::ranges::find(labels.labels, name, &Label::name);
  labels.background = static_cast<int>(found - labels.labels.begin());
  if (found != labels.labels.end()) return;
  if (!known.empty())
    throw UsageError("--background: " + in_quotes(name) + " is not one of the labels of --init",
                     "give one of its labels: semicrf info lists them");
  labels.labels.push_back({name, kBackgroundColor});
}

std::optional<Warning> numbers_as_labels(const LabelFile& labels) {
  constexpr std::size_t kMany = 100;  // more than models of numbered states have
  const auto is_number = [](const Label& label) { return number_in<double>(label.name).has_value(); };
  const auto has_decimals = [](const Label& label) { return label.name.find('.') != std::string::npos; };
  if (labels.path.empty() || !std::ranges::all_of(labels.labels, is_number)) return std::nullopt;
  if (labels.labels.size() <= kMany && std::ranges::none_of(labels.labels, has_decimals)) return std::nullopt;
  return Warning{
      "labels-are-numbers",
      fmt::format("all {} labels of {} are numbers, such as {}: is it a bedGraph? Column 4 must hold labels",
                  labels.labels.size(), labels.path, few_of(names_of(labels.labels), 3))};
}

LabelEdges& LabelEdges::operator+=(const LabelEdges& other) {
  all += other.all;
  within += other.within;
  return *this;
}

LabelEdges edges_within_bins(const LabelFile& labels, std::int64_t bin_size) {
  LabelEdges edges;
  for (const auto& [chromosome, records] : labels.chromosomes) {
    std::int64_t last = -1;
    for (const LabelRecord& record : records)
      for (const std::int64_t edge : {record.begin, record.end}) {
        if (edge != last && edge != records.back().end) {
          ++edges.all;
          edges.within += edge % bin_size == 0 ? 0 : 1;
        }
        last = edge;
      }
  }
  return edges;
}

void require_two_labels(const LabelFile& labels) {
  if (labels.labels.size() > 1) return;
  const std::string only = in_quotes(labels.labels.front().name);
  const std::string what =
      "every line has the label " + only + ": a model of one label can only predict it everywhere";
  throw InputError({labels.path, "", what,
                    labels.background ? "give --background another name than " + only
                                      : "add --background NAME, which labels the rest of the regions NAME"});
}

}  // namespace semicrf
