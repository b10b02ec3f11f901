#include "support/files/libbigwig_peer.h"

#include <bigWig.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace semicrf::test {

struct LibBigWigFile::Handle {
  explicit Handle(const std::string& path) : file(bwOpen(path.c_str(), nullptr, "r")) {
    if (file == nullptr) throw std::runtime_error("libBigWig cannot open " + path);
  }
  ~Handle() { bwClose(file); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  using Intervals = std::unique_ptr<bwOverlappingIntervals_t, decltype(&bwDestroyOverlappingIntervals)>;
  Intervals overlapping(const std::string& chrom, std::int64_t begin, std::int64_t end) const {
    return {bwGetOverlappingIntervals(file, chrom.c_str(), static_cast<std::uint32_t>(begin),
                                      static_cast<std::uint32_t>(end)),
            &bwDestroyOverlappingIntervals};
  }

  bigWigFile_t* file;
};

LibBigWigFile::LibBigWigFile(const std::string& path) : handle_(std::make_unique<Handle>(path)) {}
LibBigWigFile::~LibBigWigFile() = default;

std::vector<Chromosome> LibBigWigFile::chromosomes() const {
  std::vector<Chromosome> all;
  const chromList_t* list = handle_->file->cl;
  for (std::int64_t i = 0; i < list->nKeys; ++i) all.push_back({list->chrom[i], list->len[i]});
  return all;
}

std::vector<BigWigInterval> LibBigWigFile::intervals(const std::string& chrom, std::int64_t begin,
                                                     std::int64_t end) const {
  std::vector<BigWigInterval> all;
  const auto found = handle_->overlapping(chrom, begin, end);
  for (std::uint32_t i = 0; found && i < found->l; ++i)
    all.push_back({found->start[i], found->end[i], found->value[i]});
  return all;
}

void LibBigWigFile::bin_means(const std::string& chrom, std::int64_t length, std::int64_t first_bin,
                              std::int64_t bin_size, std::span<float> means) const {
  std::fill(means.begin(), means.end(), std::numeric_limits<float>::quiet_NaN());
  const std::int64_t window_begin = first_bin * bin_size;
  const std::int64_t window_end =
      std::min(length, (first_bin + static_cast<std::int64_t>(means.size())) * bin_size);
  const auto found = handle_->overlapping(chrom, window_begin, window_end);
  if (!found) return;
  std::int64_t bin = first_bin;
  std::int64_t bin_end = window_begin + bin_size;
  double sum = 0;
  std::int64_t covered = 0;
  const auto flush = [&] {
    if (covered > 0)
      means[static_cast<std::size_t>(bin - first_bin)] =
          static_cast<float>(sum / static_cast<double>(covered));
    sum = 0;
    covered = 0;
  };
  for (std::uint32_t i = 0; i < found->l; ++i) {
    std::int64_t begin = std::max<std::int64_t>(found->start[i], window_begin);
    const std::int64_t end = std::min<std::int64_t>(found->end[i], window_end);
    const float value = found->value[i];
    if (value != value) continue;
    while (begin < end) {
      if (begin >= bin_end) {
        flush();
        bin = begin < bin_end + bin_size ? bin + 1 : begin / bin_size;
        bin_end = (bin + 1) * bin_size;
      }
      const std::int64_t upto = std::min(end, bin_end);
      sum += static_cast<double>(value) * static_cast<double>(upto - begin);
      covered += upto - begin;
      begin = upto;
    }
  }
  flush();
}

struct LibBigBedFile::Handle {
  explicit Handle(const std::string& path) : file(bbOpen(path.c_str(), nullptr)) {
    if (file == nullptr) throw std::runtime_error("libBigWig cannot open " + path);
  }
  ~Handle() { bwClose(file); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  bigWigFile_t* file;
};

LibBigBedFile::LibBigBedFile(const std::string& path) : handle_(std::make_unique<Handle>(path)) {}
LibBigBedFile::~LibBigBedFile() = default;

std::vector<LibBigBedFile::Entry> LibBigBedFile::entries(const std::string& chrom, std::int64_t begin,
                                                         std::int64_t end) const {
  const std::unique_ptr<bbOverlappingEntries_t, decltype(&bbDestroyOverlappingEntries)> found(
      bbGetOverlappingEntries(handle_->file, chrom.c_str(), static_cast<std::uint32_t>(begin),
                              static_cast<std::uint32_t>(end), 1),
      &bbDestroyOverlappingEntries);
  std::vector<Entry> all;
  for (std::uint32_t i = 0; found && i < found->l; ++i)
    all.push_back({found->start[i], found->end[i], found->str[i]});
  return all;
}

std::string LibBigBedFile::description() const {
  const std::unique_ptr<char, decltype(&std::free)> text(bbGetSQL(handle_->file), &std::free);
  return text ? text.get() : "";
}

}  // namespace semicrf::test
