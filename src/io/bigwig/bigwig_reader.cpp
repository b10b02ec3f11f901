#include "io/bigwig/bigwig_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/threads/parallel.h"
#include "io/bigwig/bigwig_index.h"
#include "io/bigwig/bigwig_section.h"
#include "io/files/byte_view.h"
#include "io/files/input_kind.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

// Turns the intervals of one bigWig block into bin sums. Blocks can be swept by different threads: bins that
// lie wholly in a block's range are stored at once, the (at most two) bins at its ends are handed out as
// partial sums, which the caller joins in block order. So the result does not depend on who swept what.

struct PartialBin {
  std::uint64_t bin = 0;
  double sum = 0;
  std::uint32_t covered = 0;
};

struct BlockEdges {
  std::array<PartialBin, 2> bins;  // ascending
  int count = 0;
};

// Stores finished bins. Bins count from the window's first one.
class SumSink {
 public:
  explicit SumSink(BinSums out) : out_(out) {}
  std::size_t bins() const { return out_.sum.size(); }
  void clear() {
    std::fill(out_.sum.begin(), out_.sum.end(), 0.0);
    std::fill(out_.covered.begin(), out_.covered.end(), std::uint32_t{0});
  }
  void store(std::size_t bin, double sum, std::uint32_t covered) {
    out_.sum[bin] = sum;
    out_.covered[bin] = covered;
  }
  // `count` bins, each covered whole by `value`.
  void fill(std::size_t bin, std::size_t count, float value, std::uint64_t bin_size) {
    std::fill_n(out_.sum.data() + bin, count, value * static_cast<double>(bin_size));
    std::fill_n(out_.covered.data() + bin, count, bin_size);
  }
  // `count` bins, each covered whole by a value of its own, in the byte order of the file.
  template <bool kSwap>
  void copy(std::size_t bin, std::size_t count, const std::uint8_t* values, std::uint64_t bin_size) {
    const auto size = static_cast<double>(bin_size);
    double* sum = out_.sum.data() + bin;
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] = load_number<float, kSwap>(values + 4 * i) * size;
    }
    std::fill_n(out_.covered.data() + bin, count, bin_size);
  }

 private:
  BinSums out_;
};

// The bins to fill, and the bases they cover.
struct BinWindow {
  std::uint64_t first_bin = 0;
  std::uint64_t bin_size = 1;
  std::uint64_t begin = 0;  // bases, clipped to the chromosome
  std::uint64_t end = 0;
};

class BinSweep {
 public:
  BinSweep(SumSink& sink, const BinWindow& window, const BigWigBlock& block)
      : sink_(sink),
        window_(window),
        bin_size_(window.bin_size),
        own_begin_((block.begin + bin_size_ - 1) / bin_size_),
        own_end_(block.end / bin_size_) {}

  // Intervals come in ascending order, without overlap, inside the window.
  void add(std::uint64_t begin, std::uint64_t end, float value) {
    if (begin >= bin_end_) move_to(begin);
    if (end > bin_end_) {
      collect(bin_end_ - begin, value);
      begin = bin_end_;
      if (end - begin >= bin_size_) {
        fill_whole_bins((end - begin) / bin_size_, value);
        begin = bin_end_;
        if (begin == end) return;
      }
      step();
    }
    collect(end - begin, value);
  }

  BlockEdges finish() {
    flush();
    return edges_;
  }

 private:
  void collect(std::uint64_t bases, float value) {
    sum_ += value * static_cast<double>(bases);
    covered_ += static_cast<std::uint32_t>(bases);
  }

  // The whole bins in the middle of an interval are that interval's alone.
  void fill_whole_bins(std::uint64_t count, float value) {
    flush();
    sink_.fill(bin_ + 1 - window_.first_bin, count, value, bin_size_);
    bin_ += count;
    bin_end_ += count * bin_size_;
  }

  void step() {
    flush();
    ++bin_;
    bin_end_ += bin_size_;
  }

  void move_to(std::uint64_t base) {
    if (base < bin_end_ + bin_size_ && bin_end_ != 0) {
      step();
      return;
    }
    flush();
    bin_ = base / bin_size_;
    bin_end_ = (bin_ + 1) * bin_size_;
  }

  void flush() {
    if (covered_ == 0) return;
    if (bin_ >= own_begin_ && bin_ < own_end_) {
      sink_.store(bin_ - window_.first_bin, sum_, covered_);
    } else {
      edges_.bins[edges_.count++] = {bin_, sum_, covered_};
    }
    sum_ = 0;
    covered_ = 0;
  }

  SumSink& sink_;
  const BinWindow& window_;
  std::uint64_t bin_size_;
  std::uint64_t own_begin_;  // bins [own_begin_, own_end_) lie wholly in the block's range
  std::uint64_t own_end_;
  std::uint64_t bin_ = 0;
  std::uint64_t bin_end_ = 0;  // end of bin_; 0 before the first interval
  double sum_ = 0;
  std::uint32_t covered_ = 0;
  BlockEdges edges_;
};

// True when none of `count` stored floats is infinite or NaN.
template <bool kSwap>
bool all_finite(const std::uint8_t* values, std::size_t count) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  constexpr std::uint32_t kMask = kSwap ? __builtin_bswap32(kExponent) : kExponent;
  std::uint32_t special = 0;
  for (std::size_t i = 0; i < count; ++i) {
    special |= (load_number<std::uint32_t, false>(values + 4 * i) & kMask) == kMask ? 1 : 0;
  }
  return special == 0;
}

// A fixedStep section without gaps whose intervals are one or several whole bins, all finite, is stored
// without checking each. False: it is not one.
template <bool kSwap>
bool store_whole_bins(const BlockContext& context, const BigWigSection& section, const BinWindow& window,
                      SumSink& sink) {
  const std::uint64_t size = window.bin_size;
  const std::uint64_t span = section.span;
  if (section.type != SectionType::kFixedStep || section.step != span || span == 0) return false;
  if (span % size != 0 || section.begin % size != 0) return false;
  const std::uint64_t end = section.begin + section.count * span;
  if (section.begin < context.block.begin || end > context.block.end) return false;
  if (!all_finite<kSwap>(section.items, section.count)) return false;
  const std::uint64_t bins = span / size;  // bins of one interval
  const std::uint64_t section_bin = section.begin / size;
  const std::uint64_t first = std::max(section_bin, window.first_bin);
  const std::uint64_t last = std::min(section_bin + section.count * bins, window.first_bin + sink.bins());
  if (bins == 1 && first < last) {
    sink.copy<kSwap>(first - window.first_bin, last - first, section.items + 4 * (first - section_bin), size);
    return true;
  }
  std::uint64_t bin = first;
  for (std::uint64_t i = (first - section_bin) / bins; bin < last; ++i) {
    const std::uint64_t next = std::min(section_bin + (i + 1) * bins, last);
    sink.fill(bin - window.first_bin, next - bin, load_number<float, kSwap>(section.items + 4 * i), size);
    bin = next;
  }
  return true;
}

// Sweeps one section into the window's bins.
template <bool kSwap>
BlockEdges sweep_section(const BlockContext& context, const BigWigSection& section, const BinWindow& window,
                         SumSink& sink) {
  if (store_whole_bins<kSwap>(context, section, window, sink)) return {};
  BinSweep sweep(sink, window, context.block);
  visit_intervals<kSwap>(context, section, [&](std::uint64_t begin, std::uint64_t end, float value) {
    begin = std::max(begin, window.begin);
    end = std::min(end, window.end);
    if (begin < end && value == value) sweep.add(begin, end, value);
  });
  return sweep.finish();
}

constexpr std::size_t kNoChromosome = std::numeric_limits<std::size_t>::max();

bool is_swapped(const MappedFile& file) {
  require_input_kind(InputKind::kBigWig, file.path(), file.bytes());
  return file.bytes()[0] == 0x88;
}

}  // namespace

struct BigWigFile::State {
  State(const std::string& path, const std::string& shown)
      : file(path),
        name(shown),
        view(file.bytes(), name, is_swapped(file)),
        index(BigWigIndex::read(view)),
        by_name(index.chromosomes.size()) {
    std::iota(by_name.begin(), by_name.end(), std::size_t{0});
    std::ranges::sort(by_name, {},
                      [&](std::size_t i) -> std::string_view { return index.chromosomes[i].name; });
  }

  // The blocks that meet bases [begin, end) of a chromosome; its block list is kept until another one is
  // asked for.
  std::span<const BigWigBlock> blocks_in(std::size_t chrom, std::uint64_t begin, std::uint64_t end) {
    if (chrom != loaded) {
      loaded = kNoChromosome;
      blocks = index.blocks_of(view, chrom);
      loaded = chrom;
    }
    const auto first = std::ranges::upper_bound(blocks, begin, {}, &BigWigBlock::end);
    const auto last = std::ranges::lower_bound(first, blocks.end(), end, {}, &BigWigBlock::begin);
    return {first, last};
  }

  BlockContext context(std::size_t chrom, const BigWigBlock& block) const {
    return {view, index.chromosomes[chrom], index.chromosome_ids[chrom], block};
  }

  // At least `count` decoders; the first one has the block at hand where the last call ended, if any has it.
  void prepare_decoders(std::size_t count, const BigWigBlock& first_block) {
    while (decoders.size() < count) decoders.emplace_back();
    const auto holder =
        std::find_if(decoders.begin(), decoders.end(), [&](const auto& d) { return d.holds(first_block); });
    if (holder != decoders.end() && holder != decoders.begin()) std::swap(*holder, decoders.front());
  }

  void fill_bins(std::size_t chrom, std::int64_t first_bin, std::int64_t bin_size, SumSink sink, int threads);
  BinWindow window(std::size_t chrom, std::int64_t first_bin, std::int64_t bin_size, std::size_t bins) const;

  MappedFile file;
  std::string name;
  ByteView view;
  BigWigIndex index;
  std::vector<std::size_t> by_name;    // places of the chromosomes, in the order of their names
  std::size_t loaded = kNoChromosome;  // the chromosome of `blocks`
  std::vector<BigWigBlock> blocks;
  std::vector<SectionDecoder> decoders;
};

BinWindow BigWigFile::State::window(std::size_t chrom, std::int64_t first_bin, std::int64_t bin_size,
                                    std::size_t bins) const {
  const std::int64_t length = index.chromosomes.at(chrom).length;
  if (bin_size < 1 || first_bin < 0) throw std::logic_error("bigWig bins: bad bin size or first bin");
  // A bin larger than the chromosome is its only bin, so larger sizes mean nothing more.
  const std::int64_t size = std::min(bin_size, length);
  const std::int64_t total = (length + size - 1) / size;
  const auto count = static_cast<std::int64_t>(bins);
  if (count > total || first_bin > total - count)
    throw std::logic_error("bigWig bins: past the chromosome's end");
  BinWindow window;
  window.first_bin = first_bin;
  window.bin_size = size;
  window.begin = first_bin * size;
  window.end = std::min((first_bin + count) * size, length);
  return window;
}

void BigWigFile::State::fill_bins(std::size_t chrom, std::int64_t first_bin, std::int64_t bin_size,
                                  SumSink sink, int threads) {
  const BinWindow bins = window(chrom, first_bin, bin_size, sink.bins());
  sink.clear();
  if (sink.bins() == 0) return;
  file.require_unchanged();
  const auto wanted = blocks_in(chrom, bins.begin, bins.end);
  if (wanted.empty()) return;
  const std::size_t workers = std::clamp<std::size_t>(std::max(threads, 1), 1, wanted.size());
  prepare_decoders(workers, wanted.front());

  std::vector<BlockEdges> edges(wanted.size());
  // Worker 0 begins with the first block, which its decoder may have from the last call.
  parallel_for(static_cast<int>(workers), wanted.size(), [&](std::size_t i, int worker) {
    const BlockContext where = context(chrom, wanted[i]);
    const BigWigSection section = decoders[worker].decode(where, index.compressed);
    edges[i] = view.swap() ? sweep_section<true>(where, section, bins, sink)
                           : sweep_section<false>(where, section, bins, sink);
  });

  PartialBin open;
  const auto store = [&] {
    if (open.covered > 0) sink.store(open.bin - bins.first_bin, open.sum, open.covered);
  };
  for (const BlockEdges& block : edges) {
    for (int e = 0; e < block.count; ++e) {
      const PartialBin& part = block.bins[e];
      if (part.bin != open.bin) {
        store();
        open = {part.bin, 0, 0};
      }
      open.sum += part.sum;
      open.covered += part.covered;
    }
  }
  store();
}

BigWigFile::BigWigFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
BigWigFile::~BigWigFile() = default;
BigWigFile::BigWigFile(BigWigFile&&) noexcept = default;
BigWigFile& BigWigFile::operator=(BigWigFile&&) noexcept = default;

BigWigFile BigWigFile::open(const std::string& path, const std::string& name) {
  return BigWigFile(std::make_unique<State>(path, name));
}

const std::string& BigWigFile::path() const { return state_->name; }
std::size_t BigWigFile::bytes() const { return state_->file.size(); }
const std::vector<Chromosome>& BigWigFile::chromosomes() const { return state_->index.chromosomes; }
bool BigWigFile::has_values(std::size_t chrom) const { return !state_->index.runs.at(chrom).empty(); }
std::uint64_t BigWigFile::block_count() const { return state_->index.block_count; }
BigWigStep BigWigFile::sampled_step() const { return sample_step(state_->view, state_->index); }
int BigWigFile::version() const { return state_->index.version; }
int BigWigFile::zoom_levels() const { return state_->index.zoom_levels; }
bool BigWigFile::compressed() const { return state_->index.compressed; }
bool BigWigFile::big_endian() const { return state_->view.swap(); }
const std::optional<BigWigSummary>& BigWigFile::summary() const { return state_->index.summary; }

std::optional<std::size_t> BigWigFile::find_chromosome(std::string_view name) const {
  const auto name_of = [&](std::size_t i) -> std::string_view { return chromosomes()[i].name; };
  const auto found = std::ranges::lower_bound(state_->by_name, name, {}, name_of);
  if (found == state_->by_name.end() || name_of(*found) != name) return std::nullopt;
  return *found;
}

void BigWigFile::let_go() const { state_->file.let_go(state_->file.bytes()); }

void BigWigFile::read(std::size_t chrom, std::int64_t begin, std::int64_t end, const IntervalVisitor& visit) {
  constexpr std::size_t kIntervalsPerVisit = 4096;
  State& state = *state_;
  if (begin < 0 || end < begin || end > chromosomes().at(chrom).length)
    throw std::logic_error("bigWig read: bad range");
  if (begin == end) return;
  state.file.require_unchanged();
  const auto wanted = state.blocks_in(chrom, begin, end);
  if (wanted.empty()) return;
  state.prepare_decoders(1, wanted.front());

  std::vector<BigWigInterval> ready;
  ready.reserve(kIntervalsPerVisit);
  const auto hand_over = [&] {
    if (!ready.empty()) visit(ready);
    ready.clear();
  };
  const auto collect = [&](std::int64_t from, std::int64_t to, float value) {
    const BigWigInterval clipped{std::max(from, begin), std::min(to, end), value};
    if (clipped.begin >= clipped.end || value != value) return;
    ready.push_back(clipped);
    if (ready.size() == kIntervalsPerVisit) hand_over();
  };
  for (const BigWigBlock& block : wanted) {
    const BlockContext where = state.context(chrom, block);
    const BigWigSection section = state.decoders.front().decode(where, state.index.compressed);
    if (state.view.swap()) {
      visit_intervals<true>(where, section, collect);
    } else {
      visit_intervals<false>(where, section, collect);
    }
  }
  hand_over();
}

void BigWigFile::bin_sums(std::size_t chrom, std::int64_t first_bin, std::int64_t bin_size, BinSums out,
                          int threads) {
  if (out.sum.size() != out.covered.size()) throw std::logic_error("bigWig bins: spans of different size");
  state_->fill_bins(chrom, first_bin, bin_size, SumSink(out), threads);
}

}  // namespace semicrf
