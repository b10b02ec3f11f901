#include "io/files/mapped_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "core/error.h"
#include "support/catch.h"
#include "support/files/byte_writer.h"
#include "support/scratch_file.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

std::string error_of(const std::string& path) {
  try {
    MappedFile file(path);
  } catch (const ReadError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a mapped file shows the file's bytes") {
  const ScratchFile scratch(ByteVector{1, 2, 3});
  MappedFile file(scratch.path());
  REQUIRE(file.size() == 3);
  CHECK(file.bytes()[0] == 1);
  CHECK(file.bytes()[2] == 3);
  CHECK(file.path() == scratch.path());
}

TEST_CASE("an empty file maps to no bytes") {
  const ScratchFile scratch;
  MappedFile file(scratch.path());
  CHECK(file.bytes().empty());
}

TEST_CASE("what cannot be mapped is a ReadError that says why") {
  CHECK(error_of("/nonexistent/file.bw") ==
        "/nonexistent/file.bw: cannot be opened (No such file or directory); check the path");
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK(error_of(folder) == folder + ": is a folder; give the name of a file");
  const ScratchFile scratch;
  const std::string pipe = scratch.path() + ".pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error_of(pipe) == pipe + ": is not a regular file; write the data to a file first");
  std::filesystem::remove(pipe);
}

TEST_CASE("a change of size is noticed") {
  const ScratchFile scratch(ByteVector{1, 2, 3});
  const MappedFile file(scratch.path());
  file.require_unchanged();
  scratch.write(ByteVector{1, 2});
  CHECK_THROWS_AS(file.require_unchanged(), ReadError);
}
