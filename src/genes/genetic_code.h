// Genetic codes by their numbers at NCBI: which codons stop, and what the others stand for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace semicrf {

// Codes whose stop codons are some of TAA, TAG and TGA. 1 and 11 differ in start codons alone, which a
// grammar has.
struct GeneticCode {
  struct Codon {
    std::string_view bases;
    char amino_acid = 'X';
  };
  int number = 1;
  std::array<Codon, 2> changed{};  // against the standard code; those without bases are none
};

inline constexpr std::array<GeneticCode, 11> kGeneticCodes{{
    {1, {}},
    {4, {{{"TGA", 'W'}}}},
    {6, {{{"TAA", 'Q'}, {"TAG", 'Q'}}}},
    {10, {{{"TGA", 'C'}}}},
    {11, {}},
    {12, {{{"CTG", 'S'}}}},
    {15, {{{"TAG", 'Q'}}}},
    {25, {{{"TGA", 'G'}}}},
    {26, {{{"CTG", 'A'}}}},
    {29, {{{"TAA", 'Y'}, {"TAG", 'Y'}}}},
    {30, {{{"TAA", 'E'}, {"TAG", 'E'}}}},
}};

// Null for a number that is none of them.
inline const GeneticCode* find_genetic_code(std::int64_t number) {
  const auto found = std::find_if(kGeneticCodes.begin(), kGeneticCodes.end(),
                                  [&](const GeneticCode& one) { return one.number == number; });
  return found == kGeneticCodes.end() ? nullptr : &*found;
}

// All codons stand for what they do in the standard code.
inline bool is_standard(int number) {
  const GeneticCode* code = find_genetic_code(number);
  return code != nullptr && code->changed.front().bases.empty();
}

// "1, 4, ... or 30"
inline std::string genetic_code_numbers() {
  std::string text;
  for (const GeneticCode& one : kGeneticCodes)
    text += (text.empty() ? "" : &one == &kGeneticCodes.back() ? " or " : ", ") + std::to_string(one.number);
  return text;
}

// A code for looking up codons, of base codes 0..3 (A C G T); others are unknown.
class CodonTable {
 public:
  // `number`: one of kGeneticCodes.
  explicit CodonTable(int number) {
    for (const GeneticCode::Codon& codon : find_genetic_code(number)->changed) {
      if (codon.bases.empty()) continue;
      std::size_t index = 0;
      for (const char base : codon.bases) index = index * 4 + std::string_view("ACGT").find(base);
      letters_[index] = codon.amino_acid;
    }
  }
  // '*' for a stop codon, 'X' where a base is unknown.
  char amino_acid(int a, int b, int c) const {
    if (std::max({a, b, c}) > 3) return 'X';
    return letters_[a * 16 + b * 4 + c];
  }
  bool is_stop(int a, int b, int c) const { return a == 3 && amino_acid(a, b, c) == '*'; }
  std::vector<std::string> stops() const {
    std::vector<std::string> words;
    for (const char* word : {"TAA", "TAG", "TGA"}) {
      const std::string_view bases("ACGT");
      if (is_stop(3, static_cast<int>(bases.find(word[1])), static_cast<int>(bases.find(word[2]))))
        words.emplace_back(word);
    }
    return words;
  }

 private:
  std::string letters_ = "KNKNTTTTRSRSIIMIQHQHPPPPRRRRLLLLEDEDAAAAGGGGVVVV*Y*YSSSS*CWCLFLF";
};

}  // namespace semicrf
