// Something the user should know that does not stop the run.
#pragma once

#include <string>

namespace semicrf {

struct Warning {
  std::string code;     // short and stable, for scripts: "masked-mean", "durations-at-cap", ...
  std::string message;  // one sentence for people
};

}  // namespace semicrf
