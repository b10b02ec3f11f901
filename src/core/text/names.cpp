#include "core/text/names.h"

#include "core/error.h"
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

void check_label_count(std::size_t labels, const std::string& path, const std::string& where) {
  if (labels <= static_cast<std::size_t>(kMaxLabels)) return;
  throw InputError({path, where, "there are more than " + std::to_string(kMaxLabels) + " different labels",
                    "column 4 must hold the label, not the name of a segment"});
}

}  // namespace semicrf
