// Both text formats are the same sequence of values: numbers, quoted texts and <flags>. What else stands
// there
// ("xmin =", "intervals [1]:") is for human readers, and Praat passes over it too.
#include "io/segments/textgrid.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

void append_utf8(std::uint32_t code, std::string& text) {
  const auto byte = [&](std::uint32_t value) {
    text += static_cast<char>(static_cast<unsigned char>(value));
  };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

std::string utf8_of_utf16(std::string_view bytes, bool big_endian) {
  const auto unit = [&](std::size_t i) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    return static_cast<std::uint32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::string text;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    std::uint32_t code = unit(i);
    const bool high = code >= 0xD800 && code < 0xDC00;
    if (high && i + 3 < bytes.size() && unit(i + 2) >= 0xDC00 && unit(i + 2) < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(i + 2) - 0xDC00);
      i += 2;
    }
    append_utf8(code, text);
  }
  return text;
}

std::string as_utf8(std::string content) {
  const std::string_view view = content;
  if (view.starts_with("\xFE\xFF")) return utf8_of_utf16(view.substr(2), true);
  if (view.starts_with("\xFF\xFE")) return utf8_of_utf16(view.substr(2), false);
  if (view.starts_with("\xEF\xBB\xBF")) content.erase(0, 3);
  return content;
}

std::string content_of(const std::string& path, std::size_t most_lines) {
  TextLines lines(path);
  std::string content, line;
  for (std::size_t i = 0; i < most_lines && lines.next(line); ++i) content += line + '\n';
  return as_utf8(std::move(content));
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
      const std::string_view token = plain_token();
      double value = 0;
      const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
      if (error == std::errc() && end == token.data() + token.size() && std::isfinite(value)) return value;
    }
  }

  std::int64_t count(const char* what) {
    const double value = number(what);
    // An entry takes at least two bytes, so there cannot be more than bytes.
    if (value < 0 || value != std::floor(value) || value > static_cast<double>(content_.size()))
      throw refuse(std::string("the ") + what + " cannot be " + std::to_string(value));
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
  constexpr std::size_t kLines = 4;
  const std::string content = content_of(path, kLines);
  return content.find("\"ooTextFile") != std::string::npos &&
         content.find("\"TextGrid\"") != std::string::npos;
}

std::vector<TextGridTier> read_textgrid(const std::string& path) {
  ValueReader values(path, content_of(path, static_cast<std::size_t>(-1)));
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
