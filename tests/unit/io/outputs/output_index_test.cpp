#include <htslib/bgzf.h>
#include <htslib/kstring.h>
#include <htslib/tbx.h>

#include <filesystem>
#include <memory>

#include "core/error.h"
#include "io/files/output_file.h"
#include "io/text/text_lines.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using Names = std::vector<std::string>;

void write_bed(const OutputSpec& spec, int lines_per_chromosome, std::int64_t step) {
  OutputFile output(spec);
  output.write("#a header line\n");
  for (const char* chromosome : {"chr2", "chr1"}) {
    for (int i = 0; i < lines_per_chromosome; ++i) {
      output.write(std::string(chromosome) + "\t" + std::to_string(i * step) + "\t" +
                   std::to_string((i + 1) * step) + "\tname" + std::to_string(i) + "\n");
    }
  }
  output.commit();
}

std::vector<std::string> query(const std::string& path, const std::string& index, const std::string& region) {
  const std::unique_ptr<htsFile, int (*)(htsFile*)> file(hts_open(path.c_str(), "r"), hts_close);
  const std::unique_ptr<tbx_t, void (*)(tbx_t*)> table(tbx_index_load2(path.c_str(), index.c_str()),
                                                       tbx_destroy);
  REQUIRE(file != nullptr);
  REQUIRE(table != nullptr);
  const std::unique_ptr<hts_itr_t, void (*)(hts_itr_t*)> iterator(tbx_itr_querys(table.get(), region.c_str()),
                                                                  hts_itr_destroy);
  REQUIRE(iterator != nullptr);
  std::vector<std::string> lines;
  kstring_t line = KS_INITIALIZE;
  while (tbx_itr_next(file.get(), table.get(), iterator.get(), &line) >= 0)
    lines.emplace_back(line.s, line.l);
  ks_free(&line);
  return lines;
}

std::string read_text(const std::string& path) {
  TextLines lines(path);
  std::string text, line;
  while (lines.next(line)) text += line + "\n";
  return text;
}

TEST_CASE("a .gz output is BGZF, the same bytes whenever and however it is written") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  {
    OutputFile whole({folder / "whole.gz"});
    whole.write(text);
    whole.commit();
    OutputFile pieces({folder / "pieces.gz"});
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(1 + at % OutputFile::kMaxReserve, text.size() - at);
      std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), size, pieces.reserve(size));
      pieces.advance(size);
      at += size;
    }
    pieces.commit();
  }
  CHECK(test::read_file(folder / "whole.gz") == test::read_file(folder / "pieces.gz"));
  CHECK(read_text(folder / "whole.gz") == text);
  BGZF* const file = bgzf_open((folder / "whole.gz").c_str(), "r");
  REQUIRE(file != nullptr);
  CHECK(bgzf_compression(file) == 2);
  CHECK(bgzf_check_EOF(file) == 1);
  bgzf_close(file);
}

TEST_CASE("the index answers region queries") {
  const TempFolder folder;
  for (const IndexKind kind : {IndexKind::kTbi, IndexKind::kCsi}) {
    const OutputSpec spec{folder / "out.bed.gz", kind};
    write_bed(spec, 20000, 100);
    CHECK(query(spec.path, index_path(spec), "chr1:1000101-1000300") ==
          Names{"chr1\t1000100\t1000200\tname10001", "chr1\t1000200\t1000300\tname10002"});
    CHECK(query(spec.path, index_path(spec), "chr2:1-50") == Names{"chr2\t0\t100\tname0"});
    CHECK(fs::last_write_time(index_path(spec)) >= fs::last_write_time(spec.path));
  }
  // The .tbi of the first round indexed a file that no longer exists.
  CHECK(folder.names() == Names{"out.bed.gz", "out.bed.gz.csi"});
}

TEST_CASE("a chromosome beyond 512 Mb needs .csi") {
  CHECK(index_kind_for(std::int64_t{1} << 29) == IndexKind::kTbi);
  CHECK(index_kind_for((std::int64_t{1} << 29) + 1) == IndexKind::kCsi);
  const TempFolder folder;
  const OutputSpec spec{folder / "long.bed.gz", IndexKind::kCsi};
  write_bed(spec, 1000, 1000000);
  CHECK(query(spec.path, index_path(spec), "chr1:900000001-900000002") ==
        Names{"chr1\t900000000\t901000000\tname900"});
}

TEST_CASE(
    "a .csi index reaches as far as the longest chromosome, as HTSlib's own does where that reaches so far") {
  CHECK(csi_shape_for(1).min_shift == 14);
  CHECK(csi_shape_for(std::int64_t{1} << 32).min_shift == 14);
  CHECK(csi_shape_for((std::int64_t{1} << 32) + 1).min_shift == 15);
  for (const std::int64_t longest :
       {std::int64_t{5'000'000'000}, std::int64_t{1} << 40, std::int64_t{1} << 61}) {
    CAPTURE(longest);
    CHECK(csi_shape_for(longest).reach() >= longest);
    CHECK(csi_shape_for(longest).reach() < 2 * longest);
    const TempFolder folder;
    const OutputSpec spec{folder / "long.bed.gz", IndexKind::kCsi, longest};
    const std::int64_t step = longest / 1000;
    write_bed(spec, 1000, step);
    const auto number = [&](int i) { return std::to_string(i * step); };
    CHECK(query(spec.path, index_path(spec), "chr1:" + std::to_string(990 * step + 2) + "-" + number(991)) ==
          Names{"chr1\t" + number(990) + "\t" + number(991) + "\tname990"});
    CHECK(query(spec.path, index_path(spec), "chr2").size() == 1000);
  }
  const TempFolder folder;
  const OutputSpec spec{folder / "a.bed.gz", IndexKind::kCsi, 1'000'000'000};
  write_bed(spec, 20'000, 50'000);
  REQUIRE(tbx_index_build3(spec.path.c_str(), (folder / "theirs").c_str(), 14, 0, &tbx_conf_bed) == 0);
  CHECK(test::read_file(index_path(spec)) == test::read_file(folder / "theirs"));
}

TEST_CASE("an index that cannot be built is a WriteError and nothing is left") {
  const TempFolder folder;
  folder.add("out.bed.gz", "old");
  CHECK_THROWS_AS(write_bed({folder / "out.bed.gz", IndexKind::kTbi}, 1000, 1000000), WriteError);
  CHECK(folder.names() == Names{"out.bed.gz"});
  CHECK(test::read_file(folder / "out.bed.gz") == "old");
}

TEST_CASE("a file with header lines only can be indexed") {
  const TempFolder folder;
  const OutputSpec spec{folder / "empty.bed.gz", IndexKind::kTbi};
  write_bed(spec, 0, 1);
  CHECK(fs::exists(index_path(spec)));
  CHECK(read_text(spec.path) == "#a header line\n");
}

TEST_CASE("an index where there can be none is refused") {
  const TempFolder folder;
  for (const std::string& path : {folder / "out.bed", std::string("-"), std::string("/dev/null")}) {
    const std::vector<OutputSpec> outputs = {{path, IndexKind::kTbi}};
    CHECK_THROWS_AS(check_outputs(outputs, {}), UsageError);
    CHECK_THROWS_AS(OutputFile(outputs[0]), std::logic_error);
  }
}

}  // namespace
}  // namespace semicrf
