#include "io/text/chromosomes.h"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>
#include <unordered_set>

#include "core/error.h"
#include "core/text/text.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

// Name and length of one line; nullopt-like: false when it is not such a line.
bool parse_line(std::string_view line, Chromosome& chromosome) {
  const std::size_t name_end = line.find_first_of("\t ");
  if (name_end == 0 || name_end == std::string_view::npos) return false;
  chromosome.name = line.substr(0, name_end);
  const std::size_t length_begin = line.find_first_not_of("\t ", name_end);
  if (length_begin == std::string_view::npos) return false;
  const std::size_t length_end = std::min(line.find_first_of("\t ", length_begin), line.size());
  const std::string_view length = line.substr(length_begin, length_end - length_begin);
  chromosome.length = number_in<std::int64_t>(length).value_or(0);
  return chromosome.length >= 1;
}

}  // namespace

std::vector<Chromosome> read_chrom_sizes(const std::string& path) {
  TextLines lines(path);
  std::vector<Chromosome> chromosomes;
  std::unordered_set<std::string> names;
  std::string line;
  while (lines.next(line)) {
    if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
    const std::string where = fmt::format("line {}", lines.line_number());
    Chromosome chromosome;
    if (!parse_line(line, chromosome)) {
      throw InputError({path, where, "expected a chromosome name and a length of at least 1",
                        "give a two-column file of chromosome sizes or a .fai index"});
    }
    if (!names.insert(chromosome.name).second) {
      throw InputError(
          {path, where, "chromosome '" + chromosome.name + "' is listed twice", "remove one of them"});
    }
    chromosomes.push_back(std::move(chromosome));
  }
  if (chromosomes.empty()) throw InputError({path, "", "lists no chromosome", ""});
  return chromosomes;
}

std::string few_names(std::span<const std::string> names) {
  return names.empty() ? "none" : few_of(names, 3);
}

std::string chromosome_names(std::span<const Chromosome> chromosomes) {
  return few_names(names_of(chromosomes));
}

ListedChromosomes::ListedChromosomes(std::vector<Chromosome> chromosomes) {
  Lists lists{std::move(chromosomes), {}};
  lists.by_name.resize(lists.chromosomes.size());
  std::iota(lists.by_name.begin(), lists.by_name.end(), std::uint32_t{0});
  std::ranges::stable_sort(lists.by_name, {},
                           [&](std::uint32_t i) -> const std::string& { return lists.chromosomes[i].name; });
  lists_ = std::make_shared<const Lists>(std::move(lists));
}

std::span<const Chromosome> ListedChromosomes::list() const {
  return lists_ ? std::span<const Chromosome>(lists_->chromosomes) : std::span<const Chromosome>();
}

std::span<const std::uint32_t> ListedChromosomes::by_name() const {
  return lists_ ? std::span<const std::uint32_t>(lists_->by_name) : std::span<const std::uint32_t>();
}

std::size_t ListedChromosomes::place(const std::string& name) const {
  const auto name_of = [this](std::uint32_t i) -> const std::string& { return lists_->chromosomes[i].name; };
  const auto found = std::ranges::lower_bound(by_name(), name, {}, name_of);
  if (found == by_name().end() || name_of(*found) != name)
    throw std::logic_error("a chromosome that the file does not list");
  return *found;
}

}  // namespace semicrf
