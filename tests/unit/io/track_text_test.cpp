#include "io/tracks/track_text.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "io/files/kept_input.h"
#include "io/files/mapped_file.h"
#include "support/catch.h"
#include "support/messages.h"
#include "support/scratch_file.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

void write(const ScratchFile& file, const std::string& text) {
  file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// "format columns: rows" of the text, rows as chrom:begin-end=value,value with - for no value.
std::string read(const std::string& content, const TextSample& sample = {}, std::int64_t bin_size = 200) {
  const ScratchFile file;
  write(file, content);
  const TrackText text = inspect_track_text(file.path());
  std::string said = describe(text.format);
  for (const std::string& column : text.columns) said += " " + column;
  said += ":";
  std::vector<std::size_t> columns(text.columns.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  const auto reader = open_track_text(text, columns, sample, bin_size);
  for (TrackRow row; reader->next(row);) {
    said += " " + row.chromosome + ":" + std::to_string(row.begin) + "-" + std::to_string(row.end);
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      said += i == 0 ? "=" : ",";
      said += std::isnan(row.values[i]) ? "-" : std::to_string(std::lround(100 * row.values[i]));
    }
  }
  return said;
}

std::string refusal(const std::string& content, const TextSample& sample = {}) {
  return message_of([&] { read(content, sample); });
}

const std::string kVcfNames = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT";

// A file of the samples N and T whose records have these fields: "c 11 A G . GT:AD 0/1:5,6 0/1:7,8", all but
// ID, QUAL and FILTER.
std::string vcf(const std::vector<std::string>& records) {
  std::string text = "##fileformat=VCFv4.2\n##contig=<ID=c>\n" + kVcfNames + "\tN\tT\n";
  for (const std::string& record : records) {
    std::istringstream fields(record);
    std::string chromosome, position, reference, alternative, info, format, one;
    fields >> chromosome >> position >> reference >> alternative >> info >> format;
    text += chromosome + "\t" + position + "\t.\t" + reference + "\t" + alternative + "\t.\t.\t" + info +
            "\t" + format;
    while (fields >> one) text += "\t" + one;
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("of VCF, tracks are the reads of both alleles where a sample has two bases") {
  const std::vector<std::string> records = {
      "c 11 A G . GT:DP:AD 0/1:11:5,6 0/0:15:7,8",  // heterozygous in N alone
      "c 12 A C SOMATIC GT:AD 0/1:1,2 0|1:3,4",     // SOMATIC: not where T speaks for itself
      "c 250 G T . AD:GT 9,1:1|0 2,0:0/1",          // another order
      "c 260 G T . AD:GT 9,9:0/1 4,6:0/1",          // deeper, in one bin of 200 bases with the last
      "c 270 GA T . AD:GT 9,9:0/1 40,6:0/1",        // no single base
      "c 280 G T,A . AD:GT 9,9,1:0/1 40,6,1:0/1",   // two others
      "c 290 G T . GT 0/1 0/1",                     // no reads
      "c 291 G T . GT:AD 0/1:.,. 0/1",              // none known
      "c 292 G T . GT:AD 0/1:0,0 0/1:0,0",
      "c 293 G <DEL> . GT:AD 0/1:3,3 0/1:3,3",
      "d 1 C T . GT:AD 0/1:3,4 1/1:0,9"};
  CHECK(read(vcf(records), {"T", ""}) == "VCF alt depth: c:200-400=600,1000");
  CHECK(read(vcf(records), {"T", "N"}) ==
        "VCF alt depth: c:0-200=800,1500 c:200-400=600,1000 d:0-200=900,900");
  CHECK(read(vcf(records), {"N", ""}, 1) ==
        "VCF alt depth: c:10-11=600,1100 c:249-250=100,1000 c:259-260=900,1800 d:0-1=400,700");
  const auto refused = [](const std::string& record) { return refusal(vcf({record}), {"T", ""}); };
  CHECK(holds(refused("c 11 A G . GT:AD 0/1:5,6"), "10 columns, expected 11"));
  CHECK(holds(refused("c x A G . GT:AD 0/1:5,6 0/1:5,6"), "the position is 'x'"));
  CHECK(holds(refused("c 11 A G . GT:AD 0/1:5,6 0/1:5"), "AD is '5', expected the reads of two"));
  CHECK(holds(refused("c 11 A G . GT:AD 0/1:5,6 0/1:5,-1"), "AD has '-1'"));
  CHECK(holds(refused("c 11 A G . GT:AD 0/1:5,6 1/1:5,6"), "no heterozygous position"));
  CHECK(
      holds(refusal(vcf({"c 11 A G . GT:AD 0/1:5,6 0/1:5,6", "c 10 A G . GT:AD 0/1:5,6 0/1:5,6"}), {"T", ""}),
            "position 10 comes behind 11"));
  CHECK(holds(refusal("##fileformat=VCFv4.2\nc\t1\n"), "without the names of samples"));
  CHECK(holds(refusal("##fileformat=VCFv4.2\n"), "without the names of samples"));
  CHECK(holds(refusal("##fileformat=VCFv4.2\n" + kVcfNames + "\n"), "without the names of samples"));
  CHECK(holds(refusal("##fileformat=VCFv4.2\n" + kVcfNames + "\tA\tA\n"), "'A' comes twice"));
}

TEST_CASE("what a track as text is, is told from its first lines") {
  CHECK(read("chr1\t0\t10\t1.5\nchr1\t10\t20\t-2\nchr2\t0\t5\t0\n") ==
        "bedGraph : chr1:0-10=150 chr1:10-20=-200 chr2:0-5=0");
  CHECK(read("track type=bedGraph\n#x\nchr1 0 10 1\n") == "bedGraph : chr1:0-10=100");
  CHECK(read("fixedStep chrom=c start=11 step=5\n1\n2\n") == "wig : c:10-11=100 c:15-16=200");
  CHECK(read("fixedStep chrom=c start=11 step=5 span=5\n1\nvariableStep chrom=d\n3 4\n7\t5\n") ==
        "wig : c:10-15=100 d:2-3=400 d:6-7=500");
  CHECK(read("chrom\tstart\tend\tname\tA\tB\nc\t0\t5\tx\t1\tNA\nc\t5\t9\ty\t.\t2\n") ==
        "a table with positions A B: c:0-5=100,- c:5-9=-,200");
  CHECK(read("#'chr'\t'start'\t'end'\t'a.bw'\nc\t0\t5\tnan\n") == "a table with positions a.bw: c:0-5=-");
  CHECK(read("chr\tstart\tA\nc\t400\t1\n") == "a table with positions A: c:400-600=100");
  CHECK(read("contig\tpos\tA\nc\t400\t1\n") == "a table with positions A: c:399-400=100");
  CHECK(read("c\t0\t5\tm\t10\t+\t0\t5\n") == "a table with positions 5 7 8: c:0-5=1000,0,500");
  CHECK(read("K562\tchr1\nA\tB\n0\t1\n2\t0\n") ==
        "binarised text of ChromHMM A B: chr1:0-200=0,100 chr1:200-400=-,0");
}

TEST_CASE("tracks as text that are none are refused with the line") {
  CHECK(holds(refusal("chr1\t0\t10\t1\nchr1\t5\t20\t2\n"), "line 2: starts at base 5"));
  CHECK(holds(refusal("c\t0\t1\t1\nd\t0\t1\t1\nc\t5\t6\t1\n"), "line 3: chromosome c comes a second time"));
  CHECK(holds(refusal("c\t0\t1\tnan\nc\t2\t3\t1\n"), "line 1: the value is 'nan'"));
  CHECK(holds(refusal("c\t0\t1\t1\nc\t2\t3\n"), "line 2: found 3 columns"));
  CHECK(holds(refusal("fixedStep chrom=c start=0\n1\n"), "start is '0'"));
  CHECK(holds(refusal("variableStep chrom=c step=3\n1\n"), "unknown word 'step=3'"));
  CHECK(holds(refusal("A\tchr1\nm\n0\n3\n"), "line 4: the value is '3', expected 0, 1 or 2"));
  CHECK(holds(refusal(">seq\nACGT\n"), "FASTA"));
  CHECK(holds(refusal("name\tvalue\na\t1\n"), "is no track"));
  CHECK(holds(refusal("name\tvalue\na\tb\nc\td\n"), "is no track"));
}

namespace {

// A line of modkit: 18 columns.
std::string modkit(std::int64_t begin, const std::string& code, int calls, int modified) {
  const std::string place = std::to_string(begin) + "\t" + std::to_string(begin + 1);
  return "c\t" + place + "\t" + code + "\t" + std::to_string(calls) + "\t+\t" + place + "\t255,0,0\t" +
         std::to_string(calls) + "\t" +
         std::to_string(calls > 0 ? std::min(100.0, 100.0 * modified / calls) : 0) + "\t" +
         std::to_string(modified) + "\t" + std::to_string(calls - modified) + "\t0\t0\t0\t0\t0\n";
}

std::string encode(const std::string& place, const std::string& calls, const std::string& percent) {
  return "c\t" + place + "\tn\t9\t-\t" + place + "\t0\t" + calls + "\t" + percent + "\n";
}

}  // namespace

TEST_CASE("calls of methylation are summed by bin") {
  // Bins of 200 bases: sites 199 and 200 are in two of them, calls of both strands are added.
  CHECK(read(encode("10\t11", "4", "75") + encode("11\t12", "3", "33") + encode("199\t200", "10", "0") +
             encode("200\t201", "8", "100") + encode("650\t651", "0", "0")) ==
        "bedMethyl methylated total: c:0-200=400,1700 c:200-400=800,800");
  CHECK(read(modkit(5, "m", 9, 4) + modkit(5, "h", 9, 2) + modkit(7, "m,CG,0", 5, 5) +
             modkit(300, "27551", 2, 1) + modkit(500, "a", 7, 7)) ==
        "bedMethyl methylated total: c:0-200=900,1400 c:200-400=100,200");
  // Older files of modkit have blanks behind column 10.
  std::string mixed = modkit(5, "m", 9, 4);
  for (std::size_t i = 0, tab = 0; i < mixed.size(); ++i)
    if (mixed[i] == '\t' && ++tab > 9) mixed[i] = ' ';
  CHECK(read(mixed) == "bedMethyl methylated total: c:0-200=400,900");
  // Start and end count from 1 in .cov, start from 0 in .zero.cov.
  CHECK(read("c\t200\t200\t25\t1\t3\nc\t201\t201\t100.0\t2\t0\nd\t1\t1\t0\t0\t5\n") ==
        "coverage of Bismark methylated total: c:0-200=100,400 c:200-400=200,200 d:0-200=0,500");
  CHECK(read("c\t199\t200\t25\t1\t3\nc\t200\t201\t100\t2\t0\n") ==
        "coverage of Bismark methylated total: c:0-200=100,400 c:200-400=200,200");
  // What only looks similar is still a table with numbers for names.
  CHECK(holds(read("c\t200\t201\t25\t1\t30\n"), "a table with positions 4 5 6"));
  CHECK(holds(read("c\t0\t500\tn\t9\t-\t0\t500\t0\t1\t100\t0\n"), "a table with positions"));  // BED12
}

TEST_CASE("damaged calls of methylation are refused with the line") {
  const std::string good = encode("10\t11", "4", "75");
  CHECK(holds(refusal(good + good + good + encode("9\t10", "4", "75")),
              "line 4: base 9 (from 0) comes behind base 10"));
  const std::string three = good + good + good;  // so many lines say what a file is
  CHECK(holds(refusal(three + encode("20\t21", "-4", "75")), "line 4: the coverage is '-4'"));
  CHECK(holds(refusal(three + encode("20\t21", "4.5", "75")), "line 4: the coverage is '4.5'"));
  CHECK(holds(refusal(three + encode("20\t21", "4", "101")), "line 4: the percentage is '101'"));
  CHECK(holds(refusal(three + encode("20\t20", "4", "10")), "line 4: start 20 must be less than end 20"));
  CHECK(holds(refusal(three + encode("9223372036854775800\t9223372036854775801", "4", "10")),
              "line 4: start is"));
  CHECK(holds(refusal(three + "c\t20\t21\n"), "line 4: found 3 columns, expected 11"));
  CHECK(
      holds(refusal(three + "d\t1\t2" + good.substr(7) + good), "line 5: chromosome c comes a second time"));
  const std::string calls = modkit(5, "m", 9, 4);
  CHECK(holds(refusal(calls + calls + calls + modkit(8, "m", 4, 5)), "line 4: 5 modified calls of 4"));
  const std::string site = "c\t7\t7\t25\t1\t3\n", sites = site + site + site;
  CHECK(holds(refusal(sites + "c\t9\t10\t25\t1\t3\n"), "line 4: start 9 and end 10 are no site"));
  CHECK(holds(refusal(sites + "c\t9\t9\t25\tone\t3\n"), "line 4: the number of methylated calls is 'one'"));
  CHECK(holds(refusal(sites + "c\t9\t9\tx\t1\t3\n"), "line 4: the percentage is 'x'"));
  CHECK(holds(refusal(sites + "c\t9\t9\t25\t1\t3000000000\n"),
              "line 4: the number of other calls is '3000000000'"));
}

TEST_CASE("a pipe is kept, so that it can be read again and mapped") {
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "c\t0\t1\t1\n", 8) == 8);
  ::close(ends[1]);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  CHECK(path_of_kept(path).empty());
  CHECK(MappedFile(path).size() == 8);
  CHECK(MappedFile(path).size() == 8);
  CHECK(!path_of_kept(path).empty());
  CHECK(inspect_track_text(path).format == TrackTextFormat::kBedGraph);
  CHECK(kept_input("/dev/null") == "/dev/null");
  ::close(ends[0]);
}
