#include "io/bigwig/listed_chromosomes.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace semicrf {

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
