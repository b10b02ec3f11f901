// Ranks in a program that was built without MPI: there is one.
#include <cstdlib>

#include "core/error.h"
#include "train/ranks/ranks.h"

namespace semicrf {

// NOLINTBEGIN(concurrency-mt-unsafe): nothing in the program changes the environment

Ranks& all_ranks() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (size != nullptr && std::atoi(size) > 1)
    throw UsageError("this semicrf cannot train as several processes: it was built without MPI",
                     "build it with -DSEMICRF_MPI=ON, or leave mpirun out");
  static Ranks alone;
  return alone;
}

void finish_ranks(int exit_code) { static_cast<void>(exit_code); }

bool is_other_rank() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return rank != nullptr && std::atoi(rank) > 0;
}

// NOLINTEND(concurrency-mt-unsafe)

}  // namespace semicrf
