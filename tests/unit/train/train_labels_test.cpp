// Labels from BED to bins, and the pieces made of them.
#include <functional>

#include "core/error.h"
#include "model/bins.h"
#include "support/catch.h"
#include "support/temp_folder.h"
#include "train/data/label_file.h"
#include "train/data/training_data.h"
#include "unit/train/train_fixture.h"

namespace semicrf {
namespace {

std::vector<LabelledRun> runs_of(const std::vector<LabelRecord>& records, const BinGrid& grid) {
  return label_bins(records, grid);
}

}  // namespace

TEST_CASE("the background fills the gaps between labelled bins", "[train]") {
  using Runs = std::vector<LabelledRun>;
  CHECK(with_background({{2, 4, 0, 7}, {4, 5, 1, 8}, {8, 9, 0, 9}}, 12, 3) ==
        Runs{{0, 2, 3, 7}, {2, 4, 0, 7}, {4, 5, 1, 8}, {5, 8, 3, 8}, {8, 9, 0, 9}, {9, 12, 3, 9}});
  CHECK(with_background({{0, 5, 0, 1}}, 5, 1) == Runs{{0, 5, 0, 1}});
  CHECK(with_background({}, 5, 1) == Runs{{0, 5, 1, 0}});
}

TEST_CASE("a bin has the label that covers most of it", "[train]") {
  const BinGrid grid{0, 100, 10};
  SECTION("whole bins") {
    CHECK(runs_of({{0, 30, 0, 1}, {30, 50, 1, 2}}, grid) ==
          std::vector<LabelledRun>{{0, 3, 0, 1}, {3, 5, 1, 2}});
  }
  SECTION("a bin in two labels goes to the larger part") {
    CHECK(runs_of({{0, 26, 0, 1}, {26, 50, 1, 2}}, grid) ==
          std::vector<LabelledRun>{{0, 3, 0, 1}, {3, 5, 1, 2}});
    CHECK(runs_of({{0, 24, 0, 1}, {24, 50, 1, 2}}, grid) ==
          std::vector<LabelledRun>{{0, 2, 0, 1}, {2, 5, 1, 2}});
  }
  SECTION("ties go to the earlier line, wherever it lies") {
    CHECK(runs_of({{0, 25, 0, 1}, {25, 50, 1, 2}}, grid) ==
          std::vector<LabelledRun>{{0, 3, 0, 1}, {3, 5, 1, 2}});
    CHECK(runs_of({{0, 25, 0, 9}, {25, 50, 1, 2}}, grid) ==
          std::vector<LabelledRun>{{0, 2, 0, 9}, {2, 5, 1, 2}});
  }
  SECTION("two lines of one label count together") {
    // 4 + 3 bases of label 0 against 3 of label 1; the line with 4 has the bin.
    CHECK(runs_of({{0, 4, 0, 1}, {4, 7, 1, 2}, {7, 10, 0, 3}}, grid) ==
          std::vector<LabelledRun>{{0, 1, 0, 1}});
  }
  SECTION("less than half covered: no label") {
    CHECK(runs_of({{0, 4, 0, 1}}, grid).empty());
    CHECK(runs_of({{0, 5, 0, 1}}, grid) == std::vector<LabelledRun>{{0, 1, 0, 1}});
    CHECK(runs_of({{6, 20, 0, 1}, {20, 34, 1, 2}}, grid) ==
          std::vector<LabelledRun>{{1, 2, 0, 1}, {2, 3, 1, 2}});
    CHECK(runs_of({{0, 3, 0, 1}, {5, 8, 1, 2}}, grid) == std::vector<LabelledRun>{{0, 1, 0, 1}});
  }
  SECTION("touching lines of one label stay apart") {
    CHECK(runs_of({{0, 20, 0, 1}, {20, 40, 0, 2}}, grid) ==
          std::vector<LabelledRun>{{0, 2, 0, 1}, {2, 4, 0, 2}});
  }
  SECTION("a part of a chromosome, and a short last bin") {
    CHECK(runs_of({{90, 130, 0, 1}, {130, 300, 1, 2}}, {100, 95, 10}) ==
          std::vector<LabelledRun>{{0, 3, 0, 1}, {3, 10, 1, 2}});
    CHECK(runs_of({{92, 94, 0, 1}}, {0, 95, 10}).empty());
    CHECK(runs_of({{92, 95, 0, 1}}, {0, 95, 10}) == std::vector<LabelledRun>{{9, 10, 0, 1}});
  }
}

TEST_CASE("labels come in the order of the file, with their colours", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder.add("labels.bed",
                                      "#comment\n"
                                      "chr2\t10\t20\tgene\t0\t+\t10\t20\t255,0,16\n"
                                      "chr1\t0\t10\tspace\t0\t.\t0\t10\t1,2,3\n"
                                      "chr2\t0\t10\tspace\t0\t.\t0\t10\t1,2,4\n");
  const LabelFile file = read_label_file({path}, {});
  REQUIRE(file.labels.size() == 2);
  CHECK(file.labels[0].name == "gene");
  CHECK(file.labels[0].color == std::array<std::uint8_t, 3>{255, 0, 16});
  CHECK(file.labels[1].name == "space");
  CHECK(!file.labels[1].color);
  CHECK(file.order == std::vector<std::string>{"chr2", "chr1"});
  CHECK(file.chromosomes.at("chr2").front().line == 4);

  const LabelFile known = read_label_file({path}, {{"space", std::nullopt}, {"gene", std::nullopt}});
  CHECK(known.chromosomes.at("chr1").front().label == 0);
}

TEST_CASE("label files that cannot be used are refused with their lines", "[train]") {
  const test::TempFolder folder;
  const auto refusal = [&](const std::string& content, const std::vector<Label>& known = {}) {
    const std::string path = folder.add("labels.bed", content);
    return test::message_of([&] { read_label_file({path}, known); });
  };
  std::string message = refusal("a\t0\t10\tx\na\t20\t30\ty\na\t5\t25\tx\n");
  CHECK(test::holds(message, "line 3"));
  CHECK(test::holds(message, "line 1"));
  CHECK(test::holds(refusal("a\t0\t10\tx\na\t0\t10\tx\n"), "overlaps"));
  CHECK(test::holds(refusal("a\t0\t10\n"), "line 1"));
  CHECK(test::holds(refusal("# nothing\n"), "no labelled segment"));
  message = refusal("a\t0\t10\tx\na\t10\t20\tz\n", {{"x", std::nullopt}});
  CHECK(test::holds(message, "line 2"));
  CHECK(test::holds(message, "\"z\""));
}

TEST_CASE("windows are cut at true boundaries and keep everything", "[train]") {
  std::mt19937_64 random(3);
  TrainingData data;
  data.num_labels = 3;
  data.num_tracks = 2;
  data.pieces.push_back(test::random_piece(500, 3, 2, 30, random));
  data.pieces.push_back(test::random_piece(7, 3, 2, 30, random));
  const TrainingData windows = cut_into_windows(data, 50);
  CHECK(windows.pieces.size() > 5);
  CHECK(windows.positions() == data.positions());
  CHECK(windows.segments() == data.segments());
  std::vector<float> features;
  std::int64_t at = 0;
  for (const TrainingPiece& piece : windows.pieces) {
    CHECK(piece.segments.front().begin == 0);
    CHECK(piece.segments.back().end == piece.length);
    CHECK(piece.location.first_bin == (at < 500 ? at : at - 500));
    at += piece.length;
    features.insert(features.end(), piece.features.begin(), piece.features.end());
  }
  std::vector<float> expected = data.pieces[0].features;
  expected.insert(expected.end(), data.pieces[1].features.begin(), data.pieces[1].features.end());
  CHECK(features == expected);
}

}  // namespace semicrf
