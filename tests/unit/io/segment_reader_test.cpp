#include "io/segments/segment_reader.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

// "sequence begin end label line;" of every record.
std::string records(const std::string& path, const LabelTimes& times) {
  SegmentReader reader(path, times);
  std::string text;
  for (BedRecord record; reader.next(record);)
    text += record.chromosome + " " + std::to_string(record.begin) + " " + std::to_string(record.end) + " " +
            record.name + " " + std::to_string(record.line) + ";";
  return text;
}

}  // namespace

TEST_CASE("tables of times become positions at the nearest bins") {
  const TempFolder folder;
  LabelTimes times;
  times.rate = 1000;
  times.bin_size = 10;
  const std::string path =
      folder.add("utt.tsv", "# x\n0 0.0149 a\n0.015\t0.0251\tb b\n0.0251 0.026 c\n0.1 0.2 a\n");
  CHECK(records(path, times) == "utt 0 10 a 2;utt 20 30 b b 3;utt 100 200 a 5;");
  CHECK(SegmentReader(path, times).vanished() == 1);
  times.sequence = "other";
  CHECK(records(path, times).starts_with("other 0 10 a 2;"));
}

TEST_CASE("BED stays BED, and needs no rate") {
  const TempFolder folder;
  CHECK(records(folder.add("a.bed", "1\t0\t7\ta\n1 7 9 b\n"), {}) == "1 0 7 a 1;1 7 9 b 2;");
  CHECK(records(folder.add("b.bed", "1 5 7\n"), {}) == "1 5 7  1;");
  CHECK_THROWS_AS(records(folder / "absent.bed", {}), ReadError);
  CHECK_THROWS_AS(records(folder.add("c.tsv", "0 0.5 a\n"), {}), UsageError);
}

TEST_CASE("names of sequences are taken from the argument, not from existing files") {
  const TempFolder folder;
  std::string argument = "utt1=x.tsv";
  CHECK(take_sequence_name(argument) == "utt1");
  CHECK(argument == "x.tsv");
  argument = folder.add("a=b.tsv", "");
  const std::string before = argument;
  CHECK(take_sequence_name(argument).empty());
  CHECK(argument == before);
}
