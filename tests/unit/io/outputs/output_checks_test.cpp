#include <filesystem>

#include "core/error.h"
#include "io/files/output_file.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

void check(const std::vector<OutputSpec>& outputs, const std::vector<std::string>& inputs = {}) {
  check_outputs(outputs, inputs);
}

TEST_CASE("outputs that can be written pass the checks") {
  const TempFolder folder;
  const std::string input = folder.add("in.npy", "x");
  const std::string old = folder.add("old.bed", "x");
  CHECK_NOTHROW(
      check({{folder / "new.bed"}, {old}, {folder / "x.gz", IndexKind::kTbi}, {"-"}}, {input, "-"}));
  CHECK_NOTHROW(check({{"/dev/null"}, {"/dev/null"}}, {input}));
  CHECK(folder.names() == std::vector<std::string>{"in.npy", "old.bed"});
}

TEST_CASE("an output that is an input is refused, through any link") {
  const TempFolder folder;
  const std::string input = folder.add("in.npy", "x");
  fs::create_symlink("in.npy", folder / "symbolic");
  fs::create_hard_link(input, folder / "hard");
  fs::create_directory_symlink(folder.path(), folder / "around");
  for (const char* name : {"in.npy", "symbolic", "hard", "around/in.npy", "./in.npy"}) {
    CHECK_THROWS_AS(check({{folder / name}}, {"-", folder / "symbolic"}), UsageError);
  }
  const std::string index = folder.add("out.bed.gz.tbi", "x");
  CHECK_THROWS_AS(check({{folder / "out.bed.gz", IndexKind::kTbi}}, {index}), UsageError);
}

TEST_CASE("two outputs at one place are refused") {
  const TempFolder folder;
  fs::create_directory_symlink(folder.path(), folder / "around");
  fs::create_symlink("later.bed", folder / "dangling");
  const std::string old = folder.add("old.bed", "x");
  fs::create_hard_link(old, folder / "hard");
  CHECK_THROWS_AS(check({{"-"}, {"-"}}), UsageError);
  CHECK_THROWS_AS(check({{folder / "a"}, {folder / "a"}}), UsageError);
  CHECK_THROWS_AS(check({{folder / "a"}, {folder / "around/a"}}), UsageError);
  CHECK_THROWS_AS(check({{folder / "dangling"}, {folder / "later.bed"}}), UsageError);
  CHECK_THROWS_AS(check({{old}, {folder / "hard"}}), UsageError);
  CHECK_THROWS_AS(check({{folder / "a.gz", IndexKind::kCsi}, {folder / "a.gz.csi"}}), UsageError);
  CHECK_THROWS_AS(check({{""}}), UsageError);
}

TEST_CASE("places that cannot be written are refused with exit code 5") {
  const TempFolder folder;
  const std::string file = folder.add("file", "x");
  fs::create_directory(folder / "a_folder");
  CHECK_THROWS_WITH(check({{folder / "missing/out.bed"}}),
                    Catch::Matchers::Contains("make the folder first"));
  CHECK_THROWS_AS(check({{file + "/out.bed"}}), WriteError);
  CHECK_THROWS_WITH(check({{folder / "a_folder"}}), Catch::Matchers::Contains("is a folder"));
  CHECK_THROWS_AS(check({{folder / "a_folder"}}), WriteError);
}

}  // namespace
}  // namespace semicrf
