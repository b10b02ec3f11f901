// Something the user should know that does not stop the run.
#pragma once

#include <string>

namespace semicrf {

struct Warning {
  std::string code;     // short and stable, for scripts: "masked-mean", "durations-at-cap", ...
  std::string message;  // one sentence for people
  std::string place{};  // the sequence, piece or file that it is about, where there can be many of them
};

}  // namespace semicrf
