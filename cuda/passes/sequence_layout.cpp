#include "cuda/passes/sequence_layout.h"

#include <algorithm>
#include <utility>

#include "core/sizes.h"
#include "cuda/tables/limits.h"

namespace semicrf::cuda {

SequenceLayout::SequenceLayout(std::vector<PlacedSequence> whole) : sequences(std::move(whole)) {
  for (PlacedSequence& sequence : sequences) {
    sequence.first_row = round_up<std::int64_t>(tokens.end, kBlock);
    tokens.end = sequence.first_row + sequence.length;
  }
}

std::int64_t SequenceLayout::longest_mark() const {
  std::int64_t longest = 0;
  for (const PlacedSequence& sequence : sequences) longest = std::max(longest, sequence.cut.mark);
  return longest;
}

}  // namespace semicrf::cuda
