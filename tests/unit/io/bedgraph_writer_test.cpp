#include <random>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "io/text/bedgraph.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using test::TempFolder;

struct Piece {
  Piece(BinLocation where, std::vector<double> what) : location(std::move(where)), values(std::move(what)) {}
  BinLocation location;
  std::vector<double> values;
};

// Writes the pieces, values in portions of `portion`, and returns the file.
std::string bedgraph_text(const std::vector<Piece>& pieces, BedGraphOptions options,
                          std::size_t portion = 1000) {
  const TempFolder folder;
  OutputFile output({folder / "out.bedgraph"});
  BedGraphWriter writer(output, options);
  for (const Piece& piece : pieces) {
    writer.begin_piece(piece.location);
    for (std::size_t at = 0; at < piece.values.size(); at += portion) {
      writer.add(piece.values.data() + at, std::min(portion, piece.values.size() - at));
    }
    writer.end_piece();
  }
  output.commit();
  return test::read_file(folder / "out.bedgraph");
}

TEST_CASE("equal printed values share a line, the last bin is cut") {
  const Piece piece(BinLocation{"chr1", 10, 0, 57, 0}, {1, 0.25, 0.2500001, 0.2500009, 0, 0});
  CHECK(bedgraph_text({piece}, {}) ==
        "chr1\t0\t10\t1.000000\n"
        "chr1\t10\t30\t0.250000\n"
        "chr1\t30\t40\t0.250001\n"
        "chr1\t40\t57\t0.000000\n");
  CHECK(bedgraph_text({piece}, {2, 0}) ==
        "chr1\t0\t10\t1.00\n"
        "chr1\t10\t40\t0.25\n"
        "chr1\t40\t57\t0.00\n");
}

TEST_CASE("threads that print give the same bytes") {
  std::mt19937 random(5);
  // Few different values, so that runs of all lengths cross the parts of threads, and constant pieces.
  for (const unsigned kinds : {1u, 2u, 3u, 1000u}) {
    std::vector<Piece> pieces;
    std::int64_t first = 0;
    for (const std::size_t bins : {100'000u, 1u, 32'768u, 32'767u, 70'001u}) {
      std::vector<double> values(bins);
      double value = 0;
      for (double& one : values)
        one = value = random() % 5 < 3 ? value : static_cast<double>(random() % kinds) / 1000;
      pieces.emplace_back(BinLocation{"chr7", 10, 0, 3'000'000, first}, values);
      first += static_cast<std::int64_t>(bins);
    }
    const std::string expected = bedgraph_text(pieces, {}, 1000);
    CHECK(expected.size() > 100);
    for (const int threads : {1, 2, 5})
      for (const std::size_t portion : {40'000u, 200'000u})
        CHECK((bedgraph_text(pieces, {6, 0, threads}, portion) == expected));
  }
}

TEST_CASE("a full disk is an error from printing threads, too") {
  OutputFile output({"/dev/full"});
  BedGraphWriter writer(output, {6, 0, 3});
  std::vector<double> values(2'000'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 7) / 8;
  writer.begin_piece({"c", 10, 0, 100'000'000, 0});
  CHECK_THROWS_AS(writer.add(values.data(), values.size()), WriteError);
}

TEST_CASE("runs end where a piece ends") {
  const Piece left(BinLocation{"c", 10, 0, 1000, 0}, {0.5, 0.5});
  const Piece touching(BinLocation{"c", 10, 0, 1000, 2}, {0.5});
  const Piece apart(BinLocation{"c", 10, 0, 1000, 90}, {0.5, 0.5});
  CHECK(bedgraph_text({left, touching, apart}, {1, 0}) ==
        "c\t0\t20\t0.5\n"
        "c\t20\t30\t0.5\n"
        "c\t900\t920\t0.5\n");
}

TEST_CASE("small values are dropped and their mass is counted") {
  const TempFolder folder;
  OutputFile output({folder / "out"});
  BedGraphWriter writer(output, {3, 0.01});
  const std::vector<double> values = {1, 0.001, 0.002, 0.01, 0.0099, 0.01};
  writer.begin_piece({"c", 1, 0, 6, 0});
  writer.add(values.data(), values.size());
  writer.end_piece();
  output.commit();
  CHECK(test::read_file(folder / "out") == "c\t0\t1\t1.000\nc\t3\t4\t0.010\nc\t5\t6\t0.010\n");
  CHECK(writer.dropped_bins() == 3);
  CHECK(writer.dropped_mass() == Approx(0.0129));
  CHECK(writer.lines() == 3);
}

TEST_CASE("a column of a matrix is written with its stride") {
  const TempFolder folder;
  OutputFile output({folder / "out"});
  BedGraphWriter writer(output, {1, 0});
  const std::vector<double> matrix = {0.1, 0.9, 0.2, 0.8};
  writer.begin_piece({"c", 5, 0, 10, 0});
  writer.add(matrix.data() + 1, 2, 2);
  writer.end_piece();
  output.commit();
  CHECK(test::read_file(folder / "out") == "c\t0\t5\t0.9\nc\t5\t10\t0.8\n");
}

TEST_CASE("the lines tile the piece and carry every value, however it was fed") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  Piece piece(BinLocation{"chr7", 3, 6, 6 + 3 * 5000 - 1, 0}, {});
  for (int i = 0; i < 5000; ++i) piece.values.push_back(static_cast<double>(random() % 4) / 3);
  const std::string text = bedgraph_text({piece}, {});
  CHECK(bedgraph_text({piece}, {}, 1) == text);
  CHECK(bedgraph_text({piece}, {}, 7) == text);
  std::istringstream lines(text);
  std::string chromosome, previous;
  std::int64_t begin = 0, end = 0, expected_begin = 6;
  std::string value;
  while (lines >> chromosome >> begin >> end >> value) {
    REQUIRE(begin == expected_begin);
    REQUIRE(end > begin);
    REQUIRE(value != previous);
    for (std::int64_t base = begin; base < end; base += 3) {
      REQUIRE(std::stod(value) ==
              Approx(piece.values[static_cast<std::size_t>((base - 6) / 3)]).margin(5e-7));
    }
    expected_begin = end;
    previous = value;
  }
  CHECK(expected_begin == piece.location.limit);
}

TEST_CASE("the number of decimals is checked") {
  const TempFolder folder;
  OutputFile output({folder / "out"});
  CHECK_THROWS_AS(BedGraphWriter(output, {-1, 0}), UsageError);
  CHECK_THROWS_AS(BedGraphWriter(output, {16, 0}), UsageError);
}

}  // namespace
}  // namespace semicrf
