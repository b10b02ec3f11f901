#include "io/tracks/wig_text.h"

#include "io/segments/bed_reader.h"
#include "io/tracks/text_fields.h"

namespace semicrf {
namespace {

class WigReader : public TrackTextReader {
 public:
  explicit WigReader(const std::string& path) : lines_(path) {}

 protected:
  bool next_row(TrackRow& row) override {
    while (lines_.next(line_)) {
      if (is_bed_header(line_)) continue;
      if (line_.starts_with("fixedStep") || line_.starts_with("variableStep")) {
        declare();
        continue;
      }
      if (chromosome_.empty())
        throw refused_at(lines_, "there is no fixedStep or variableStep before this line",
                         "correct the file");
      split_fields(line_, fields_);
      const std::size_t expected = fixed_ ? 1 : 2;
      if (fields_.size() != expected)
        throw refused_at(
            lines_,
            "found " + plural(fields_.size(), "column") + ", expected " +
                (fixed_ ? "1 under fixedStep: a value" : "2 under variableStep: a position and a value"),
            "correct the line");
      if (!fixed_) at_ = position_in(lines_, fields_[0], "the position", 1) - 1;
      row.values.assign(1, value_in(lines_, fields_.back()));
      row.chromosome = chromosome_;
      row.begin = at_;
      row.end = at_ + span_;
      row.file = lines_.path();
      row.line = lines_.line_number();
      if (fixed_) at_ += step_;
      return true;
    }
    return false;
  }

 private:
  // The words of a declaration.
  void declare() {
    split_fields(line_, fields_);
    fixed_ = fields_.front() == "fixedStep";
    chromosome_.clear();
    span_ = step_ = 1;
    at_ = -1;
    for (std::size_t i = 1; i < fields_.size(); ++i) {
      const std::size_t equals = std::min(fields_[i].find('='), fields_[i].size());
      const std::string_view key = fields_[i].substr(0, equals);
      const std::string_view value = fields_[i].substr(std::min(equals + 1, fields_[i].size()));
      if (key == "chrom") {
        chromosome_ = value;
      } else if (key == "start" && fixed_) {
        at_ = position_in(lines_, value, "start", 1) - 1;
      } else if (key == "step" && fixed_) {
        step_ = position_in(lines_, value, "step", 1);
      } else if (key == "span") {
        span_ = position_in(lines_, value, "span", 1);
      } else {
        throw refused_at(
            lines_, "unknown word " + quoted_field(fields_[i]),
            fixed_ ? "fixedStep has chrom=, start=, step= and span=" : "variableStep has chrom= and span=");
      }
    }
    if (chromosome_.empty()) throw refused_at(lines_, "chrom= is missing", "correct the line");
    if (fixed_ && at_ < 0) throw refused_at(lines_, "start= is missing", "correct the line");
  }

  TextLines lines_;
  std::string line_;
  std::vector<std::string_view> fields_;
  bool fixed_ = true;
  std::string chromosome_;  // empty: nothing was declared
  std::int64_t at_ = -1;    // base, from 0, of the next value
  std::int64_t step_ = 1, span_ = 1;
};

}  // namespace

std::unique_ptr<TrackTextReader> open_wig(const std::string& path) {
  return std::make_unique<WigReader>(path);
}

}  // namespace semicrf
