#include "io/models/segment_durations.h"

#include <charconv>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/error.h"
#include "io/json/json_document.h"
#include "io/text/bed_reader.h"

namespace semicrf {
namespace {

// "r,g,b"; nothing where it is something else, such as 0.
std::optional<std::array<std::uint8_t, 3>> parse_item_color(std::string_view text) {
  std::array<std::uint8_t, 3> color{};
  for (std::size_t part = 0; part < color.size(); ++part) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), color[part]);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (part + 1 == color.size()) break;
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional(color) : std::nullopt;
}

class DurationReader {
 public:
  DurationReader(const std::string& path, const std::vector<Label>& labels, std::int64_t bin_size)
      : path_(path), labels_(labels), bin_size_(bin_size) {
    for (std::size_t c = 0; c < labels.size(); ++c) index_.emplace(labels[c].name, c);
    durations_.seen.resize(labels.size());
    durations_.color.resize(labels.size());
  }

  SegmentDurations read() {
    BedReader reader(path_);
    BedRecord record;
    while (reader.next(record)) add(record);
    close();
    if (chromosomes_.empty())
      throw InputError({path_, "", "has no segments", "give a segmentation made with the model"});
    return std::move(durations_);
  }

 private:
  [[noreturn]] void fail(const BedRecord& record, const std::string& what, const std::string& advice) const {
    throw InputError({path_, "line " + std::to_string(record.line), what, advice});
  }

  void add(const BedRecord& record) {
    const auto found = index_.find(record.name);
    if (found == index_.end())
      fail(record, in_quotes(record.name) + " is no state of the model",
           "its states are named " + labels_.front().name + " to " + labels_.back().name +
               " in column 4; give a segmentation made with the model");
    if (record.begin % bin_size_ != 0)
      fail(record,
           "the segment does not begin on a bin of " + std::to_string(bin_size_) + " bases, but at base " +
               std::to_string(record.begin),
           "give the bin size of the segmentation with -b");
    check_place(record);
    const std::size_t label = found->second;
    if (!open_ || label_ != label || record.begin != end_) {
      close();
      open_ = true;
      label_ = label;
      begin_ = record.begin;
    }
    end_ = record.end;
    if (!durations_.color[label] && record.fields.size() >= 9)
      durations_.color[label] = parse_item_color(record.fields[8]);
  }

  void check_place(const BedRecord& record) {
    if (record.chromosome != chromosome_) {
      close();
      if (!chromosomes_.insert(record.chromosome).second)
        fail(record, "segments of " + in_quotes(record.chromosome) + " are in two places of the file",
             "sort it by chromosome and position");
      chromosome_ = record.chromosome;
    } else if (record.begin < end_) {
      fail(record, "the segment begins before the one above it ends",
           "sort the file; segments must not overlap");
    }
  }

  void close() {
    if (open_) durations_.seen[label_].push_back((end_ - begin_ + bin_size_ - 1) / bin_size_);
    open_ = false;
  }

  const std::string& path_;
  const std::vector<Label>& labels_;
  std::int64_t bin_size_;
  std::unordered_map<std::string, std::size_t> index_;
  SegmentDurations durations_;
  std::set<std::string> chromosomes_;
  std::string chromosome_;
  bool open_ = false;  // a segment that the next record may go on with
  std::size_t label_ = 0;
  std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace

SegmentDurations read_segment_durations(const std::string& path, const std::vector<Label>& labels,
                                        std::int64_t bin_size) {
  return DurationReader(path, labels, bin_size).read();
}

}  // namespace semicrf
