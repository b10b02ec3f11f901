// What is asked of scores once they are on the device: whether all are numbers that scores may be, and the
// sums that their mean is made of.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

enum class SoundValues { kScores, kFeatures };  // finite or -inf; finite

// Adds to `*bad` where one of entries [first, last) is not sound. Asynchronous.
void check_scores(const DeviceScores& scores, SoundValues sound, std::int64_t first, std::int64_t last,
                  int* bad, cudaStream_t stream);

// Where sums over blocks of BlockSums::kPositions rows go.
struct BlockSumsView {
  double* sums;    // (blocks, columns)
  int* masked;     // (blocks, columns) entries at or below the mask
  int* forbidden;  // (blocks, columns) entries of -inf
};
// Blocks [first, last) of `rows` rows, of which the last block may lack some. The order of the additions is
// that of the rows. Asynchronous.
void sum_blocks(const DeviceScores& scores, std::int64_t rows, int columns, std::int64_t first,
                std::int64_t last, double mask, const BlockSumsView& out, cudaStream_t stream);

}  // namespace semicrf::cuda
