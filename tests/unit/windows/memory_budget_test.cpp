#include "windows/memory_budget.h"

#include <filesystem>
#include <string>

#include "support/catch.h"
#include "support/temp_folder.h"

using namespace semicrf;

namespace {

// A tree of the files that tell how much memory there is.
class FakeSystem {
 public:
  FakeSystem& file(const std::string& name, const std::string& content) {
    const std::filesystem::path path = std::filesystem::path(folder_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    test::write_file(path.string(), content);
    return *this;
  }
  std::optional<std::size_t> available() const { return available_memory(folder_.path()); }

 private:
  test::TempFolder folder_;
};

const char* const kMemInfo = "MemTotal:  4000 kB\nHugePages_Total:  0\nMemAvailable:  3000 kB\n";

}  // namespace

TEST_CASE("memory that is available is what the machine has, where nothing limits it") {
  CHECK(FakeSystem().available() == std::nullopt);
  CHECK(FakeSystem().file("proc/meminfo", kMemInfo).available() == 3000 * 1024);
  FakeSystem unlimited;
  unlimited.file("proc/meminfo", kMemInfo).file("proc/self/cgroup", "0::/user\n");
  unlimited.file("sys/fs/cgroup/user/memory.max", "max\n").file("sys/fs/cgroup/user/memory.current", "77\n");
  CHECK(unlimited.available() == 3000 * 1024);
}

TEST_CASE("memory that is available is what a group or one around it leaves") {
  FakeSystem system;
  system.file("proc/meminfo", kMemInfo).file("proc/self/cgroup", "0::/job_7/step_1\n");
  system.file("sys/fs/cgroup/job_7/memory.max", "1000000\n");
  system.file("sys/fs/cgroup/job_7/memory.current", "600000\n");
  system.file("sys/fs/cgroup/job_7/step_1/memory.max", "max\n");
  CHECK(system.available() == 400'000);
  system.file("sys/fs/cgroup/job_7/memory.stat",
              "anon 300000\nfile 300000\ninactive_file 100000\nactive_file 150000\n");
  CHECK(system.available() == 650'000);
  system.file("sys/fs/cgroup/job_7/step_1/memory.max", "5000\n");
  system.file("sys/fs/cgroup/job_7/step_1/memory.current", "6000\n");
  CHECK(system.available() == 0);
}

TEST_CASE("memory that is available is what a group of version 1 leaves") {
  FakeSystem system;
  system.file("proc/meminfo", kMemInfo);
  system.file("proc/self/cgroup", "5:cpu,cpuacct:/elsewhere\n4:memory:/job\n0::/job\n");
  system.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  system.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "100\n");
  system.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "20000\n");
  system.file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5000\n");
  CHECK(system.available() == 15'000);
}

TEST_CASE("windows get what is left of a limit, or what is wished for") {
  WindowWish wish{1000, 0, 0};
  CHECK(window_memory(5000, 2000, wish) == 3000);
  CHECK_THROWS_AS(window_memory(1000, 2000, wish), MemoryError);
  CHECK(window_memory({}, 2000, wish) == 1000);
  wish.comfortable = 3000;
  wish.ample = 4000;
  CHECK(window_memory({}, 2000, wish) == 4000);
  wish.comfortable = wish.ample = std::size_t{1} << 62;
  const std::size_t most = window_memory({}, 2000, wish);
  CHECK(most >= 1000);
  CHECK(most < std::size_t{1} << 62);
}

TEST_CASE("windows take half of what a job may have where that is little") {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  const auto windows = [](const WindowWish& wish, std::optional<std::size_t> available) {
    if (available) *available *= kMebibyte;
    return window_memory({}, kFixedMemory, wish, available) / kMebibyte;
  };
  const WindowWish modest;
  CHECK(windows(modest, std::nullopt) == 192);
  CHECK(windows(modest, 1000) == 192);
  CHECK(windows(modest, 96) == 48);
  CHECK(windows(modest, 5) == 16);
  const WindowWish more{kDefaultWindowMemory, 300 * kMebibyte, 900 * kMebibyte};
  CHECK(windows(more, std::nullopt) == 300);
  CHECK(windows(more, 10'000) == 900);
  CHECK(windows(more, 500) == 300);
  CHECK(windows(more, 390) == 300);
  CHECK(windows(more, 250) == 125);
  // What is asked for counts, whatever there is.
  CHECK(window_memory(100 * std::int64_t{kMebibyte}, kFixedMemory, modest, 5 * kMebibyte) ==
        100 * kMebibyte - kFixedMemory);
}

TEST_CASE("a plan that half of little memory is not enough for gets what is wished for") {
  const WindowWish wish{std::size_t{1} << 50, 0, 0};
  std::size_t given = 0;
  plan_in_memory({}, wish, [&](std::size_t bytes) {
    given = bytes;
    if (bytes < wish.modest) throw MemoryError({"", "", "too little", ""});
  });
  CHECK(given == wish.modest);
}

TEST_CASE("what inputs and outputs keep is part of what windows cannot have") {
  CHECK(fixed_memory(0) == kFixedMemory);
  CHECK(fixed_memory(std::size_t{100} << 20) >= kFixedMemory + (std::size_t{80} << 20));
}
