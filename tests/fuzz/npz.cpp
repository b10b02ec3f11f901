// NPZ: the directory, and every member that fits into 16 MiB.
#include <vector>

#include "fuzz/fuzz_input.h"
#include "io/arrays/npz_reader.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kMemory = std::uint64_t{16} << 20;
  allow_refusal([&] {
    const NpzFile file = NpzFile::open(as_file(bytes));
    require(!file.members().empty(), "an archive has members");
    for (std::size_t i = 0; i < file.members().size(); ++i) {
      const NpzMember& member = file.members()[i];
      require(!member.name.empty(), "members have names");
      require(member.stored_bytes <= bytes.size() && member.data_offset <= bytes.size() - member.stored_bytes,
              "members lie in the file");
      allow_refusal([&] {
        const NpyArray array = file.load(i, kMemory);
        std::vector<double> rows(static_cast<std::size_t>(array.rows() * array.columns()));
        array.read_rows(0, array.rows(), rows.data());
      });
    }
  });
}

}  // namespace semicrf::fuzz
