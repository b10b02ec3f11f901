// bigWig to float array: open the file and read the means of the bins of every chromosome's covered stretch.
// One JSON line per file, with libBigWig as the peer where it is installed; the two take turns, so that they
// meet the same machine.
//
//   bigwig_bench [--bin N] [--repeat N] [--threads N] FILE...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "bench/timing.h"
#include "io/bigwig/bigwig_reader.h"
#include "support/files/bin_means.h"
#if SEMICRF_HAVE_LIBBIGWIG
#include "support/files/libbigwig_peer.h"
#endif

namespace {

using namespace semicrf;

struct Options {
  std::int64_t bin_size = 25;
  int repeats = 15;
  int threads = 1;
  std::vector<std::string> files;
};

// Seconds of wall clock and of processor time, one entry per repetition. On a machine that is shared, the
// processor time is the steadier figure.
struct Timings {
  std::vector<double> wall, cpu;

  void add(const std::function<void()>& work) {
    const std::clock_t cpu_begin = std::clock();
    wall.push_back(seconds_of(work));
    cpu.push_back(static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC);
  }
};

// The bins of one chromosome from the first one with a value to the last one.
struct Stretch {
  std::size_t chrom = 0;
  Chromosome info;
  std::int64_t first_bin = 0;
  std::size_t bins = 0;
};

std::vector<Stretch> covered_stretches(const std::string& path, std::int64_t bin_size) {
  BigWigFile file = BigWigFile::open(path);
  std::vector<Stretch> stretches;
  for (std::size_t chrom = 0; chrom < file.chromosomes().size(); ++chrom) {
    const Chromosome& info = file.chromosomes()[chrom];
    std::int64_t begin = info.length, end = 0;
    file.read(chrom, 0, info.length, [&](std::span<const BigWigInterval> some) {
      begin = std::min(begin, some.front().begin);
      end = some.back().end;
    });
    if (begin >= end) continue;
    const std::int64_t first = begin / bin_size;
    stretches.push_back({chrom, info, first, static_cast<std::size_t>((end - 1) / bin_size - first + 1)});
  }
  return stretches;
}

void read_ours(const std::string& path, const std::vector<Stretch>& stretches, const Options& options,
               std::vector<float>& means) {
  BigWigFile file = BigWigFile::open(path);
  for (const Stretch& stretch : stretches) {
    means.resize(stretch.bins);
    test::bin_means(file, stretch.chrom, stretch.first_bin, options.bin_size, means, options.threads);
  }
}

#if SEMICRF_HAVE_LIBBIGWIG
void read_peer(const std::string& path, const std::vector<Stretch>& stretches, const Options& options,
               std::vector<float>& means) {
  const test::LibBigWigFile file(path);
  for (const Stretch& stretch : stretches) {
    means.resize(stretch.bins);
    file.bin_means(stretch.info.name, stretch.info.length, stretch.first_bin, options.bin_size, means);
  }
}
#endif

void bench(const std::string& path, const Options& options) {
  const std::vector<Stretch> stretches = covered_stretches(path, options.bin_size);
  std::size_t bins = 0;
  for (const Stretch& stretch : stretches) bins += stretch.bins;
  Timings ours, peer;
  std::vector<float> means;
  for (int i = 0; i < options.repeats; ++i) {
    ours.add([&] { read_ours(path, stretches, options, means); });
#if SEMICRF_HAVE_LIBBIGWIG
    peer.add([&] { read_peer(path, stretches, options, means); });
#endif
  }
  const double seconds = median(ours.wall);
  JsonLine line;
  line.add("bench", "bigwig_to_float").add("file", path.substr(path.rfind('/') + 1));
  line.add("bin_size", options.bin_size).add("bins", static_cast<std::int64_t>(bins));
  line.add("threads", std::int64_t{options.threads}).add("repeats", std::int64_t{options.repeats});
  line.add("seconds", seconds).add("cpu_seconds", median(ours.cpu));
  line.add("bins_per_second", static_cast<double>(bins) / seconds);
  if (!peer.wall.empty()) {
    line.add("libbigwig_seconds", median(peer.wall)).add("libbigwig_cpu_seconds", median(peer.cpu));
    line.add("ratio", median(peer.wall) / seconds).add("cpu_ratio", median(peer.cpu) / median(ours.cpu));
  }
  std::printf("%s\n", line.text().c_str());
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&] { return i + 1 < argc ? std::max(1, std::atoi(argv[++i])) : 1; };
    if (std::strcmp(argv[i], "--bin") == 0) {
      options.bin_size = number();
    } else if (std::strcmp(argv[i], "--repeat") == 0) {
      options.repeats = number();
    } else if (std::strcmp(argv[i], "--threads") == 0) {
      options.threads = number();
    } else {
      options.files.emplace_back(argv[i]);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.files.empty()) {
    std::fprintf(stderr, "usage: bigwig_bench [--bin N] [--repeat N] [--threads N] FILE...\n");
    return 2;
  }
  try {
    for (const std::string& path : options.files) bench(path, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bigwig_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
