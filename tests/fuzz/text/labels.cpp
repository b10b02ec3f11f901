// Labelled segments in every form that training takes them: TextGrids, tables of times, BED. A TextGrid that
// was read is written again in the short format, which must read as the same tiers.
#include <charconv>
#include <map>

#include "core/error.h"
#include "fuzz/fuzz_input.h"
#include "io/segments/segment_reader.h"
#include "io/segments/textgrid.h"
#include "train/data/label_file.h"

namespace semicrf::fuzz {
namespace {

std::string number_text(double value) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"\n";
}

std::string short_grid(const std::vector<TextGridTier>& tiers) {
  std::string text = "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\n0\n1\n<exists>\n" +
                     std::to_string(tiers.size()) + "\n";
  for (const TextGridTier& tier : tiers) {
    text += tier.of_intervals ? "\"IntervalTier\"\n" : "\"TextTier\"\n";
    text += quoted(tier.name) + "0\n1\n" + std::to_string(tier.intervals.size()) + "\n";
    for (const TextGridInterval& one : tier.intervals)
      text += number_text(one.begin) + "\n" + number_text(one.end) + "\n" + quoted(one.text);
  }
  return text;
}

void check_same(const std::vector<TextGridTier>& read, const std::vector<TextGridTier>& again) {
  require(read.size() == again.size(), "as many tiers as were written");
  for (std::size_t i = 0; i < read.size(); ++i) {
    require(read[i].name == again[i].name && read[i].of_intervals == again[i].of_intervals &&
                read[i].intervals.size() == again[i].intervals.size(),
            "a tier survives writing and reading");
    for (std::size_t j = 0; j < read[i].intervals.size(); ++j) {
      const TextGridInterval& a = read[i].intervals[j];
      const TextGridInterval& b = again[i].intervals[j];
      require(a.begin == b.begin && a.end == b.end && a.text == b.text,
              "an interval survives writing and reading");
    }
  }
}

void check_grid(const std::string& path) {
  if (!is_textgrid(path)) return;
  const std::vector<TextGridTier> tiers = read_textgrid(path);
  const std::string text = short_grid(tiers);
  // Line ends of other systems become those of this one, and a mark at the beginning is left out.
  if (text.find('\r') != std::string::npos) return;
  std::vector<TextGridTier> again;
  try {
    again = read_textgrid(as_file({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
  } catch (const Error&) {
    require(false, "a TextGrid that was written can be read");
  }
  check_same(tiers, again);
}

void check_segments(const std::string& path, const LabelTimes& times) {
  SegmentReader reader(path, times);
  for (BedRecord record; reader.next(record);) {
    require(!record.chromosome.empty(), "segments have a sequence");
    require(0 <= record.begin && record.begin < record.end, "segments are not empty");
  }
  require(reader.vanished() >= 0, "counts are not negative");
}

void check_labels(const std::string& path, const LabelTimes& times) {
  const LabelFile file = read_label_file({path}, {}, times);
  for (const auto& [chromosome, records] : file.chromosomes) {
    std::int64_t end = 0;
    for (const LabelRecord& record : records) {
      require(end <= record.begin && record.begin < record.end, "labels are sorted and disjoint");
      require(record.label < static_cast<int>(file.labels.size()), "labels are known");
      end = record.end;
    }
  }
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] { check_grid(as_file(bytes)); });
  for (const LabelTimes& times :
       {LabelTimes{100, 1, "", ""}, LabelTimes{8000, 80, "words", "s"}, LabelTimes{}}) {
    allow_refusal([&] { check_segments(as_file(bytes), times); });
    allow_refusal([&] { check_labels(as_file(bytes), times); });
  }
}

}  // namespace semicrf::fuzz
