// Checkpoints: as they are, and with the SHA-256 at their end made right, so that the fields are reached.
#include "fuzz/fuzz_input.h"
#include "io/text/provenance_header.h"
#include "train/fit/fit_state.h"

namespace semicrf::fuzz {
namespace {

constexpr std::size_t kCoordinates = 3;
const char* const kFingerprint = "f";

void read(const std::string& text) {
  const auto read_text = [](const std::string& from) {
    return read_checkpoint(as_file({reinterpret_cast<const std::uint8_t*>(from.data()), from.size()}),
                           kFingerprint, kCoordinates);
  };
  allow_refusal([&] {
    const FitState state = read_text(text);
    require(state.x.size() == kCoordinates, "as many coordinates as asked for");
    require(state.iteration >= 0 && state.best_iteration >= 0 && state.steps >= 0, "counts are not negative");
    require(read_text(checkpoint_text(kFingerprint, state)) == state, "a state survives writing and reading");
  });
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  const std::string text(text_of(bytes));
  read(text);
  const std::string fields = text.substr(0, text.rfind("sha256 "));
  read(fields + "sha256 " + sha256_hex(fields) + "\n");
}

}  // namespace semicrf::fuzz
