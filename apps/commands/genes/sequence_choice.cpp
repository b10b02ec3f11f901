#include "apps/commands/genes/sequence_choice.h"

#include <sstream>

#include "core/error.h"

namespace semicrf {

SequenceChoice::SequenceChoice(const std::string& names) {
  std::istringstream stream(names);
  for (std::string name; std::getline(stream, name, ',');) wanted_.insert(name);
  missing_ = wanted_;
}

bool SequenceChoice::takes(const std::string& name) {
  missing_.erase(name);
  return wanted_.empty() || wanted_.contains(name);
}

void SequenceChoice::require_all(const std::string& file) const {
  if (!missing_.empty())
    throw InputError(
        {file, "", "no sequence " + *missing_.begin() + " in it", "--sequences wants names of the file"});
}

}  // namespace semicrf
