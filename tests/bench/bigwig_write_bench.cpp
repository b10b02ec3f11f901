// How long it takes to write a bigWig file of the intervals of a bedGraph file, which are in memory.
//   bigwig_write_bench IN.bedgraph OUT.bw [BIN_SIZE]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "core/process_memory.h"
#include "io/bigwig/bigwig_writer.h"
#include "io/text/bedgraph_reader.h"

namespace {

constexpr int kRuns = 5;

struct Interval {
  std::size_t chrom = 0;
  std::int64_t begin = 0, end = 0;
  float value = 0;
};

void measure(const std::string& from, const std::string& to, std::int64_t bin_size) {
  using namespace semicrf;
  std::vector<ChromInfo> chromosomes;
  std::vector<Interval> intervals;
  BedGraphReader reader(from);
  BedGraphRecord record;
  while (reader.next(record)) {
    if (chromosomes.empty() || chromosomes.back().name != record.chromosome)
      chromosomes.push_back({record.chromosome, 0});
    chromosomes.back().length = record.end;
    intervals.push_back({chromosomes.size() - 1, record.begin, record.end, static_cast<float>(record.value)});
  }
  std::vector<double> seconds;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    BigWigWriter writer(chromosomes, {.zoom = 10 * bin_size}, bin_size > 1 ? bin_size : 0);
    for (const Interval& interval : intervals)
      writer.add(interval.chrom, interval.begin, interval.end, interval.value);
    OutputFile output({to});
    writer.write(output);
    output.commit();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("%zu intervals, median of %d runs %.3f s, peak memory %.1f MB\n", intervals.size(), kRuns,
              seconds[kRuns / 2], static_cast<double>(peak_resident_bytes()) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bigwig_write_bench IN.bedgraph OUT.bw [BIN_SIZE]\n");
    return 2;
  }
  try {
    measure(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
