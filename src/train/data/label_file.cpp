#include "train/data/label_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/error.h"
#include "core/natural_order.h"
#include "core/units.h"
#include "io/json/json_document.h"
#include "io/label_name.h"
#include "io/params/params_json.h"

namespace semicrf {
namespace {

using Color = std::array<std::uint8_t, 3>;

std::string line_name(std::int64_t line) { return "line " + std::to_string(line); }

// "r,g,b" of a BED line's ninth column.
std::optional<Color> item_color(const BedRecord& record) {
  if (record.fields.size() < 9) return std::nullopt;
  std::string_view text = record.fields[8];
  Color color{};
  for (std::size_t part = 0; part < color.size(); ++part) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), color[part]);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (part + 1 == color.size()) break;
    if (text.empty() || text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional(color) : std::nullopt;
}

class LabelReader {
 public:
  LabelReader(const std::string& path, const std::vector<Label>& known) : fixed_(!known.empty()) {
    file_.path = path;
    file_.labels = known;
    for (std::size_t c = 0; c < known.size(); ++c) index_.emplace(known[c].name, static_cast<int>(c));
  }

  LabelFile read(const LabelTimes& times) {
    SegmentReader reader(file_.path, times);
    BedRecord record;
    while (reader.next(record)) {
      source_ = reader.file();
      add(record);
    }
    file_.files = reader.files();
    file_.vanished = reader.vanished();
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

  int label_of(const BedRecord& record) {
    if (record.name.empty())
      refuse(record.line, "there is no label in column 4",
             "add a fourth column with the name of the label, the same on every line of a list of peaks");
    if (const auto known = index_.find(record.name); known != index_.end()) return known->second;
    if (fixed_) {
      std::string names;
      for (const Label& label : file_.labels) names += (names.empty() ? "" : ", ") + in_quotes(label.name);
      refuse(record.line,
             "the label " + in_quotes(record.name) + " is not one of the parameters' labels (" + names + ")",
             "add it to the --init parameters or remove it from the labels");
    }
    if (const std::string problem = name_problem(record.name); !problem.empty())
      refuse(record.line, problem, "change the label in column 4");
    if (static_cast<std::int64_t>(file_.labels.size()) == kMaxLabels)
      refuse(record.line, "there are more than " + std::to_string(kMaxLabels) + " different labels",
             "column 4 must hold the label, not the name of a segment");
    const int label = static_cast<int>(file_.labels.size());
    index_.emplace(record.name, label);
    file_.labels.push_back({record.name, item_color(record)});
    return label;
  }

  void add(const BedRecord& record) {
    LabelRecord found{record.begin, record.end, label_of(record), record.line};
    if (!fixed_) {
      std::optional<Color>& color = file_.labels[static_cast<std::size_t>(found.label)].color;
      if (color != item_color(record)) color.reset();
    }
    auto [place, is_new] = file_.chromosomes.try_emplace(record.chromosome);
    if (is_new) file_.order.push_back(record.chromosome);
    place->second.push_back(found);
    if (is_new) file_.sources[record.chromosome] = source_;
  }

  // E1, E2, E10, whatever comes first in the file: models of different files have their labels in one order.
  void sort_labels() {
    std::vector<std::string> names;
    for (const Label& label : file_.labels) names.push_back(label.name);
    const std::vector<std::size_t> ranks = natural_ranks(names);
    std::vector<Label> sorted(ranks.size());
    for (std::size_t c = 0; c < ranks.size(); ++c) sorted[ranks[c]] = std::move(file_.labels[c]);
    file_.labels = std::move(sorted);
    for (auto& [chromosome, records] : file_.chromosomes)
      for (LabelRecord& record : records)
        record.label = static_cast<int>(ranks[static_cast<std::size_t>(record.label)]);
  }

  void sort_and_check(const std::string& chromosome, std::vector<LabelRecord>& records) {
    source_ = file_.sources.at(chromosome);
    std::stable_sort(records.begin(), records.end(),
                     [](const LabelRecord& a, const LabelRecord& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < records.size(); ++i) {
      const LabelRecord& left = records[i - 1];
      const LabelRecord& right = records[i];
      if (left.end <= right.begin) continue;
      refuse(std::max(left.line, right.line),
             "the segment overlaps the segment of " + line_name(std::min(left.line, right.line)) + " on " +
                 chromosome + " (" + std::to_string(left.begin) + "-" + std::to_string(left.end) + " and " +
                 std::to_string(right.begin) + "-" + std::to_string(right.end) + ")",
             "a " + units().one + " can have one label only");
    }
  }

  bool fixed_;
  LabelFile file_;
  std::string source_;  // the file of what is looked at
  std::unordered_map<std::string, int> index_;
};

}  // namespace

LabelFile read_label_file(const std::string& path, const std::vector<Label>& known, const LabelTimes& times) {
  return LabelReader(path, known).read(times);
}

void set_background(const std::string& name, const std::vector<Label>& known, LabelFile& labels) {
  if (const std::string problem = name_problem(name); !problem.empty())
    throw UsageError("--background: " + problem, "give the name of a label");
  const auto found = std::find_if(labels.labels.begin(), labels.labels.end(),
                                  [&](const Label& label) { return label.name == name; });
  labels.background = static_cast<int>(found - labels.labels.begin());
  if (found != labels.labels.end()) return;
  if (!known.empty())
    throw UsageError("--background: " + in_quotes(name) + " is not one of the labels of --init",
                     "give one of its labels: semicrf info lists them");
  labels.labels.push_back({name, std::nullopt});
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
