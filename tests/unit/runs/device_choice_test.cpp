// What `--device auto` takes, with made-up GPUs.
#include "runs/device_choice.h"

#include "support/catch.h"

using namespace semicrf;

namespace {

using Backend = EngineOptions::Backend;

// 250 M positions of five labels, the run of docs/performance.md.
WorkSize genome() { return {250'000'000, 250'000'000, 100, 5, 5, 1}; }

class FakeGpu {
 public:
  explicit FakeGpu(std::string obstacle) : obstacle_(std::move(obstacle)) {}
  DeviceChoice choose(const WorkSize& work, int threads = 16, Backend backend = Backend::kAuto) {
    EngineOptions options;
    options.backend = backend;
    options.threads = threads;
    return choose_device(options, work, [&] {
      ++asked_;
      return obstacle_;
    });
  }
  int asked() const { return asked_; }

 private:
  std::string obstacle_;
  int asked_ = 0;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("auto takes the GPU for much work and says why") {
  FakeGpu gpu("");
  const DeviceChoice choice = gpu.choose(genome());
  CHECK(choice.backend == Backend::kCuda);
  CHECK(gpu.asked() == 1);
  CHECK(contains(choice.reason, "device auto: cuda; expected computing time: on the cpu "));
  // Genes of a genome of yeast, one thread: 4 M bins, K = 2463.
  CHECK(gpu.choose({4'000'000, 500'000, 2463, 8, 6, 3}, 1).backend == Backend::kCuda);
}

TEST_CASE("auto takes the cpu where a GPU would compute one run after the other") {
  ChainModel codons;
  codons.num_labels = 2;
  codons.max_duration = 9;
  codons.duration_bias.assign(18, kNegativeInfinity);
  const auto allow = [&](std::size_t k, std::size_t c) { codons.duration_bias[(k - 1) * 2 + c] = 0; };
  for (const std::size_t k : {3U, 6U, 9U}) allow(k, 0);
  allow(6, 1);
  CHECK(period_of(codons) == 3);
  codons.duration_bias[0] = -1e9;
  CHECK(period_of(codons) == 3);
  ChainModel other = codons;
  other.log_tail = {kNegativeInfinity, -0.1};
  CHECK(period_of(other) == 3);
  other.log_tail = {-0.1, kNegativeInfinity};
  CHECK(period_of(other) == 1);
  allow(1, 1);
  CHECK(period_of(codons) == 1);

  FakeGpu gpu("");
  WorkSize work = genome();
  work.period = 3;
  CHECK(gpu.choose(work).backend == Backend::kCpu);
  work.longest = 10'000;  // many pieces side by side
  CHECK(gpu.choose(work).backend == Backend::kCuda);
}

TEST_CASE("auto takes the cpu for little work without asking for a GPU") {
  FakeGpu gpu("");
  for (const WorkSize& work :
       {WorkSize{300, 300, 30, 3, 3, 1}, {9600, 300, 30, 39, 39, 2}, {1'000'000, 1'000'000, 1, 10, 10, 1}}) {
    const DeviceChoice choice = gpu.choose(work, 2);
    CHECK(choice.backend == Backend::kCpu);
    CHECK(contains(choice.reason, "device auto: cpu; expected computing time: on the cpu "));
    CHECK(contains(choice.reason, "on a GPU 0.2"));
  }
  CHECK(gpu.asked() == 0);
}

TEST_CASE("auto takes the cpu where no GPU can be used") {
  FakeGpu gpu("no GPU is visible");
  const DeviceChoice choice = gpu.choose(genome());
  CHECK(choice.backend == Backend::kCpu);
  CHECK(contains(choice.reason, "as no GPU can be used (no GPU is visible)"));
}

TEST_CASE("what is asked for is taken, whatever the size") {
  FakeGpu gpu("no GPU is visible");
  for (const Backend backend : {Backend::kCpu, Backend::kCuda, Backend::kReference}) {
    CHECK(gpu.choose(genome(), 16, backend).backend == backend);
    CHECK(gpu.choose({10, 10, 2, 2, 2, 1}, 16, backend).backend == backend);
    CHECK(gpu.choose(genome(), 16, backend).reason.empty());
  }
  EngineOptions options;
  options.instruction_set = "AVX2";
  FakeGpu unasked("");
  CHECK(choose_device(options, genome(), [] { return std::string(); }).backend == Backend::kCpu);
}

TEST_CASE("expectations are near what was measured") {
  // docs/performance.md: seconds of one thread of the cpu; milliseconds of a GPU, start and upload aside.
  CHECK(expected_cpu_seconds({1'000'000, 1'000'000, 100, 24, 24, 1}, 1) == Approx(0.196).epsilon(0.25));
  CHECK(expected_cpu_seconds({1'000'000, 1'000'000, 100, 24, 24, 2}, 1) == Approx(0.398).epsilon(0.25));
  CHECK(expected_cpu_seconds({1'000'000, 1'000'000, 1, 10, 10, 1}, 1) == Approx(0.030).epsilon(0.5));
  const auto on_gpu = [](const WorkSize& work) {
    WorkSize nothing = work;
    nothing.sweeps = 0;  // and no inputs either, whose copies run beside the sweeps
    return expected_gpu_seconds(work) - expected_gpu_seconds(nothing);
  };
  const auto within = [](double found, double measured) {
    return found > measured / 3 && found < measured * 3;
  };
  CHECK(within(on_gpu({20'000'000, 20'000'000, 100, 24, 0, 1}), 0.0142));
  CHECK(within(on_gpu({20'000'000, 20'000'000, 100, 24, 0, 2}), 0.0336));
  CHECK(within(on_gpu({1'000'000, 1'000'000, 200, 6, 0, 1}), 0.0012));
  CHECK(within(on_gpu({1'600'000, 50'000, 8000, 6, 0, 1}), 0.0341));
}

TEST_CASE("more threads, positions, durations and labels are expected as one would think") {
  const WorkSize base{100'000, 100'000, 50, 6, 6, 1};
  CHECK(expected_cpu_seconds(base, 4) < expected_cpu_seconds(base, 2));
  for (WorkSize more : {WorkSize{200'000, 100'000, 50, 6, 6, 1},
                        {100'000, 100'000, 500, 6, 6, 1},
                        {100'000, 100'000, 50, 12, 6, 1},
                        {100'000, 100'000, 50, 6, 6, 2}}) {
    CHECK(expected_cpu_seconds(more, 2) > expected_cpu_seconds(base, 2));
    CHECK(expected_gpu_seconds(more) >= expected_gpu_seconds(base));
  }
  CHECK(expected_gpu_seconds({0, 0, 1, 1, 1, 1}) > 0.2);
}
