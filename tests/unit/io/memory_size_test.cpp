#include "core/error.h"
#include "core/process_memory.h"
#include "support/catch.h"

namespace semicrf {
namespace {

TEST_CASE("amounts of memory as people write them") {
  CHECK(parse_memory_size("8G", "--max-memory") == std::int64_t{8} << 30);
  CHECK(parse_memory_size("500M", "--max-memory") == std::int64_t{500} << 20);
  CHECK(parse_memory_size("1.5g", "--max-memory") == std::int64_t{3} << 29);
  CHECK(parse_memory_size("64k", "--max-memory") == 65536);
  CHECK(parse_memory_size("2T", "--max-memory") == std::int64_t{2} << 40);
  CHECK(parse_memory_size("123456", "--max-memory") == 123456);
  CHECK(parse_memory_size("1GiB", "--max-memory") == std::int64_t{1} << 30);
  CHECK(parse_memory_size("1gb", "--max-memory") == std::int64_t{1} << 30);
  CHECK(parse_memory_size("7B", "--max-memory") == 7);
}

TEST_CASE("anything else is refused, naming the option") {
  for (const char* text : {"", "G", "8X", "-1G", "0", "0.1", "8 G", "8GG", "1e9", "nan", "inf", "99999999T",
                           "0x10", "8,5G", "+8G"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_memory_size(text, "--max-memory"), UsageError);
  }
  CHECK_THROWS_WITH(parse_memory_size("lots", "--max-memory"),
                    Catch::Matchers::StartsWith("--max-memory: 'lots'"));
}

TEST_CASE("amounts of memory for people") {
  CHECK(print_memory_size(0) == "0 bytes");
  CHECK(print_memory_size(1023) == "1023 bytes");
  CHECK(print_memory_size(1024) == "1 KiB");
  CHECK(print_memory_size(std::int64_t{3} << 29) == "1.5 GiB");
  CHECK(print_memory_size(std::int64_t{640} << 20) == "640 MiB");
  CHECK(print_memory_size(20971520 + 314573) == "20.3 MiB");
  CHECK(print_memory_size(std::int64_t{5000} << 40) == "5000 TiB");
}

}  // namespace
}  // namespace semicrf
