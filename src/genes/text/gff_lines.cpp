#include "genes/text/gff_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "io/json/json_document.h"

namespace semicrf {

bool GffLines::next(GffLine& line) {
  do {
    if (!lines_.next(text_) || text_ == "##FASTA") return false;
  } while (text_.empty() || text_.front() == '#');
  std::string_view rest = text_;
  for (int i = 0; i < 9; ++i) {
    if (i > 0 && rest.data() == nullptr)
      fail(fmt::format("{} columns", i), "GFF3 and GTF have nine, separated by tabs");
    const std::size_t tab = i == 8 ? rest.npos : rest.find('\t');
    line.columns[i] = rest.substr(0, tab);
    rest = tab == rest.npos ? std::string_view() : rest.substr(tab + 1);
  }
  line.sequence = line.columns[0], line.kind = line.columns[2];
  line.strand = line.columns[6], line.attributes = line.columns[8];
  return true;
}

void GffLines::check_place(GffLine& line) const {
  line.begin = number(line.columns[3], "begin") - 1;
  line.end = number(line.columns[4], "end");
  if (line.end <= line.begin)
    fail(fmt::format("ends at {} before it begins at {}", line.end, line.begin + 1), "correct the line");
  if (line.strand != "+" && line.strand != "-")
    fail(fmt::format("the strand of a {} is {}", line.kind, in_quotes(line.strand)), "write + or -");
}

void GffLines::fail(const std::string& what, const std::string& advice) const {
  throw InputError(lines_.path(), lines_.line_number(), what, advice);
}

std::int64_t GffLines::number(std::string_view text, const char* what) const {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1)
    fail(fmt::format("the {} is {}", what, in_quotes(text)), "columns 4 and 5 are positions from 1");
  return value;
}

std::optional<std::string_view> gff_attribute(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = text.find(';');
    std::string_view one = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (!one.starts_with(key) || one.size() <= key.size()) continue;
    const char next = one[key.size()];
    std::string_view value = one.substr(key.size() + 1);
    if (next == '=') return value;
    if (next != ' ') continue;
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.find('"', 1) - 1);
    return value;
  }
  return std::nullopt;
}

}  // namespace semicrf
