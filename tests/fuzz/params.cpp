// Parameter files: whatever is accepted is written, read back and written again with the same bytes.
#include <algorithm>
#include <cctype>

#include "fuzz/fuzz_input.h"
#include "io/params/params_json.h"

namespace semicrf::fuzz {
namespace {

// Five digits in a row may be a maximal duration whose tables take seconds to fill; the limits themselves are
// tested in tests/unit/params.
bool has_long_number(std::string_view text) {
  std::size_t digits = 0;
  return std::any_of(text.begin(), text.end(), [&](char c) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    return digits == 5;
  });
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  const std::string_view text = text_of(bytes);
  if (has_long_number(text)) return;
  allow_refusal([&] {
    const std::string written = write_params_json(parse_params_json(text, "params.json"));
    std::string again;
    try {
      again = write_params_json(parse_params_json(written, "written.json"));
    } catch (const std::exception&) {
      require(false, "what was written can be read");
    }
    require(written == again, "reading and writing changes nothing");
  });
}

}  // namespace semicrf::fuzz
