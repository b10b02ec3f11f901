// Blocks and fallbacks of a run, and the warning about them.
#include "runs/run_report.h"

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "analyses/posteriors/posteriors.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "core/error.h"
#include "model/scores/score_source.h"
#include "runs/piece_setup.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("a piece is counted in blocks of 16 positions") {
  CHECK(blocks_of(1) == 1);
  CHECK(blocks_of(16) == 1);
  CHECK(blocks_of(17) == 2);
  CHECK(blocks_of(1'000'000) == 62'500);
}

TEST_CASE("blocks are added up over pieces, passes and directions") {
  AnalysisList analyses;
  analyses.add<ViterbiDecoding>();
  analyses.add<Posteriors>(PosteriorRequest{});
  PieceResult piece;
  piece.emplace<ViterbiResult>().fallbacks = 2;
  piece.emplace<PosteriorResult>().fallbacks = 3;
  const ChainModel model;
  SequenceReport sequence;
  sequence.add(analyses, {piece, {}, 100, model});
  CHECK(sequence.stats.sweeps->blocks == std::int64_t{3} * 7);
  CHECK(sequence.stats.sweeps->fallbacks == 5);
  sequence.add(analyses, {piece, {}, 16, model});
  CHECK(sequence.stats.sweeps->blocks == std::int64_t{3} * 8);
  CHECK(sequence.stats.sweeps->fallbacks == 10);
}

TEST_CASE("more than a tenth of the blocks on the exact path is worth a warning") {
  CHECK(!exact_blocks_warning(1000, 10'000));
  const auto warning = exact_blocks_warning(1001, 10'000);
  REQUIRE(warning);
  CHECK(warning->code == "exact-blocks");
  CHECK(warning->message.starts_with("1001 fallbacks in 10000 blocks of 16 bins (0.1 per block)"));
  CHECK(warning->message.find("-inf") != std::string::npos);
  // Small runs are never slow.
  CHECK(!exact_blocks_warning(999, 999));
  CHECK(exact_blocks_warning(1000, 1000));
  CHECK(!exact_blocks_warning(0, 0));
}

TEST_CASE("a run warns of exact blocks once, over all its sequences") {
  AnalysisList analyses;
  analyses.add<ViterbiDecoding>();
  PieceResult piece;
  piece.emplace<ViterbiResult>().fallbacks = 500;
  const ChainModel model;
  RunReport report;
  for (int i = 0; i < 3; ++i) report.add_sequence().add(analyses, {piece, {}, 16'000, model});
  report.warn_of_exact_blocks();
  const Stats stats = report.finish("test", "none");
  REQUIRE(stats.warnings.size() == 1);
  CHECK(stats.warnings.front().message.starts_with("1500 fallbacks in 3000 blocks"));
}

TEST_CASE("posteriors that are no numbers do not reach an output") {
  BinLocation location;
  location.chromosome = "chr2";
  location.bin_size = 10;
  location.limit = 3000;
  location.first_bin = 100;
  std::vector<double> boundary(100, 0.5), labels(300, 0.25);
  PosteriorBlock block;
  block.range = {40, 140};
  block.boundary = boundary;
  block.labels = labels;
  ChainModel model;
  model.num_labels = 3;
  std::vector<float> scores(3 * 200, 1.5F);
  const auto open = [&]() -> std::unique_ptr<ScoreSource> {
    ScoreWindow whole;
    whole.end = whole.length = 200;
    whole.emissions.f32 = scores.data();
    return std::make_unique<MemoryScoreSource>(whole, model.num_labels);
  };
  const auto check = [&] { check_posteriors(block, location, model, open); };
  CHECK_NOTHROW(check());
  labels[3 * 7 + 1] = std::nan("");
  CHECK_THROWS_WITH(check(), "chr2:1471-1480: a posterior is nan where it should be a probability");
  labels[3 * 7 + 1] = 0.25;
  boundary[99] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(check(), "chr2:2391-2400: a posterior is inf where it should be a probability");
  CHECK_THROWS_AS(check(), std::logic_error);
  // Beside a score of 1e30 it is the input that is wrong.
  scores[5] = -1e30F;
  CHECK_THROWS_AS(check(), InputError);
}
