// Which sequences of a FASTA file a command reads: --sequences.
#pragma once

#include <set>
#include <string>

namespace semicrf {

class SequenceChoice {
 public:
  // `names`: with commas between them; empty: all.
  explicit SequenceChoice(const std::string& names);
  bool takes(const std::string& name);
  // InputError where the file had not all of them.
  void require_all(const std::string& file) const;

 private:
  std::set<std::string> wanted_, missing_;
};

}  // namespace semicrf
