// Segments of one sequence as a Praat TextGrid (long format): a tier of intervals, with times in seconds.
#include <fmt/format.h>

#include <string>

#include "core/text/text.h"
#include "outputs/formats.h"

namespace semicrf {
namespace {

// A quotation mark within a text is written twice.
std::string praat_text(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + "\"";
}

class TextGridSink : public SegmentSink {
 public:
  TextGridSink(OutputFile& file, const SegmentOutput& output)
      : SegmentSink(output), file_(file), joiner_(output.bed.merge_adjacent), rate_(units().rate) {
    for (const Label& label : output.labels) names_.push_back(praat_text(label.name));
  }

  void finish() override {
    add_interval(end_, limit_, "\"\"");
    const std::string span = "xmin = " + time(origin_) + "\n" + "xmax = " + time(limit_) + "\n";
    file_.write(
        fmt::format("File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\n{}tiers? <exists>\nsize = "
                    "1\nitem []:\n    item [1]:\n        class = \"IntervalTier\"\n        name = "
                    "\"segments\"\n        xmin = {}\n        xmax = {}\n        intervals: size = {}\n{}",
                    span, time(origin_), time(limit_), intervals_, text_));
  }

 private:
  void begin_segments(const BinLocation& location) override {
    if (intervals_ == 0 && end_ == 0) end_ = origin_ = location.origin;
    location_ = location;
    limit_ = location.limit;
  }
  void add(const Segment& segment, const SegmentPosteriors* support) override {
    joiner_.add(segment, support != nullptr ? *support : SegmentPosteriors{},
                [this](const Segment& s, const SegmentPosteriors&) { print(s); });
  }
  void end_segments() override {
    joiner_.finish([this](const Segment& s, const SegmentPosteriors&) { print(s); });
  }

  // Between pieces, and between segments of the wanted labels, an interval without text.
  void print(const Segment& segment) {
    const std::int64_t begin = location_.begin_base(segment.begin);
    add_interval(end_, begin, "\"\"");
    add_interval(begin, location_.end_base(segment.end), names_[segment.label]);
  }

  void add_interval(std::int64_t begin, std::int64_t end, const std::string& text) {
    if (begin >= end) return;
    text_ += fmt::format(
        "        intervals [{}]:\n            xmin = {}\n            xmax = {}\n            text = {}\n",
        ++intervals_, time(begin), time(end), text);
    end_ = end;
  }

  std::string time(std::int64_t position) const {
    return formatted("%.15g", static_cast<double>(position) / rate_);
  }

  OutputFile& file_;
  std::vector<std::string> names_;  // as they stand in the file
  BinLocation location_;
  SegmentJoiner joiner_;
  double rate_;                                    // positions per second
  std::string text_;                               // the intervals, whose number comes first in the file
  std::int64_t intervals_ = 0;                     // so far
  std::int64_t origin_ = 0, end_ = 0, limit_ = 0;  // positions: first, behind the last interval, behind all
};

}  // namespace

std::unique_ptr<OutputSink> make_textgrid_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<TextGridSink>(file, output);
}

}  // namespace semicrf
