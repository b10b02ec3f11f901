#include "cuda/sequence_layout.h"

#include "cuda/limits.h"

namespace semicrf::cuda {

SequenceLayout::SequenceLayout(const std::vector<std::int64_t>& lengths) {
  for (const std::int64_t length : lengths) {
    const std::int64_t first = (tokens.end + kBlock - 1) / kBlock * kBlock;
    sequences.push_back({{0, length}, length, first});
    tokens.end = first + length;
  }
}

}  // namespace semicrf::cuda
