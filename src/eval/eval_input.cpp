#include "eval/eval_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/files/output_names.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

struct Line {
  Segment segment;
  std::int64_t number = 0;
};

std::string bases(const std::string& chromosome, const Segment& segment) {
  return fmt::format("{}:{}-{}", chromosome, segment.begin, segment.end);
}

void check_record(const std::string& path, const BedRecord& record,
                  const std::unordered_map<std::string, std::int64_t>& lengths) {
  if (record.fields.size() < 4)
    throw InputError(path, record.line, "has no label", "the label of a segment is the fourth column");
  if (const std::string problem = name_problem(record.name); !problem.empty())
    throw InputError(path, record.line, "the label (column 4): " + problem, "");
  if (lengths.empty()) return;
  const auto known = lengths.find(record.chromosome);
  if (known == lengths.end())
    throw InputError(path, record.line,
                     "chromosome '" + record.chromosome + "' is not in the chromosome sizes",
                     "chromosome names must match exactly, including any \"chr\" prefix");
  if (record.end > known->second)
    throw InputError(
        path, record.line,
        fmt::format("ends at {}, beyond the {} of {}", record.end, amount(known->second), record.chromosome),
        units().one == "base" ? "check the genome version" : "check the rate");
}

std::vector<Segment> sorted_segments(const std::string& path, const std::string& chromosome,
                                     std::vector<Line>& lines) {
  std::ranges::stable_sort(lines, {}, [](const Line& line) { return line.segment.begin; });
  std::vector<Segment> segments;
  segments.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 && lines[i].segment.begin < lines[i - 1].segment.end) {
      const bool later = lines[i].number > lines[i - 1].number;
      const Line& here = lines[later ? i : i - 1];
      const Line& other = lines[later ? i - 1 : i];
      throw InputError(path, here.number,
                       fmt::format("{} overlaps line {}, {} (0-based)", bases(chromosome, here.segment),
                                   other.number, bases(chromosome, other.segment)),
                       "segments of one file must not overlap");
    }
    segments.push_back(lines[i].segment);
  }
  return segments;
}

constexpr std::size_t kShown = 3;

std::size_t place(int label) { return label; }

// A number of its own for a label whose name stands for another one.
int stranger(LabelNumbers& labels, int label) {
  std::string name = labels.names()[place(label)];
  const std::size_t known = labels.names().size();
  while (true) {
    name += " (unmatched)";
    const int number = labels.number(name);
    if (place(number) >= known) return number;
  }
}

}  // namespace

std::string file_title(const std::string& path) {
  return path == kStandardOutput ? "standard input" : std::filesystem::path(path).filename().string();
}

int LabelNumbers::number(const std::string& name) {
  const auto [entry, added] = numbers_.emplace(name, static_cast<int>(names_.size()));
  if (added) names_.push_back(name);
  return entry->second;
}

const std::vector<Segment>& Segmentation::on(const std::string& chromosome) const {
  static const std::vector<Segment> kNone;
  const auto found = segments.find(chromosome);
  return found == segments.end() ? kNone : found->second;
}

Segmentation read_segmentation(const std::string& path, const std::vector<Chromosome>& known,
                               LabelNumbers& labels, const LabelTimes& times) {
  std::unordered_map<std::string, std::int64_t> lengths;
  for (const Chromosome& chromosome : known) lengths.emplace(chromosome.name, chromosome.length);
  Segmentation segmentation;
  segmentation.path = path;
  std::unordered_map<std::string, std::vector<Line>> lines;
  std::vector<std::string> sources;  // the files of the chromosomes
  SegmentReader reader(path, times);
  for (BedRecord record; reader.next(record); ++segmentation.count) {
    check_record(reader.file(), record, lengths);
    const auto [chromosome, added] = lines.try_emplace(record.chromosome);
    if (added) {
      segmentation.chromosomes.push_back(record.chromosome);
      sources.push_back(reader.file());
    }
    chromosome->second.push_back({{record.begin, record.end, labels.number(record.name)}, record.line});
    check_label_count(labels.names().size(), reader.file(), fmt::format("line {}", record.line));
  }
  segmentation.bin_size = reader.bin_size();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string& chromosome = segmentation.chromosomes[i];
    segmentation.segments[chromosome] = sorted_segments(sources[i], chromosome, lines[chromosome]);
  }
  return segmentation;
}

void Coverage::append(const std::string& chromosome, std::int64_t begin, std::int64_t end,
                      bool is_predicted) {
  if (begin >= end) return;
  if (!is_predicted) missing_ += end - begin;
  const bool first = runs_.empty() || runs_.back().chromosome != chromosome;
  if (!first && runs_.back().is_predicted == is_predicted) {
    runs_.back().end = end;
    return;
  }
  if (!first) runs_.back().is_alone = false;
  runs_.push_back({chromosome, begin, end, is_predicted, first});
}

void Coverage::add(const std::string& chromosome, std::span<const Stretch> stretches) {
  for (const Stretch& stretch : stretches) {
    std::int64_t at = stretch.begin;
    for (const Segment& segment : stretch.predicted) {
      append(chromosome, at, segment.begin, false);
      append(chromosome, segment.begin, segment.end, true);
      at = segment.end;
    }
    append(chromosome, at, stretch.end, false);
  }
}

std::vector<std::string> Coverage::places(bool are_predicted) const {
  std::vector<std::string> texts;
  for (const Run& run : runs_) {
    if (run.is_predicted != are_predicted) continue;
    texts.push_back(run.is_alone ? run.chromosome : place_of_bases(run.chromosome, run.begin, run.end));
  }
  return texts;
}

std::string Coverage::missing_places() const { return few_of(places(false), kShown); }

std::string Coverage::options_to_leave_out(const std::string& path) const {
  const std::vector<std::string> texts = places(true);
  if (missing_ == 0 || texts.empty()) return "";
  if (texts.size() <= kShown) return "-r " + joined(texts, " -r ");
  return path == kStandardOutput ? "" : "-L " + path;
}

LabelMap read_label_map(const std::string& path) {
  LabelMap map{path, {}};
  std::map<std::string, std::int64_t> seen;
  TextLines lines(path);
  for (std::string line; lines.next(line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> fields = split_at('\t', line);
    if (fields.size() != 2)
      throw InputError(path, lines.line_number(),
                       "found " + plural(fields.size(), "column") + ", not two separated by a tab",
                       "write a label of the prediction, a tab, and the label of the truth that it is");
    for (const std::string_view name : fields)
      if (const std::string problem = name_problem(name); !problem.empty())
        throw InputError(path, lines.line_number(), "a label: " + problem, "");
    const std::string predicted(fields[0]);
    if (const auto [first, added] = seen.emplace(predicted, lines.line_number()); !added)
      throw InputError(path, lines.line_number(),
                       fmt::format("'{}' is in line {} already", predicted, first->second),
                       "give every label of the prediction once");
    map.lines.emplace_back(predicted, std::string(fields[1]));
  }
  if (map.lines.empty())
    throw InputError({path, "", "there is no line in this map of labels",
                      "write lines of a label of the prediction, a tab, and a label of the truth"});
  return map;
}

void require_one_to_one(const LabelMap& map) {
  std::set<std::string> partners;
  for (const auto& [predicted, truth] : map.lines)
    if (!partners.insert(truth).second)
      throw InputError({map.path, "",
                        "several labels are '" + truth +
                            "', and neither a model nor posteriors can be asked for their union",
                        "leave out -p and posteriors, or give every label of the truth once"});
}

std::vector<std::pair<int, int>> numbered_pairs(const LabelMap& map, LabelNumbers& labels) {
  std::vector<std::pair<int, int>> pairs;
  for (const auto& [predicted, truth] : map.lines)
    pairs.emplace_back(labels.number(truth), labels.number(predicted));
  return pairs;
}

std::vector<std::string> unused_names(const LabelMap& map, LabelNumbers& labels, const LabelsInUse& used) {
  std::vector<std::string> names;
  for (const auto& [predicted, truth] : map.lines) {
    if (!used.predicted.contains(labels.number(predicted))) names.push_back(predicted);
    if (!used.truth.contains(labels.number(truth))) names.push_back(truth);
  }
  return names;
}

std::vector<Segment> relabelled(std::vector<Segment> segments, const std::vector<int>& numbers) {
  for (Segment& segment : segments) segment.label = numbers[place(segment.label)];
  return segments;
}

void take_model_numbers(const MatchedNumbers& numbers, Segmentation& truth, Segmentation& predicted) {
  for (auto& [chromosome, segments] : truth.segments)
    segments = relabelled(std::move(segments), numbers.truth_in_model);
  for (auto& [chromosome, segments] : predicted.segments)
    segments = relabelled(std::move(segments), numbers.predicted_in_model);
}

void take_model_numbers(const MatchedNumbers& numbers,
                        std::map<std::string, std::vector<Stretch>>& stretches) {
  std::vector<int> in_model(numbers.names.size());
  for (std::size_t label = 0; label < numbers.truth.size(); ++label)
    if (numbers.truth[label] >= 0) in_model[place(numbers.truth[label])] = numbers.truth_in_model[label];
  for (auto& [chromosome, all] : stretches)
    for (Stretch& stretch : all) stretch.truth = relabelled(std::move(stretch.truth), in_model);
}

std::map<int, std::string> names_in_model(const MatchedNumbers& numbers) {
  std::map<int, std::string> names;
  for (std::size_t label = 0; label < numbers.predicted.size(); ++label)
    names.emplace(numbers.predicted_in_model[label], numbers.names[place(numbers.predicted[label])]);
  return names;
}

MatchedNumbers match_numbers(LabelNumbers& labels, const LabelsInUse& used,
                             const std::vector<std::pair<int, int>>& pairs, int model_labels) {
  std::map<int, int> truth_of, predicted_of;  // partners
  bool one_to_one = true, are_models = true;
  for (const auto& [truth, predicted] : pairs) {
    truth_of.emplace(predicted, truth);
    one_to_one = predicted_of.emplace(truth, predicted).second && one_to_one;
    are_models = are_models && predicted < model_labels;
  }
  const bool by_prediction = one_to_one && (model_labels == 0 || are_models);
  const auto known = static_cast<int>(labels.names().size());
  MatchedNumbers numbers;
  for (int label = 0; label < known; ++label) {
    const bool is_replaced =
        truth_of.contains(label) && !used.truth.contains(label) && !predicted_of.contains(label);
    numbers.truth.push_back(is_replaced ? -1 : static_cast<int>(numbers.names.size()));
    if (!is_replaced) numbers.names.push_back(labels.names()[place(label)]);
  }
  for (int label = 0; label < known; ++label) {
    const auto partner = truth_of.find(label);
    const bool is_taken = used.truth.contains(label) || predicted_of.contains(label);
    numbers.truth_in_model.push_back(label);
    numbers.predicted_in_model.push_back(label);
    if (partner != truth_of.end()) {
      numbers.predicted.push_back(numbers.truth[place(partner->second)]);
      if (!by_prediction) numbers.predicted_in_model.back() = partner->second;
    } else if (used.predicted.contains(label) && is_taken) {
      const int other = stranger(labels, label);
      numbers.predicted.push_back(static_cast<int>(numbers.names.size()));
      numbers.names.push_back(labels.names()[place(other)]);
      if (!by_prediction) numbers.predicted_in_model.back() = other;
    } else {
      numbers.predicted.push_back(numbers.truth[place(label)]);
    }
    if (!by_prediction) continue;
    if (const auto own = predicted_of.find(label); own != predicted_of.end()) {
      numbers.truth_in_model.back() = own->second;
    } else if (used.truth.contains(label) && used.predicted.contains(label)) {
      numbers.truth_in_model.back() = stranger(labels, label);
    }
  }
  return numbers;
}

std::vector<MatchedLabels> matched_labels(const LabelNumbers& labels, const LabelsInUse& used,
                                          const std::vector<std::pair<int, int>>& pairs,
                                          const LabelOverlaps& overlaps) {
  const auto name = [&](int label) { return labels.names()[place(label)]; };
  std::set<int> truth = used.truth, predicted = used.predicted;
  std::vector<MatchedLabels> matched;
  for (const auto& pair : pairs) {
    const auto found = overlaps.find(pair);
    matched.push_back({name(pair.second), name(pair.first), found == overlaps.end() ? 0 : found->second});
    truth.erase(pair.first);
    predicted.erase(pair.second);
  }
  for (const int label : predicted) matched.push_back({name(label), "", 0});
  for (const int label : truth) matched.push_back({"", name(label), 0});
  return matched;
}

}  // namespace semicrf
