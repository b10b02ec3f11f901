#include "inputs/arguments/track_pattern.h"

#include "core/error.h"
#include "support/catch.h"

using namespace semicrf;

namespace {

// "track of sample", or "no".
std::string matched(const std::string& pattern, const std::string& path) {
  const auto names = TrackPattern(pattern).match(path);
  return names ? names->track + " of " + names->sample : "no";
}

}  // namespace

TEST_CASE("patterns take names from the end of a path") {
  CHECK(matched("{sample}.{track}.bw", "a/b.c/GM12878.CTCF.bw") == "CTCF of GM12878");
  CHECK(matched("{sample}.{track}.bw", "GM12878.rep1.CTCF.bw") == "rep1.CTCF of GM12878");
  CHECK(matched("{track}_{sample}.bw", "x/CTCF_K562_2.bw") == "CTCF of K562_2");
  CHECK(matched("GM12878.{track}.bw", "GM12878.CTCF.bw") == "CTCF of ");
  CHECK(matched("{sample}/{track}.bw", "/data/K562/CTCF.bw") == "CTCF of K562");
  CHECK(matched("{sample}/{track}.bw", "CTCF.bw") == "no");
  CHECK(matched("{sample}.{track}.bw", "CTCF.bw") == "no");
  CHECK(matched("{sample}.{track}.bw", "K562..bw") == "no");
  CHECK(matched("{sample}.{track}.bw", "K562.CTCF.bigWig") == "no");
  CHECK(matched("{track}", "d/K562.CTCF.bw") == "K562.CTCF.bw of ");
}

TEST_CASE("patterns that cannot be") {
  for (const char* text :
       {"", "x.bw", "{sample}.bw", "{track}{track}", "{sample}{sample}{track}", "{mark}", "{track"})
    CHECK_THROWS_AS(TrackPattern(text), UsageError);
}

TEST_CASE("a pattern is proposed where all names share a part up to a dot") {
  const auto proposed = [](const std::vector<std::string>& paths) {
    return common_pattern(paths).value_or("none");
  };
  CHECK(proposed({"d/GM12878.CTCF.bw", "d/GM12878.WCE.bw"}) == "{sample}.{track}.bw");
  CHECK(proposed({"GM12878.rep1.CTCF.bw", "GM12878.rep1.WCE.bw"}) == "GM12878.rep1.{track}.bw");
  CHECK(proposed({"CTCF.GM12878.bw", "WCE.GM12878.bw"}) == "{track}.{sample}.bw");
  CHECK(proposed({"GM12878.CTCF.bw"}) == "none");
  CHECK(proposed({"CTCF.bw", "WCE.bw"}) == "none");
  CHECK(proposed({"codon_fwd0.bw", "codon_fwd1.bw"}) == "none");
  CHECK(proposed({"GM12878.CTCF.bw", "GM12878.WCE.bigWig"}) == "none");
  CHECK(proposed({"GM12878.CTCF.bw", "K562.WCE.bw"}) == "none");
}
