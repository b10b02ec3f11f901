#include "core/error.h"

#include "support/catch.h"

using namespace semicrf;

TEST_CASE("an error is one line: file, place, what, advice") {
  const InputError error(
      {"tracks/a.bw", "4096", "block count 9 is more than the file can hold", "the file is damaged"});
  CHECK(std::string(error.what()) ==
        "tracks/a.bw:4096: block count 9 is more than the file can hold; the file is damaged");
  CHECK(error.code() == ExitCode::kBadInput);
}

TEST_CASE("control characters of hostile names do not reach the terminal") {
  CHECK(escape_control("a\nb\x1b[31m\x7f") == "a\\nb\\x1b[31m\\x7f");
}
