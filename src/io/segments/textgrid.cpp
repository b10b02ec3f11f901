// Both text formats are the same sequence of values: numbers, quoted texts and <flags>. What else stands
// there
// ("xmin =", "intervals [1]:") is for human readers, and Praat passes over it too.
#include "io/segments/textgrid.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "core/error.h"
#include "core/text/text.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

constexpr TextForm kForm = {.utf16 = true, .longest_line = std::size_t{64} << 20};

// The whole text, which may be a single line.
std::string content_of(const std::string& path) {
  TextLines lines(path, kForm);
  std::string content, line;
  while (lines.next(line)) {
    content.append(line).append("\n");
    if (content.size() > kForm.longest_line)
      throw InputError(
          {path, "",
           fmt::format("has more than {} MiB, more than a TextGrid may have", kForm.longest_line >> 20),
           "check the path"});
  }
  return content;
}

class ValueReader {
 public:
  ValueReader(const std::string& path, std::string content) : path_(path), content_(std::move(content)) {}

  std::int64_t line() const { return line_; }

  InputError refuse(const std::string& what) const {
    return InputError(path_, line_, what, "this is not a whole TextGrid of Praat");
  }

  double number(const char* what) {
    for (;;) {
      skip_to_token(what);
      if (content_[at_] == '"') throw refuse(std::string("expected ") + what + ", found a text");
      if (const auto value = number_in<double>(plain_token()); value && std::isfinite(*value)) return *value;
    }
  }

  std::int64_t count(const char* what) {
    const double value = number(what);
    // An entry takes at least two bytes, so there cannot be more than bytes.
    if (value < 0 || value != std::floor(value) || value > static_cast<double>(content_.size()))
      throw refuse(fmt::format("the {} cannot be {:.6g}", what, value));
    return static_cast<std::int64_t>(value);
  }

  std::string text(const char* what) {
    for (;;) {
      skip_to_token(what);
      if (content_[at_] == '"') return quoted(what);
      plain_token();
    }
  }

  // "<exists>" or another flag.
  std::string flag() {
    for (;;) {
      skip_to_token("<exists>");
      if (content_[at_] == '"') throw refuse("expected <exists>, found a text");
      const std::string_view token = plain_token();
      if (token.starts_with('<')) return std::string(token);
    }
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0'; }

  void skip_to_token(const char* what) {
    while (at_ < content_.size() && (is_space(content_[at_]) || content_[at_] == '!')) {
      if (content_[at_] == '!') {
        at_ = std::min(content_.find('\n', at_), content_.size());  // a comment
        continue;
      }
      step();
    }
    if (at_ == content_.size()) throw refuse(std::string("the file ends before ") + what);
  }

  std::string_view plain_token() {
    const std::size_t begin = at_;
    while (at_ < content_.size() && !is_space(content_[at_])) ++at_;
    return std::string_view(content_).substr(begin, at_ - begin);
  }

  // A quotation mark within is written twice.
  std::string quoted(const char* what) {
    std::string text;
    for (++at_; at_ < content_.size(); step()) {
      if (content_[at_] == '"') {
        if (at_ + 1 == content_.size() || content_[at_ + 1] != '"') {
          ++at_;
          return text;
        }
        ++at_;
      }
      text += content_[at_];
    }
    throw refuse(std::string("the file ends within ") + what);
  }

  void step() {
    if (content_[at_] == '\n') ++line_;
    ++at_;
  }

  const std::string& path_;
  std::string content_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

TextGridTier read_tier(ValueReader& values) {
  const std::string kind = values.text("the class of a tier");
  if (kind != "IntervalTier" && kind != "TextTier")
    throw values.refuse("a tier is neither an \"IntervalTier\" nor a \"TextTier\" but \"" + kind + "\"");
  TextGridTier tier;
  tier.of_intervals = kind == "IntervalTier";
  tier.name = values.text("the name of a tier");
  values.number("xmin of a tier");
  values.number("xmax of a tier");
  const std::int64_t count = values.count("number of intervals");
  for (std::int64_t i = 0; i < count; ++i) {
    TextGridInterval interval;
    interval.begin = values.number("xmin of an interval");
    interval.line = values.line();
    if (tier.of_intervals) interval.end = values.number("xmax of an interval");
    interval.text = values.text("the text of an interval");
    if (tier.of_intervals) tier.intervals.push_back(std::move(interval));
  }
  return tier;
}

}  // namespace

bool is_textgrid(const std::string& path) {
  constexpr std::size_t kBytes = 1000;  // hold the first two values, which say it
  TextLines lines(path, kForm);
  const std::string_view head = lines.head().substr(0, kBytes);
  return head.find("\"ooTextFile") != std::string_view::npos &&
         head.find("\"TextGrid\"") != std::string_view::npos;
}

std::vector<TextGridTier> read_textgrid(const std::string& path) {
  ValueReader values(path, content_of(path));
  values.text("\"ooTextFile\"");
  if (values.text("\"TextGrid\"") != "TextGrid") throw values.refuse("the object class is not \"TextGrid\"");
  values.number("xmin");
  values.number("xmax");
  if (values.flag() != "<exists>") throw values.refuse("it says that there are no tiers");
  const std::int64_t count = values.count("number of tiers");
  std::vector<TextGridTier> tiers;
  for (std::int64_t i = 0; i < count; ++i) tiers.push_back(read_tier(values));
  return tiers;
}

}  // namespace semicrf
