// FASTA, plain or compressed.
#include "genes/fasta.h"

#include <set>

#include "fuzz/fuzz_input.h"
#include "genes/sequence_source.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    FastaReader reader(as_file(bytes));
    std::set<std::string> names;
    for (FastaSequence sequence; reader.next(sequence);) {
      require(!sequence.name.empty() && names.insert(sequence.name).second, "names are there and differ");
      for (const std::uint8_t code : base_codes(sequence.bases))
        require(code <= kUnknownBase, "bases have codes");
    }
    require(!names.empty(), "a file has a sequence");
  });
}

}  // namespace semicrf::fuzz
