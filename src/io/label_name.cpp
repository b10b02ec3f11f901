#include "io/label_name.h"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "io/json/json_document.h"

namespace semicrf {

std::string name_problem(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    // U+0080 to U+009F are control characters too; in UTF-8 they are C2 80 to C2 9F.
    const bool high_control =
        byte == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || high_control) return "a name must not contain control characters";
  }
  return "";
}

std::string stored_name_problem(std::string_view name) {
  if (std::string problem = name_problem(name); !problem.empty()) return problem;
  try {
    static_cast<void>(Json(name).dump());
  } catch (const Json::type_error&) {
    return "a name must be valid UTF-8";
  }
  return "";
}

}  // namespace semicrf
