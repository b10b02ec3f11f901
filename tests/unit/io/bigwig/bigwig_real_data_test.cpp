// The bigWig reader on files of several writers: against libBigWig where it is installed, and against itself
// with other windows, other threads and damage.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/bigwig/bigwig_reader.h"
#include "support/catch.h"
#include "support/files/bin_means.h"
#include "support/scratch_file.h"
#if SEMICRF_HAVE_LIBBIGWIG
#include "support/files/libbigwig_peer.h"
#endif

using namespace semicrf;
using namespace semicrf::test;

namespace {

// Empty, with a visible message, when the data folder is absent.
std::vector<std::string> real_bigwigs() {
  std::vector<std::string> paths;
  const std::filesystem::path root = SEMICRF_SHARED_DATA;
  if (!std::filesystem::exists(root)) {
    WARN("skipped: no data folder at " << root.string());
    return paths;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".bw" || extension == ".bigWig" || extension == ".bigwig") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<BigWigInterval> all_intervals(BigWigFile& file, std::size_t chrom) {
  std::vector<BigWigInterval> all;
  file.read(chrom, 0, file.chromosomes()[chrom].length,
            [&](std::span<const BigWigInterval> some) { all.insert(all.end(), some.begin(), some.end()); });
  return all;
}

bool same_floats(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE(
    "real bigWigs: windows and threads do not change the bins, and the sums are those of the intervals") {
  for (const std::string& path : real_bigwigs()) {
    INFO(path);
    BigWigFile file = BigWigFile::open(path);
    std::uint64_t covered_bases = 0;
    for (std::size_t chrom = 0; chrom < file.chromosomes().size(); ++chrom) {
      const std::int64_t length = file.chromosomes()[chrom].length;
      const std::vector<BigWigInterval> intervals = all_intervals(file, chrom);
      for (const BigWigInterval& i : intervals) covered_bases += static_cast<std::uint64_t>(i.end - i.begin);
      if (intervals.empty()) continue;
      const std::int64_t size = std::max<std::int64_t>(200, length / 500000);
      const auto bins = static_cast<std::size_t>((length + size - 1) / size);
      std::vector<float> whole(bins), threaded(bins), pieces(bins);
      bin_means(file, chrom, 0, size, whole);
      bin_means(file, chrom, 0, size, threaded, 3);
      CHECK(same_floats(whole, threaded));
      const std::size_t step = bins / 7 + 1;
      for (std::size_t first = 0; first < bins; first += step) {
        const std::size_t count = std::min(step, bins - first);
        bin_means(file, chrom, static_cast<std::int64_t>(first), size,
                  std::span<float>(pieces).subspan(first, count));
      }
      CHECK(same_floats(whole, pieces));
    }
    // The writer's own count is a third opinion, but files cut down from larger ones keep the count of those,
    // and one writer leaves it 0.
    const bool cut_down = path.find("bbi-js") != std::string::npos;
    if (file.summary() && file.summary()->bases_covered != 0 && !cut_down) {
      CHECK(file.summary()->bases_covered == covered_bases);
    }
  }
}

#if SEMICRF_HAVE_LIBBIGWIG
TEST_CASE("real bigWigs: chromosomes, intervals and means are libBigWig's") {
  for (const std::string& path : real_bigwigs()) {
    INFO(path);
    BigWigFile file = BigWigFile::open(path);
    const LibBigWigFile peer(path);
    const auto by_name = [](const Chromosome& a, const Chromosome& b) { return a.name < b.name; };
    std::vector<Chromosome> ours = file.chromosomes(), theirs = peer.chromosomes();
    std::sort(ours.begin(), ours.end(), by_name);
    std::sort(theirs.begin(), theirs.end(), by_name);
    CHECK((ours == theirs));
    for (std::size_t chrom = 0; chrom < file.chromosomes().size(); ++chrom) {
      const Chromosome& info = file.chromosomes()[chrom];
      if (!file.has_values(chrom)) continue;
      std::vector<BigWigInterval> expected = peer.intervals(info.name, 0, info.length);
      std::erase_if(expected, [](const BigWigInterval& i) { return std::isnan(i.value); });
      CHECK((all_intervals(file, chrom) == expected));
      const std::int64_t size = std::max<std::int64_t>(25, info.length / 1000000);
      const auto bins = static_cast<std::size_t>((info.length + size - 1) / size);
      std::vector<float> means(bins), peer_means(bins);
      bin_means(file, chrom, 0, size, means);
      peer.bin_means(info.name, info.length, 0, size, peer_means);
      CHECK(same_floats(means, peer_means));
    }
  }
}
#endif

TEST_CASE("real bigWigs: truncated or with random flips, an error or a sound read") {
  const unsigned seed = 31337;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const std::string& path : real_bigwigs()) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<std::uint8_t> sound{std::istreambuf_iterator<char>(in), {}};
    if (sound.size() > 110000) continue;
    for (int round = 0; round < 60; ++round) {
      std::vector<std::uint8_t> bytes = sound;
      if (round % 3 == 0) bytes.resize(random() % bytes.size());
      // Most flips hit the structure: the header, and whatever else is at the front or the back.
      for (int i = 0; i < round % 3 * 2 && !bytes.empty(); ++i) {
        bytes[random() % (round % 2 == 0 ? std::min<std::size_t>(600, bytes.size()) : bytes.size())] ^=
            static_cast<std::uint8_t>(1u << random() % 8);
      }
      const ScratchFile scratch(bytes);
      try {
        BigWigFile file = BigWigFile::open(scratch.path());
        for (std::size_t chrom = 0; chrom < file.chromosomes().size(); ++chrom) all_intervals(file, chrom);
      } catch (const Error& error) {
        CHECK(std::string(error.what()).rfind(scratch.path(), 0) == 0);
      }
    }
  }
}
