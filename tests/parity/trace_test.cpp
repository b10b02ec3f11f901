// The traceback from wherever a path may stand, not only from the sequence's end: windows to the right leave
// it in the middle of segments and of their tails. Most messages of a chunk are not kept, so that it goes
// along the known path of the chunk, or computes it again.
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"
#include "parity/all_engines.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/slow_build.h"
#include "support/truth/follow_path.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

struct Traced {
  std::vector<Segment> reversed;
  TraceCursor::Phase phase;
  bool operator==(const Traced&) const = default;
};

Traced trace_from(ViterbiMessages& messages, TraceCursor cursor) {
  Traced traced;
  follow(messages, cursor, traced.reversed);
  traced.phase = cursor.phase;
  return traced;
}

// No label follows itself: else two segments of one label that change places would be a tie.
ModelCase case_without_ties(CaseKind kind, std::uint64_t seed) {
  ModelCase sample = make_case(kind, {of_long_test(20'000), 7, 3}, seed);
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  for (std::size_t c = 0; c < labels; ++c) sample.model.transition[c * (labels + 1)] = kNegativeInfinity;
  return sample;
}

// A cursor at a random boundary. In a tail: of a label that has one, and so far from the sequence's start
// that a segment can be that long.
TraceCursor random_cursor(const ModelCase& sample, std::mt19937_64& random) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  TraceCursor cursor;
  cursor.label = static_cast<int>(below(sample.model.num_labels));
  const bool in_tail =
      sample.model.duration_score(sample.model.max_duration + 1, cursor.label) > kNegativeInfinity &&
      below(2) == 0;
  const std::int64_t least = in_tail ? std::int64_t{sample.model.max_duration} + 2 : 1;
  cursor.phase = in_tail ? TraceCursor::Phase::kInTail : TraceCursor::Phase::kFindStart;
  cursor.boundary = least + below(sample.length - least + 1);
  cursor.segment_end = cursor.boundary + (in_tail ? below(5) : 0);
  return cursor;
}

}  // namespace

TEST_CASE("paths from any boundary, label and tail equal the reference's") {
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kTails, CaseKind::kLongTail, CaseKind::kBoundaryScores}) {
    for (const std::uint64_t seed : {31, 32, 33, 34}) {
      const ModelCase sample = case_without_ties(kind, seed);
      INFO(sample.description);
      const auto messages_of = [&](Engine& engine) {
        return engine.viterbi(sample.whole(), {0, sample.length}, nullptr, true).messages;
      };
      const auto reference = make_engine(all_engines().front(), sample.model);
      const auto expected = messages_of(*reference);
      std::vector<EngineOptions> engines = cpu_engines();
      for (const EngineOptions& options : plain_engines()) engines.push_back(options);
      for (const EngineOptions& options : engines) {
        if (options.precision != Precision::kDouble) continue;  // float may take another path that is as good
        const auto engine = make_engine(options, sample.model);
        const auto messages = messages_of(*engine);
        INFO(engine->description());
        std::mt19937_64 random(seed);
        for (int i = 0; i < 60; ++i) {
          const TraceCursor cursor = random_cursor(sample, random);
          INFO("boundary " << cursor.boundary << ", label " << cursor.label
                           << ", in a tail: " << (cursor.phase == TraceCursor::Phase::kInTail));
          CHECK(trace_from(*messages, cursor) == trace_from(*expected, cursor));
        }
      }
    }
  }
}
