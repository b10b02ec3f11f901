#include "io/segments/bed_writer.h"

#include <set>

#include "io/text/palette.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using test::TempFolder;

const std::vector<Label> kLabels = {{"quiet", std::nullopt}, {"Strong promoter", {{255, 0, 16}}}};

// Writes one piece and returns the file.
std::string bed_text(const BinLocation& location, const std::vector<Segment>& segments,
                     const std::vector<SegmentPosteriors>& support, BedOptions options) {
  const TempFolder folder;
  OutputFile output({folder / "out.bed"});
  BedWriter writer(output, kLabels, options);
  writer.begin_piece(location);
  for (std::size_t i = 0; i < segments.size(); ++i)
    writer.add(segments[i], support.empty() ? nullptr : &support[i]);
  writer.end_piece();
  output.commit();
  const std::string text = test::read_file(folder / "out.bed");
  CHECK(writer.lines() == std::count(text.begin(), text.end(), '\n'));
  return text;
}

TEST_CASE("segments are BED9, the last one cut at the chromosome's end") {
  const BinLocation location{"chr1", 200, 0, 1950, 5};
  CHECK(bed_text(location, {{0, 2, 1}, {2, 5, 0}}, {}, {}) ==
        "chr1\t1000\t1400\tStrong promoter\t0\t.\t1000\t1400\t255,0,16\n"
        "chr1\t1400\t1950\tquiet\t0\t.\t1400\t1950\t213,94,0\n");
}

TEST_CASE("an array of a part of a chromosome starts at its origin") {
  const BinLocation location{"chr1", 10, 995, 1030, 1};
  CHECK(bed_text(location, {{0, 3, 0}}, {}, {}) == "chr1\t1005\t1030\tquiet\t0\t.\t1005\t1030\t213,94,0\n");
}

TEST_CASE("scores and extra columns come from the posteriors") {
  const BinLocation location{"c", 1, 0, 100, 0};
  const std::vector<SegmentPosteriors> support = {{0.98765, 1, 1e-9, {}},
                                                  {1.0000001, 0.123456789, 0.25, 0.0625}};
  const std::vector<Segment> segments = {{0, 1, 0}, {1, 3, 1}};
  CHECK(bed_text(location, segments, support, {}) ==
        "c\t0\t1\tquiet\t988\t.\t0\t1\t213,94,0\n"
        "c\t1\t3\tStrong promoter\t1000\t.\t1\t3\t255,0,16\n");
  CHECK(bed_text(location, segments, support, {true, false}) ==
        "c\t0\t1\tquiet\t988\t.\t0\t1\t213,94,0\t.\t1\t1e-09\n"
        "c\t1\t3\tStrong promoter\t1000\t.\t1\t3\t255,0,16\t0.0625\t0.123457\t0.25\n");
  CHECK_THROWS_AS(bed_text(location, segments, {}, {true, false}), std::logic_error);
}

TEST_CASE("merge-adjacent joins touching segments of one label, within a piece only") {
  const BinLocation location{"c", 10, 0, 1000, 0};
  const std::vector<Segment> segments = {{0, 1, 0}, {1, 4, 0}, {4, 5, 1}, {5, 6, 0}};
  const std::vector<SegmentPosteriors> support = {
      {0.2, 0.3, 0.4, 0.1}, {0.6, 0.5, 0.7, 0.4}, {1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.25}};
  const BedOptions merge{true, true};
  CHECK(bed_text(location, segments, support, merge) ==
        "c\t0\t40\tquiet\t500\t.\t0\t40\t213,94,0\t.\t0.3\t0.7\n"
        "c\t40\t50\tStrong promoter\t1000\t.\t40\t50\t255,0,16\t1\t1\t1\n"
        "c\t50\t60\tquiet\t500\t.\t50\t60\t213,94,0\t0.25\t0.5\t0.5\n");
  CHECK(bed_text(location, {{0, 1, 0}, {1, 4, 0}}, {}, {}) ==
        "c\t0\t10\tquiet\t0\t.\t0\t10\t213,94,0\n"
        "c\t10\t40\tquiet\t0\t.\t10\t40\t213,94,0\n");

  const TempFolder folder;
  OutputFile output({folder / "out.bed"});
  BedWriter writer(output, kLabels, {false, true});
  for (const std::int64_t first_bin : {0, 4}) {
    writer.begin_piece({"c", 10, 0, 1000, first_bin});
    writer.add({0, 4, 0}, nullptr);
    writer.end_piece();
  }
  CHECK(writer.lines() == 2);
}

TEST_CASE("the palette has 24 different colours, then repeats") {
  std::set<std::array<std::uint8_t, 3>> colors;
  for (std::size_t i = 0; i < 24; ++i) colors.insert(palette_color(i));
  CHECK(colors.size() == 24);
  CHECK(palette_color(24) == palette_color(0));
}

}  // namespace
}  // namespace semicrf
