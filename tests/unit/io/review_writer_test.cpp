#include "io/segments/bed_writer.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using test::TempFolder;

const std::vector<Label> kLabels = {{"a", {{1, 2, 3}}}, {"b", {{4, 5, 6}}}};

// The file of these boundaries of two sequences, the second of which is in two pieces.
std::string review_text(std::int64_t most) {
  const TempFolder folder;
  OutputFile output({folder / "review.bed"});
  ReviewWriter writer(output, kLabels, most);
  writer.begin_piece({"c2", 10, 0, 995, 0});
  writer.add({5, 4, 7, true, 0, 1, 0.25});    // 40 bases
  writer.add({98, 97, 99, true, 1, 0, 0.5});  // 25 bases, cut at the end of the sequence
  writer.begin_piece({"c1", 10, 1000, 3000, 0});
  writer.add({3, 2, 4, false, 1, 1, 1e-9});  // none
  writer.add({8, 8, 11, true, 0, 1, 0.9999});
  writer.begin_piece({"c1", 10, 1000, 3000, 50});
  writer.add({20, 11, 21, true, 0, 1, 0});
  writer.add({60, 59, 69, false, 1, 0, 0.125});
  CHECK(writer.added() == 6);
  CHECK(writer.lines() == std::min<std::int64_t>(6, most));
  writer.finish(9);
  output.commit();
  return test::read_file(folder / "review.bed");
}

const std::string kCounts = "#review boundaries=9 uncertain=6 without-interval=2\n";
const std::vector<std::string> kLines = {
    "c1\t1610\t1720\ta>b\t0\t.\t1700\t1710\t4,5,6\n",   "c1\t1020\t1050\tb>b\t0\t.\t1030\t1040\t4,5,6\n",
    "c1\t2090\t2200\tb>a\t125\t.\t2100\t2110\t1,2,3\n", "c2\t40\t80\ta>b\t250\t.\t50\t60\t4,5,6\n",
    "c2\t970\t995\tb>a\t500\t.\t980\t990\t1,2,3\n",     "c1\t1080\t1120\ta>b\t1000\t.\t1080\t1090\t4,5,6\n"};

TEST_CASE("uncertain boundaries: the least probable first") {
  std::string expected = kCounts;
  for (const std::string& line : kLines) expected += line;
  CHECK(review_text(6) == expected);
  CHECK(review_text(1000) == expected);
}

TEST_CASE("only so many uncertain boundaries are kept as are wanted") {
  std::string expected = kCounts;
  for (std::int64_t most = 1; most < 6; ++most) {
    expected += kLines[static_cast<std::size_t>(most - 1)];
    CHECK(review_text(most) == expected);
  }
}

}  // namespace
}  // namespace semicrf
