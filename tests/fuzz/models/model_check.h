// What must hold for a model of another program that became parameters.
#pragma once

#include "core/error.h"
#include "fuzz/fuzz_input.h"
#include "io/params/params_json.h"

namespace semicrf::fuzz {

// They can be written, read back, and written again with the same bytes.
inline void check_parameters(const Parameters& parameters) {
  const std::string written = write_params_json(parameters);
  std::string again;
  try {
    again = write_params_json(parse_params_json(written, "written.json"));
  } catch (const Error&) {
    require(false, "imported parameters can be read");
  }
  require(written == again, "reading and writing changes nothing");
}

}  // namespace semicrf::fuzz
