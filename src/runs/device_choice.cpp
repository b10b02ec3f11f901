#include "runs/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/text/text.h"
#include "engine/engine.h"

namespace semicrf {
namespace {

// The constants are measurements of docs/lab-notes.md, with one thread of an AMD EPYC with AVX-512 and one
// H200; "Figures: which engine `-x auto` took" there has what was chosen by them. On other machines a cpu
// takes up to several times as long. The constants only decide from which size on the work outweighs the
// start of a device; a GPU that is taken too late costs tenths of a second.

// Candidates (durations and sources of a label) per second of one thread, and further seconds per position
// and label: for 1M positions a sweep takes 0.20 s with (K, C) = (100, 24), and 0.03 to 0.07 s with (1, 10).
constexpr double kCpuCandidates = 25e9;
constexpr double kCpuLabel = 3.5e-9;

// Seconds to load the driver, a context and the kernels (0.2 to 0.3 s were measured).
constexpr double kGpuStart = 0.25;
// Seconds per candidate (0.10 to 0.58e-12 s were measured); 32 more candidates per label stand for the work
// that does not depend on K.
constexpr double kGpuCandidate = 0.5e-12;
constexpr double kGpuOtherCandidates = 32;
// Seconds per block of 16 positions, where blocks are computed one after the other: within a run and its
// warm-up of 6 to 8 K positions (8 to 11e-6 s were measured).
constexpr double kGpuBlock = 10e-6;
// Seconds per block where sums over durations are refused, as in models with a period.
constexpr double kGpuSlowBlock = 60e-6;
// Bytes per second through pinned buffers during the sweeps: 48e9 were measured, and buses of the generation
// before have half of that.
constexpr double kUploadBytes = 25e9;

std::string seconds_text(double seconds) { return fmt::format("{:.2g} s", seconds); }

}  // namespace

std::string engine_line(const Engine& engine, int threads) {
  if (engine.name() != "cpu") return engine.description();
  return engine.description() + ", " + plural(std::max(1, threads), "thread");
}

int period_of(const ChainModel& model) {
  constexpr double kImpossible = -1e6;
  const std::size_t labels = model.num_labels;
  const auto lasts = [&](int k, std::size_t c) {
    return model.duration_bias[(k - 1) * labels + c] > kImpossible;
  };
  int period = 0;
  for (std::size_t c = 0; c < labels; ++c) {
    for (int k = 1; k <= model.max_duration && period != 1; ++k)
      if (lasts(k, c)) period = std::gcd(period, k);
    const bool goes_on = model.has_tail() && model.log_tail[c] != kNegativeInfinity;
    if (goes_on && lasts(model.max_duration, c)) period = 1;
  }
  return std::max(period, 1);
}

double expected_cpu_seconds(const WorkSize& work, int threads) {
  const double labels = work.num_labels;
  const double candidates =
      labels * (static_cast<double>(std::min<std::int64_t>(work.max_duration, work.longest)) + labels);
  const double sweep =
      static_cast<double>(work.positions) * (candidates / kCpuCandidates + labels * kCpuLabel);
  return work.sweeps * sweep / std::max(1, threads);
}

double expected_gpu_seconds(const WorkSize& work) {
  const double labels = work.num_labels;
  const double positions = static_cast<double>(work.positions);
  const double duration = static_cast<double>(std::min<std::int64_t>(work.max_duration, work.longest));
  const double candidates = labels * (duration + labels + kGpuOtherCandidates);
  // A run is as long as its warm-up and at least 512 positions.
  const double run = work.period > 1 ? static_cast<double>(work.longest) : 512 + 9 * duration;
  const double in_turn = std::min(static_cast<double>(work.longest), run) / kBlockPositions;
  const double block = work.period > 1 ? kGpuSlowBlock : kGpuBlock;
  const double sweep = std::max(positions * candidates * kGpuCandidate, in_turn * block);
  const double upload = positions * work.inputs * sizeof(float) / kUploadBytes;
  return kGpuStart + std::max(upload, work.sweeps * sweep);
}

DeviceChoice choose_device(const EngineOptions& options, const WorkSize& work,
                           const std::function<std::string()>& gpu_obstacle) {
  using Backend = EngineOptions::Backend;
  if (options.backend != Backend::kAuto) return {options.backend, ""};
  // An instruction set was chosen, which only the cpu engine has.
  if (!options.instruction_set.empty()) return {Backend::kCpu, ""};
  const double cpu = expected_cpu_seconds(work, options.threads);
  const double gpu = expected_gpu_seconds(work);
  const std::string expected = "expected computing time: on the cpu " + seconds_text(cpu) + ", on a GPU " +
                               seconds_text(gpu) + " with its start";
  if (cpu <= gpu) return {Backend::kCpu, "device auto: cpu; " + expected};
  const std::string obstacle = gpu_obstacle();
  if (obstacle.empty()) return {Backend::kCuda, "device auto: cuda; " + expected};
  return {Backend::kCpu, "device auto: cpu, as no GPU can be used (" + obstacle + "); " + expected};
}

}  // namespace semicrf
