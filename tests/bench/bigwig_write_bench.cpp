// How long it takes to write a bigWig file of the intervals of a bedGraph file, which are in memory.
//   bigwig_write_bench IN.bedgraph OUT.bw [BIN_SIZE]
// or values that are made while they are written, chromosomes of 200 million bases in bins of ten:
//   bigwig_write_bench --values N OUT.bw
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include "core/process_memory.h"
#include "io/bigwig/bbi_writers.h"
#include "io/text/bedgraph.h"

namespace {

constexpr int kRuns = 5;

struct Interval {
  std::size_t chrom = 0;
  std::int64_t begin = 0, end = 0;
  float value = 0;
};

void measure(const std::string& from, const std::string& to, std::int64_t bin_size) {
  using namespace semicrf;
  std::vector<Chromosome> chromosomes;
  std::vector<Interval> intervals;
  BedGraphReader reader(from);
  BedGraphRecord record;
  while (reader.next(record)) {
    if (chromosomes.empty() || chromosomes.back().name != record.chromosome)
      chromosomes.push_back({record.chromosome, 0});
    chromosomes.back().length = record.end;
    intervals.push_back({chromosomes.size() - 1, record.begin, record.end, static_cast<float>(record.value)});
  }
  std::vector<double> seconds, processor;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t used = std::clock();
    BigWigWriter writer(chromosomes, {.zoom = 16 * bin_size}, bin_size > 1 ? bin_size : 0);
    for (const Interval& interval : intervals)
      writer.add(interval.chrom, interval.begin, interval.end, interval.value);
    OutputFile output({to});
    writer.write(output);
    output.commit();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    processor.push_back(static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
  }
  std::sort(seconds.begin(), seconds.end());
  std::sort(processor.begin(), processor.end());
  std::printf("%zu intervals, median of %d runs %.3f s, of the processor %.3f s, peak memory %.1f MB\n",
              intervals.size(), kRuns, seconds[kRuns / 2], processor[kRuns / 2],
              static_cast<double>(peak_resident_bytes()) / 1e6);
}

void stream(std::int64_t values, const std::string& to) {
  using namespace semicrf;
  constexpr std::int64_t kBin = 10, kBins = 20'000'000;  // bins of a chromosome
  std::vector<Chromosome> chromosomes;
  for (std::int64_t left = values; left > 0; left -= kBins)
    chromosomes.push_back({"chr" + std::to_string(chromosomes.size() + 1), kBin * std::min(left, kBins)});
  const auto begin = std::chrono::steady_clock::now();
  BigWigWriter writer(chromosomes, {.zoom = 16 * kBin}, kBin);
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < values; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float value = static_cast<float>(state >> 54) / 1024;
    const std::int64_t bin = i % kBins;
    writer.add(static_cast<std::size_t>(i / kBins), kBin * bin, kBin * (bin + 1), value);
  }
  OutputFile output({to});
  writer.write(output);
  output.commit();
  std::printf("%lld values, %.1f s, peak memory %.1f MB\n", static_cast<long long>(values),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
              static_cast<double>(peak_resident_bytes()) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bigwig_write_bench IN.bedgraph OUT.bw [BIN_SIZE] | --values N OUT.bw\n");
    return 2;
  }
  try {
    if (std::string(argv[1]) == "--values" && argc > 3) {
      stream(std::atoll(argv[2]), argv[3]);
    } else {
      measure(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 1);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
