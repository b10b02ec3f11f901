// Constraints on an array of 20 bins of 10 bases.
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz_input.h"
#include "fuzz/statements/statement_model.h"
#include "inputs/statements/constraint_file.h"
#include "support/files/npy_fixture.h"

namespace semicrf::fuzz {
namespace {

constexpr std::int64_t kBins = 20, kBinSize = 10;

Parameters model() {
  Parameters parameters;
  parameters.labels = statement_labels();
  parameters.bin_size = kBinSize;
  parameters.bin_size_given = true;
  parameters.chain.num_labels = static_cast<int>(parameters.labels.size());
  return parameters;
}

// An input set of the array "c", which lies in memory.
const InputSet& inputs() {
  static const InputSet set = [] {
    const Parameters parameters = model();
    const std::vector<double> values(static_cast<std::size_t>(kBins) * parameters.labels.size());
    const auto bytes = test::npy_array(values, static_cast<std::size_t>(kBins), parameters.labels.size());
    const int file = memfd_create("scores", MFD_CLOEXEC);
    require(file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "an array");
    InputOptions options;
    options.inputs = {"c=/proc/self/fd/" + std::to_string(file)};
    return InputSet::open(options, parameters);
  }();
  return set;
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  const std::vector<Label> labels = statement_labels();
  allow_refusal([&] {
    ConstraintFile file(as_file(bytes), labels, inputs());
    for (const std::int64_t first : {0, 3}) {
      const std::int64_t bins = kBins - 2 * first;
      std::int64_t begin = 0;
      for (const Constraint& one : file.of({"c", kBinSize, 0, kBins * kBinSize, first}, bins)) {
        require(begin <= one.begin && one.begin < one.end && one.end <= bins,
                "constraints are sorted and in the piece");
        require(one.forbidden.size() < labels.size(), "a label is left");
        require(one.kind == Constraint::Kind::kForbidden || one.begin > 0, "boundaries are inside");
        begin = one.begin;
      }
    }
    require(file.warnings().size() <= 2, "warnings are gathered");
  });
}

}  // namespace semicrf::fuzz
