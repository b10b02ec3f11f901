// Tables of barcodes and groups of cells.
#include "fuzz/fuzz_input.h"
#include "reads/read_counter.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const CellGroups groups(as_file(bytes), {"S1", "S"});
    require(!groups.names().empty() && groups.cells() >= groups.names().size(), "every group has a cell");
    for (const char* sample : {"S1", "S", ""})
      if (const auto cell = groups.find(sample, groups.example()))
        require(cell->number < groups.cells() && cell->group < groups.names().size(), "a cell is known");
  });
}

}  // namespace semicrf::fuzz
