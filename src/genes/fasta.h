// Sequences of a FASTA file, plain or compressed, one after the other.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "io/text/text_lines.h"

namespace semicrf {

struct FastaSequence {
  std::string name;   // the first word of its line
  std::string bases;  // as they stand there, either case
};

// Memory: one sequence. InputError with the line: what stands before the first name, a name twice or none,
// letters that are no bases (IUPAC codes, - and * count as unknown ones); a file without a sequence.
class FastaReader {
 public:
  explicit FastaReader(const std::string& path);
  // False at the end of the file. A sequence may have no bases.
  bool next(FastaSequence& sequence);

 private:
  TextLines lines_;
  std::string line_;  // the next name, once it is read
  bool has_name_ = false;
  std::set<std::string, std::less<>> names_;
};

}  // namespace semicrf
