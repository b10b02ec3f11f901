// Archives read back, by our own reader.
#include <stdexcept>
#include <vector>

#include "io/arrays/npy_writer.h"
#include "io/arrays/npz_reader.h"
#include "support/catch.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

void write(const std::string& path) {
  OutputFile file({path, IndexKind::kNone});
  NpzWriter archive(file);
  archive.add("one", {1, 0, true}, std::vector<double>{0.1});
  archive.add("rows", {2, 3, true}, std::vector<double>{1, 2, 3, 4, 5, 1e-300});
  archive.add("single", {2, 0, false}, std::vector<double>{0.5, 7});
  archive.finish();
  file.commit();
}

}  // namespace

TEST_CASE("an archive of arrays reads back, and has the same bytes again") {
  const TempFolder folder;
  write(folder / "a.npz");
  write(folder / "b.npz");
  CHECK(read_file(folder / "a.npz") == read_file(folder / "b.npz"));
  const NpzFile archive = NpzFile::open(folder / "a.npz");
  REQUIRE(archive.members().size() == 3);
  CHECK(archive.members()[0].name == "one");
  CHECK(archive.members()[1].name == "rows");
  CHECK(archive.members()[2].name == "single");
  // The reader takes arrays of rows and columns, and checks every sum.
  CHECK_NOTHROW(archive.load(1));
}

TEST_CASE("values that do not fill the shape are a mistake of ours") {
  const TempFolder folder;
  OutputFile file({folder / "a.npz", IndexKind::kNone});
  NpzWriter archive(file);
  CHECK_THROWS_AS(archive.add("rows", {2, 3, true}, std::vector<double>{1}), std::logic_error);
}
