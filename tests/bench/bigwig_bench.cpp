// bigWig to float array: open the file and read the means of every chromosome's bins. One JSON line per file,
// with libBigWig as the peer where it is installed; the two take turns, so that they meet the same machine.
//
//   bigwig_bench [--bin N] [--repeat N] [--threads N] FILE...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "io/bigwig_reader.h"
#if SEMICRF_HAVE_LIBBIGWIG
#include "support/libbigwig_peer.h"
#endif

namespace {

using namespace semicrf;

struct Options {
  std::int64_t bin_size = 25;
  int repeats = 15;
  int threads = 1;
  std::vector<std::string> files;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::size_t bins_of(const ChromInfo& chrom, std::int64_t bin_size) {
  return static_cast<std::size_t>((chrom.length + bin_size - 1) / bin_size);
}

void read_ours(const std::string& path, const Options& options, std::vector<float>& means) {
  BigWigFile file = BigWigFile::open(path);
  for (std::size_t chrom = 0; chrom < file.chromosomes().size(); ++chrom) {
    means.resize(bins_of(file.chromosomes()[chrom], options.bin_size));
    file.bin_means(chrom, 0, options.bin_size, means, options.threads);
  }
}

#if SEMICRF_HAVE_LIBBIGWIG
void read_peer(const std::string& path, const Options& options, std::vector<float>& means) {
  const test::LibBigWigFile file(path);
  for (const ChromInfo& chrom : file.chromosomes()) {
    means.resize(bins_of(chrom, options.bin_size));
    file.bin_means(chrom.name, chrom.length, options.bin_size, means);
  }
}
#endif

void bench(const std::string& path, const Options& options) {
  std::size_t bins = 0;
  for (const ChromInfo& chrom : BigWigFile::open(path).chromosomes())
    bins += bins_of(chrom, options.bin_size);
  std::vector<double> ours, peer;
  std::vector<float> means;
  for (int i = 0; i < options.repeats; ++i) {
    ours.push_back(seconds_of([&] { read_ours(path, options, means); }));
#if SEMICRF_HAVE_LIBBIGWIG
    peer.push_back(seconds_of([&] { read_peer(path, options, means); }));
#endif
  }
  const double seconds = median(ours);
  std::printf(
      "{\"bench\": \"bigwig_to_float\", \"file\": \"%s\", \"bin_size\": %lld, \"bins\": %zu, \"threads\": "
      "%d, "
      "\"repeats\": %d, \"seconds\": %.6f, \"bins_per_second\": %.4g",
      path.substr(path.rfind('/') + 1).c_str(), static_cast<long long>(options.bin_size), bins,
      options.threads, options.repeats, seconds, static_cast<double>(bins) / seconds);
  if (!peer.empty()) {
    std::printf(", \"libbigwig_seconds\": %.6f, \"ratio\": %.3f", median(peer), median(peer) / seconds);
  }
  std::printf("}\n");
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
  for (const std::string& path : options.files) bench(path, options);
  return 0;
}
