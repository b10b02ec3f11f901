// GFF3 and GTF, plain or compressed.
#include "genes/annotation.h"

#include "fuzz/fuzz_input.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const GeneAnnotation annotation = read_annotation(as_file(bytes));
    require(annotation.sequences.size() == annotation.transcripts.size(), "every sequence is named once");
    for (const auto& [name, list] : annotation.transcripts) {
      require(!list.empty(), "a sequence that is named has a transcript");
      for (const CodingTranscript& one : list) {
        require(!one.exons.empty() && (one.strand == '+' || one.strand == '-'),
                "a transcript has exons on a strand");
        for (std::size_t i = 0; i < one.exons.size(); ++i) {
          require(0 <= one.exons[i].begin && one.exons[i].begin < one.exons[i].end, "exons are not empty");
          require(i == 0 || one.exons[i - 1].end <= one.exons[i].begin, "exons are apart and ascend");
        }
      }
    }
  });
}

}  // namespace semicrf::fuzz
