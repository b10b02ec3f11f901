// The chromosomes that a bigWig or bigBed file lists, and their places by name.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/bigwig/bigwig_reader.h"

namespace semicrf {

class ListedChromosomes {
 public:
  explicit ListedChromosomes(const std::vector<Chromosome>& chromosomes) {
    for (std::size_t i = 0; i < chromosomes.size(); ++i) places_.emplace(chromosomes[i].name, i);
  }
  std::size_t place(const std::string& name) const {
    const auto found = places_.find(name);
    if (found == places_.end()) throw std::logic_error("a chromosome that the file does not list");
    return found->second;
  }

 private:
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace semicrf
