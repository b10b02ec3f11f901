#include "io/segments/bed_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/text/text.h"

namespace semicrf {
namespace {

bool is_whole(std::string_view text) { return number_in<std::int64_t>(text).has_value(); }

// The first word of `line`, which is then taken from it with the blanks around it.
std::string_view take_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

bool is_browser_word(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords = {"position", "hide", "dense", "squish",
                                                      "pack",     "full", "pix",   ""};
  return std::ranges::find(kWords, word) != kWords.end();
}

}  // namespace

void split_bed(std::string_view line, std::vector<std::string>& fields) {
  const bool tabs = line.find('\t') != std::string_view::npos;
  std::size_t count = 0;
  const auto put = [&](std::string_view field) {
    if (count < fields.size()) {
      fields[count].assign(field);
    } else {
      fields.emplace_back(field);
    }
    ++count;
  };
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find(tabs ? '\t' : ' ', begin), line.size());
    if (tabs || end > begin) put(line.substr(begin, end - begin));  // a row of blanks separates once
    begin = end + 1;
  }
  fields.resize(count);
}

bool is_bed_header(std::string_view line) {
  if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') return true;
  const bool track = line.starts_with("track"), browser = line.starts_with("browser");
  if (!track && !browser) return false;
  const std::string_view word = take_word(line);
  if (word != "track" && word != "browser") return false;
  std::string_view rest = line;
  const std::string_view second = take_word(rest);
  if (is_whole(second) && is_whole(take_word(rest))) return false;
  return browser ? is_browser_word(second) : second.empty() || line.find('=') != std::string_view::npos;
}

std::string_view other_format(std::string_view line) {
  if (line.starts_with("##fileformat=VCF") || line.starts_with("#CHROM\tPOS")) return "VCF";
  if (line.starts_with("##gff-version")) return "GFF";
  if (line.starts_with(">")) return "FASTA";
  if (line.starts_with("@HD\t") || line.starts_with("@SQ\t")) return "SAM";
  if (line.starts_with("fixedStep ") || line.starts_with("variableStep ")) return "wiggle";
  const std::vector<std::string_view> fields = split_at('\t', line);
  if (fields.size() >= 8 && is_whole(fields[3]) && is_whole(fields[4]) && fields[6].size() == 1) return "GFF";
  const auto is_bases = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("ACGTNacgtn.*<>,") == std::string_view::npos;
  };
  if (fields.size() >= 8 && is_whole(fields[1]) && is_bases(fields[3]) && is_bases(fields[4])) return "VCF";
  return "";
}

}  // namespace semicrf
