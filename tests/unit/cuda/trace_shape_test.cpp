// How tracebacks are cut up.
#include "cuda/viterbi/trace_shape.h"

#include "support/catch.h"

using namespace semicrf::cuda;

TEST_CASE("blocks of a traceback fit into shared memory, aligned, or are not staged") {
  for (const std::size_t limit : {std::size_t(64) << 10, std::size_t(99) << 10, std::size_t(227) << 10}) {
    for (const std::size_t real : {sizeof(float), sizeof(double)}) {
      for (const int labels : {1, 2, 5, 7, 24, 31, 33, 64, 100, 256}) {
        for (const int duration : {1, 17, 100, 30000}) {
          for (const bool tail : {false, true}) {
            INFO("C=" << labels << " K=" << duration << " limit=" << limit << " real=" << real
                      << " tail=" << tail);
            const TraceShape shape = trace_shape(labels, duration, tail, real, limit);
            CHECK(shape.warps >= 1);
            CHECK(shape.shared_bytes <= limit);
            CHECK(shape.staged == (shape.shared_bytes > 0));
            if (!shape.staged) continue;
            CHECK(shape.newest == (duration < 32 ? duration : 32));
            CHECK(shape.table_bytes % 16 == 0);
            CHECK(shape.slot_bytes % 16 == 0);
            const std::size_t rows = 16 * static_cast<std::size_t>(labels) * real * (tail ? 3 : 2);
            CHECK(static_cast<std::size_t>(shape.slot_bytes) >=
                  rows + slot_link(static_cast<unsigned>(labels)) + 16);
            CHECK(shape.shared_bytes ==
                  static_cast<std::size_t>(shape.table_bytes) +
                      static_cast<std::size_t>(shape.warps * kTraceSlots * shape.slot_bytes));
          }
        }
      }
    }
  }
  CHECK(trace_shape(24, 100, false, sizeof(float), std::size_t(227) << 10).warps == 8);
}

TEST_CASE("pieces of a traceback are short for short sequences and not too many for long ones") {
  CHECK(trace_cut(1000, 10).piece == 64);
  CHECK(20'000'000 / trace_cut(20'000'000, 100).piece <= 4096);
  CHECK(trace_cut(20'000'000, 100).halo < trace_cut(20'000'000, 100).piece);
  CHECK(20'000'000 / trace_cut(20'000'000, 100).piece > 2048);
  CHECK(1'000'000 / trace_cut(1'000'000, 200).piece <= 2048);
  CHECK(trace_cut(100'000, 5000).piece > 2000);
  CHECK(trace_batches(1) == 1);
  CHECK(trace_batches(8192) == kMostTraceBatches);
}
