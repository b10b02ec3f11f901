#include "io/files/temp_spool.h"

#include <signal.h>
#include <sys/resource.h>

#include <random>

#include "core/error.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using test::TempFolder;
using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::mt19937& random, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  return bytes;
}

Bytes blob(const TempSpool& spool, std::size_t index) {
  Bytes bytes(spool.blob_size(index));
  spool.read(index, bytes);
  return bytes;
}

TEST_CASE("a spool gives back what was put in, from memory and from disk") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const TempFolder folder;
  for (const std::size_t limit : {std::size_t{0}, std::size_t{5000}, std::size_t{1} << 30}) {
    TempSpool spool(limit, folder.path());
    std::vector<Bytes> expected;
    for (int i = 0; i < 100; ++i) {
      expected.push_back(random_bytes(random, random() % 500));
      CHECK(spool.append(expected.back()) == expected.size() - 1);
    }
    for (int i = 0; i < 100; ++i) {
      const std::size_t index = random() % expected.size();
      expected[index] = random_bytes(random, random() % 700);
      spool.replace(index, expected[index]);
    }
    CHECK(spool.size() == expected.size());
    CHECK(spool.bytes_in_memory() <= limit);
    CHECK((spool.bytes_on_disk() > 0) == (limit <= 5000));
    for (std::size_t i = expected.size(); i-- > 0;) CHECK(blob(spool, i) == expected[i]);
    CHECK(folder.names().empty());
  }
}

TEST_CASE("a spool reuses the room of a blob that is replaced") {
  const TempFolder folder;
  TempSpool spool(0, folder.path());
  spool.append(Bytes(1000));
  for (int i = 0; i < 10; ++i) spool.replace(0, Bytes(1000));
  CHECK(spool.bytes_on_disk() == 1000);
}

TEST_CASE("misuse of a spool is a bug") {
  TempSpool spool(100, "");
  spool.append(Bytes(10));
  Bytes wrong(9);
  CHECK_THROWS_AS(spool.read(0, wrong), std::logic_error);
  CHECK_THROWS_AS(spool.blob_size(1), std::out_of_range);
}

TEST_CASE("a spool without a folder uses the system's") {
  TempSpool spool(0, "");
  spool.append(Bytes(10, std::byte{7}));
  CHECK(blob(spool, 0) == Bytes(10, std::byte{7}));
}

TEST_CASE("a spool that cannot be written is a WriteError naming the folder") {
  const TempFolder folder;
  TempSpool spool(0, folder / "missing");
  CHECK_THROWS_WITH(spool.append(Bytes(1)),
                    Catch::Matchers::Contains("missing: a temporary file cannot be made here"));
  CHECK(test::exit_code_in_child([&] {
          signal(SIGXFSZ, SIG_IGN);
          const rlimit limit = {10000, 10000};
          setrlimit(RLIMIT_FSIZE, &limit);
          TempSpool limited(0, folder.path());
          try {
            limited.append(Bytes(9000));
            limited.append(Bytes(9000));
          } catch (const WriteError&) {
            return 5;
          }
          return 0;
        }) == 5);
  CHECK(folder.names().empty());
}

}  // namespace
}  // namespace semicrf
