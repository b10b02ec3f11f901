#include "io/json/stats_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "io/text/provenance_header.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using nlohmann::json;
using test::TempFolder;

Stats example() {
  Stats stats;
  stats.version = "1.2.3";
  stats.device = "cpu";
  stats.timings = {{"read", 0.25}, {"compute", 1.0 / 3}};
  stats.peak_memory = 123456789;
  stats.warnings = {{"masked-mean", "a \"quoted\"\nline"}};
  SequenceStats full;
  full.name = "chr1";
  full.length = 1000;
  full.covered = 9;
  full.missing = 1;
  full.pieces = 2;
  full.baseline = {0.1, -1.0 / 3};
  full.segments = 4;
  full.log_partition = -12345.678901234567;
  full.viterbi_score = std::nan("");
  full.boundary_entropy = 1;
  full.position_entropy = 2;
  full.max_normalization_error = 1e-9;
  full.sweeps = {126, 0, 3};
  SequenceStats bare;
  bare.name = "not utf-8 \xff";
  stats.sequences = {full, bare};
  return stats;
}

TEST_CASE("the statistics document has every field, in order and to the last digit") {
  const json document = json::parse(stats_text(example()));
  CHECK(document["format"] == "semicrf-stats");
  CHECK(document["format_version"] == "1.0");
  CHECK(document["version"] == "1.2.3");
  CHECK(document["device"] == "cpu");
  CHECK(document["timings"]["compute"].get<double>() == 1.0 / 3);
  CHECK(document["peak_memory"] == 123456789);
  CHECK(document["warnings"][0]["code"] == "masked-mean");
  CHECK(document["warnings"][0]["message"] == "a \"quoted\"\nline");
  const json& full = document["sequences"][0];
  CHECK(full["length"] == 1000);
  CHECK(full["covered"] == 9);
  CHECK(full["missing"] == 1);
  CHECK(full["pieces"] == 2);
  CHECK(full["baseline"][1].get<double>() == -1.0 / 3);
  CHECK(full["segments"] == 4);
  CHECK(full["log_partition"].get<double>() == -12345.678901234567);
  CHECK(full["viterbi_score"].is_null());
  CHECK(full["max_normalization_error"].get<double>() == 1e-9);
  CHECK(full["blocks"] == 126);
  CHECK(full["fallbacks"] == 0);
  CHECK(full["repaired_chunks"] == 3);
  CHECK(stats_text(example()).find("\"format\"") < stats_text(example()).find("\"sequences\""));
}

TEST_CASE("what was not computed is absent") {
  const json document = json::parse(stats_text(example()));
  const json& bare = document["sequences"][1];
  CHECK(bare.size() == 5);
  Stats stats = example();
  stats.peak_memory.reset();
  CHECK_FALSE(json::parse(stats_text(stats)).contains("peak_memory"));
  CHECK(json::parse(stats_text(Stats{}))["sequences"].empty());
}

TEST_CASE("the statistics are written like any output") {
  const TempFolder folder;
  const Stats stats = example();
  SpooledText entries;
  for (const SequenceStats& sequence : stats.sequences)
    entries.append(stats_entry(sequence, entries.empty()));
  write_stats(folder / "stats.json", stats, entries);
  CHECK(test::read_file(folder / "stats.json") == stats_text(example()));
  CHECK(folder.names().size() == 1);
  CHECK_THROWS_AS(write_stats(folder / "missing/stats.json", stats, entries), WriteError);
}

TEST_CASE("the provenance lines hold no folder and nothing but comments") {
  Provenance provenance;
  provenance.version = "1.2.3";
  provenance.command = "decode";
  provenance.params_path = "/home/someone/model.json";
  provenance.params_sha256 = "ab12";
  provenance.inputs = {{"../data/H3K4me3.bw", 1234, "H3K4me3"}, {"odd\nname.npy", -1, ""}};
  provenance.options = {{"region", "chr1:1-5"}, {"merge-adjacent", "yes"}};
  CHECK(provenance_header(provenance) ==
        "#semicrf 1.2.3 decode\n"
        "#params model.json sha256=ab12\n"
        "#input H3K4me3=H3K4me3.bw bytes=1234\n"
        "#input odd\\nname.npy\n"
        "#option region=chr1:1-5\n"
        "#option merge-adjacent=yes\n");
}

}  // namespace
}  // namespace semicrf
