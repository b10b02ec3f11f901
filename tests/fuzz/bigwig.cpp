// bigWig: whatever opens is read in both ways, and the two must agree.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "io/bigwig/bigwig_reader.h"

namespace semicrf::fuzz {
namespace {

constexpr std::size_t kChromosomes = 8;  // read of each file, so that a run stays short
constexpr std::int64_t kBins = 50;

struct Bins {
  explicit Bins(std::size_t count) : sum(count), covered(count) {}
  std::vector<double> sum;
  std::vector<std::uint32_t> covered;
};

// Bases with a value, having checked that intervals ascend inside [begin, end).
std::int64_t read_intervals(BigWigFile& file, std::size_t chrom, std::int64_t begin, std::int64_t end) {
  std::int64_t bases = 0;
  std::int64_t previous = begin;
  file.read(chrom, begin, end, [&](std::span<const BigWigInterval> intervals) {
    require(!intervals.empty(), "no visit is empty");
    for (const BigWigInterval& interval : intervals) {
      require(previous <= interval.begin && interval.begin < interval.end && interval.end <= end,
              "intervals ascend inside the range");
      require(std::isfinite(interval.value), "values are finite");
      bases += interval.end - interval.begin;
      previous = interval.end;
    }
  });
  return bases;
}

void read_chromosome(BigWigFile& file, std::size_t chrom) {
  const std::int64_t length = file.chromosomes()[chrom].length;
  require(length >= 1, "lengths are positive");
  const std::int64_t size = (length + kBins - 1) / kBins;
  const auto bins = static_cast<std::size_t>((length + size - 1) / size);
  Bins whole(bins);
  file.bin_sums(chrom, 0, size, {whole.sum, whole.covered}, 2);
  std::int64_t covered = 0;
  for (const std::uint32_t count : whole.covered) {
    require(count <= size, "no bin has more bases than it is long");
    covered += count;
  }
  require(covered == read_intervals(file, chrom, 0, length), "bins and intervals cover the same bases");

  Bins half(bins);
  const std::size_t cut = bins / 2;
  const auto part = [&](std::size_t first, std::size_t count) {
    file.bin_sums(chrom, static_cast<std::int64_t>(first), size,
                  {std::span(half.sum).subspan(first, count), std::span(half.covered).subspan(first, count)});
  };
  part(cut, bins - cut);
  part(0, cut);
  require(whole.sum == half.sum && whole.covered == half.covered, "windows do not change the bins");
  read_intervals(file, chrom, length / 3, length - length / 4);
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  const std::string path = as_file(bytes);
  allow_refusal([&] {
    BigWigFile file = BigWigFile::open(path);
    require(!file.chromosomes().empty() || file.block_count() == 0, "data belongs to chromosomes");
    const BigWigStep step = file.sampled_step();
    require(step.bases >= 0 && step.sections <= file.block_count(), "a step of what there is");
    const std::size_t count = std::min(kChromosomes, file.chromosomes().size());
    for (std::size_t chrom = 0; chrom < count; ++chrom) {
      require(file.find_chromosome(file.chromosomes()[chrom].name) == chrom, "names are unique");
      allow_refusal([&] { read_chromosome(file, chrom); });
    }
  });
}

}  // namespace semicrf::fuzz
