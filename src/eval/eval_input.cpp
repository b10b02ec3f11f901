#include "eval/eval_input.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/units.h"
#include "io/files/output_target.h"

namespace semicrf {
namespace {

struct Line {
  Segment segment;
  std::int64_t number = 0;
};

std::string bases(const std::string& chromosome, const Segment& segment) {
  return chromosome + ":" + std::to_string(segment.begin) + "-" + std::to_string(segment.end);
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
    throw InputError(path, record.line,
                     "ends at " + std::to_string(record.end) + ", beyond the " + amount(known->second) +
                         " of " + record.chromosome,
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
                       bases(chromosome, here.segment) + " overlaps line " + std::to_string(other.number) +
                           ", " + bases(chromosome, other.segment) + " (0-based)",
                       "segments of one file must not overlap");
    }
    segments.push_back(lines[i].segment);
  }
  return segments;
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
    check_label_count(labels.names().size(), reader.file(), "line " + std::to_string(record.line));
  }
  segmentation.bin_size = reader.bin_size();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string& chromosome = segmentation.chromosomes[i];
    segmentation.segments[chromosome] = sorted_segments(sources[i], chromosome, lines[chromosome]);
  }
  return segmentation;
}

}  // namespace semicrf
