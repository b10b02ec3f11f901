#include "core/text/names.h"

#include "core/text/utf8.h"

namespace semicrf {

std::string name_problem(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  switch (text_fault(name)) {
    case TextFault::kControl:
      return "a name must not contain control characters";
    case TextFault::kNotUtf8:
      return "a name must be valid UTF-8";
    case TextFault::kNone:
      break;
  }
  return "";
}

std::string sequence_name_problem(std::string_view name) {
  if (std::string problem = name_problem(name); !problem.empty()) return problem;
  return name.front() == '#' ? "a sequence name must not begin with #, which begins comments in BED files"
                             : "";
}

}  // namespace semicrf
