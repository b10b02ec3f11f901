#include "io/bigwig/bigwig_reader.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/threads/parallel.h"
#include "io/bigwig/bigwig_index.h"
#include "io/bigwig/bigwig_section.h"
#include "io/bigwig/bin_sweep.h"
#include "io/files/byte_view.h"
#include "io/files/input_kind.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

constexpr std::size_t kNoChromosome = std::numeric_limits<std::size_t>::max();

bool is_swapped(const MappedFile& file) {
  require_input_kind(InputKind::kBigWig, file.path(), file.bytes());
  return file.bytes()[0] == 0x88;
}

}  // namespace

struct BigWigFile::State {
  explicit State(const std::string& path)
      : file(path),
        view(file.bytes(), path, is_swapped(file)),
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
  return {static_cast<std::uint64_t>(first_bin), static_cast<std::uint64_t>(size),
          static_cast<std::uint64_t>(first_bin * size),
          static_cast<std::uint64_t>(std::min((first_bin + count) * size, length))};
}

void BigWigFile::State::fill_bins(std::size_t chrom, std::int64_t first_bin, std::int64_t bin_size,
                                  SumSink sink, int threads) {
  const BinWindow bins = window(chrom, first_bin, bin_size, sink.bins());
  sink.clear();
  if (sink.bins() == 0) return;
  file.require_unchanged();
  const auto wanted = blocks_in(chrom, bins.begin, bins.end);
  if (wanted.empty()) return;
  const std::size_t workers =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), 1, wanted.size());
  prepare_decoders(workers, wanted.front());

  std::vector<BlockEdges> edges(wanted.size());
  // Worker 0 begins with the first block, which its decoder may have from the last call.
  parallel_for(static_cast<int>(workers), wanted.size(), [&](std::size_t i, int worker) {
    const BlockContext where = context(chrom, wanted[i]);
    const BigWigSection section = decoders[static_cast<std::size_t>(worker)].decode(where, index.compressed);
    edges[i] = view.swap() ? sweep_section<true>(where, section, bins, sink)
                           : sweep_section<false>(where, section, bins, sink);
  });

  PartialBin open;
  const auto store = [&] {
    if (open.covered > 0)
      sink.store(static_cast<std::size_t>(open.bin - bins.first_bin), open.sum, open.covered);
  };
  for (const BlockEdges& block : edges) {
    for (int e = 0; e < block.count; ++e) {
      const PartialBin& part = block.bins[static_cast<std::size_t>(e)];
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

BigWigFile BigWigFile::open(const std::string& path) { return BigWigFile(std::make_unique<State>(path)); }

const std::string& BigWigFile::path() const { return state_->file.path(); }
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

void BigWigFile::read(std::size_t chrom, std::int64_t begin, std::int64_t end, const IntervalVisitor& visit) {
  constexpr std::size_t kIntervalsPerVisit = 4096;
  State& state = *state_;
  if (begin < 0 || end < begin || end > chromosomes().at(chrom).length)
    throw std::logic_error("bigWig read: bad range");
  if (begin == end) return;
  state.file.require_unchanged();
  const auto wanted =
      state.blocks_in(chrom, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
  if (wanted.empty()) return;
  state.prepare_decoders(1, wanted.front());

  std::vector<BigWigInterval> ready;
  ready.reserve(kIntervalsPerVisit);
  const auto hand_over = [&] {
    if (!ready.empty()) visit(ready);
    ready.clear();
  };
  const auto collect = [&](std::uint64_t from, std::uint64_t to, float value) {
    const BigWigInterval clipped{std::max(static_cast<std::int64_t>(from), begin),
                                 std::min(static_cast<std::int64_t>(to), end), value};
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
