#include "reads/tile_counter.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace semicrf {

namespace {

std::uint64_t key_of(std::size_t chromosome, std::int64_t tile) {
  return std::uint64_t{chromosome} << 32 | tile;
}

// Seven bits a byte, the lowest first; the highest bit says that there are more.
void put_varint(std::vector<std::byte>& bytes, std::uint64_t number) {
  for (; number >= 128; number >>= 7) bytes.push_back(static_cast<std::byte>(number | 128));
  bytes.push_back(static_cast<std::byte>(number));
}

std::uint64_t take_varint(const std::byte*& at) {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    number |= (byte & 127) << shift;
    if (byte < 128) return number;
  }
}

}  // namespace

void CountStore::put(std::size_t chromosome, std::int64_t tile, std::span<const std::int64_t> counts) {
  std::vector<std::byte> bytes;  // runs: length, count
  bool any = false;
  for (std::size_t i = 0, end = 0; i < counts.size(); i = end) {
    for (end = i + 1; end < counts.size() && counts[end] == counts[i];) ++end;
    put_varint(bytes, end - i);
    put_varint(bytes, counts[i]);
    any = any || counts[i] != 0;
  }
  if (!any) return;
  const std::lock_guard lock(mutex_);
  has_[chromosome] = 1;
  blobs_.emplace(key_of(chromosome, tile), spool_.append(bytes));
}

void CountStore::add_reads(std::int64_t reads) {
  const std::lock_guard lock(mutex_);
  reads_ += reads;
}

void CountStore::read(std::size_t chromosome, std::int64_t tile, std::span<std::int64_t> counts) const {
  std::ranges::fill(counts, 0);
  const auto [first, last] = blobs_.equal_range(key_of(chromosome, tile));
  std::vector<std::byte> bytes;
  for (auto blob = first; blob != last; ++blob) {
    bytes.resize(spool_.blob_size(blob->second));
    spool_.read(blob->second, bytes);
    const std::byte* at = bytes.data();
    for (std::size_t i = 0; i < counts.size();) {
      const std::size_t length = take_varint(at);
      const auto count = static_cast<std::int64_t>(take_varint(at));
      for (std::int64_t& one : counts.subspan(i, length)) one += count;
      i += length;
    }
  }
}

void TileCounter::begin(std::size_t chromosome, std::int64_t begin, std::int64_t end) {
  chromosome_ = chromosome;
  length_ = grid_.chromosomes[chromosome].length;
  begin_ = begin;
  end_ = end;
}

bool TileCounter::add(const Read& read) {
  const bool directed = rule_.shift != 0 || rule_.extend != 0 || rule_.part == CountedPart::kStart ||
                        rule_.strand != ReadStrand::kUnknown;
  if (directed && read.strand == ReadStrand::kUnknown) return false;
  if (rule_.strand != ReadStrand::kUnknown && rule_.strand != read.strand) return true;
  const bool reverse = read.strand == ReadStrand::kReverse;
  const bool single = rule_.mixed && !read.is_of_pair;
  const bool fragment = rule_.fragments && !single;
  if (fragment && (!read.stands_for_pair || read.pair_bases > rule_.longest_fragment)) return true;
  ReadBlock span{read.begin, read.end};
  const std::int64_t bases = fragment ? read.pair_bases : rule_.extend;
  if (bases > 0) (reverse ? span.begin : span.end) = reverse ? span.end - bases : span.begin + bases;
  const std::int64_t shift = fragment ? 0 : rule_.shift;
  const std::int64_t by = reverse ? -shift : shift;
  if (rule_.part == CountedPart::kStart || (single && rule_.part == CountedPart::kCentre)) {
    add_place((reverse ? span.end - 1 : span.begin) + by);
  } else if (rule_.part == CountedPart::kCentre) {
    // A pair of an even length has two middle bases; its first read comes to this one last, as in ChromHMM.
    const bool forward_pair = fragment && read.strand == ReadStrand::kForward;
    const std::int64_t middle = forward_pair ? span.begin + bases / 2 : (span.begin + span.end - 1) >> 1;
    add_place(middle + by);
  } else if (bases > 0 || rule_.part == CountedPart::kSpan) {
    add_blocks({&span, 1}, by);
  } else {
    add_blocks(read.blocks, by);
  }
  return true;
}

void TileCounter::add_place(std::int64_t base) {
  if (rule_.first_bin_takes_more && base < 0 && base > -grid_.bin) base = 0;
  if (base < 0 || base >= length_) return;
  const std::int64_t bin = base / grid_.bin;
  if (bin < begin_ || bin >= end_ || !grid_.wanted.has(chromosome_, bin) ||
      excluded_.any(chromosome_, base, base + 1))
    return;
  const std::int64_t in = bin / grid_.tile_bins();
  ++tile(in).counts[bin - in * grid_.tile_bins()];
  ++reads_;
}

void TileCounter::add_blocks(std::span<const ReadBlock> blocks, std::int64_t by) {
  const auto clipped = [&](const ReadBlock& block) {
    return ReadBlock{std::max<std::int64_t>(0, block.begin + by), std::min(length_, block.end + by)};
  };
  std::int64_t first = -1;  // bin in which it begins to count: it is a read there, whatever tiles it reaches
  for (const ReadBlock& block : blocks) {
    const auto [begin, end] = clipped(block);
    if (begin >= end) continue;
    if (excluded_.any(chromosome_, begin, end)) return;
    if (first >= 0) continue;
    const std::int64_t end_bin = (end - 1) / grid_.bin + 1;
    const std::int64_t bin = grid_.wanted.first(chromosome_, begin / grid_.bin, end_bin);
    if (bin < end_bin) first = bin;
  }
  if (first < 0) return;
  if (first >= begin_ && first < end_) ++reads_;
  std::int64_t next_bin = 0;  // a bin with bases of two blocks counts once
  for (const ReadBlock& block : blocks) {
    const auto [begin, end] = clipped(block);
    if (begin >= end) continue;
    if (rule_.part == CountedPart::kDepth) {
      add_depth(begin, end);
      continue;
    }
    const std::int64_t end_bin = (end - 1) / grid_.bin + 1;
    add_bins(std::max(begin / grid_.bin, next_bin), end_bin);
    next_bin = end_bin;
  }
}

void TileCounter::add_bins(std::int64_t begin, std::int64_t end) {
  begin = std::max(begin, begin_);
  end = std::min(end, end_);
  while (begin < end) {
    const std::int64_t in = begin / grid_.tile_bins(), first = in * grid_.tile_bins();
    Tile& at = tile(in);
    const std::int64_t last = std::min(end, first + grid_.tile_bins());
    ++at.steps[begin - first];
    --at.steps[last - first];
    begin = last;
  }
}

void TileCounter::add_depth(std::int64_t begin, std::int64_t end) {
  const std::int64_t bin = grid_.bin;
  const auto add_part = [&](std::int64_t at_bin, std::int64_t bases) {
    if (at_bin < begin_ || at_bin >= end_) return;
    const std::int64_t in = at_bin / grid_.tile_bins();
    tile(in).counts[at_bin - in * grid_.tile_bins()] += bases;
  };
  const std::int64_t first = begin / bin, last = end / bin;  // the bins in which it begins and ends
  if (first == last) return add_part(first, end - begin);
  const bool cut = begin % bin != 0;
  if (cut) add_part(first, (first + 1) * bin - begin);
  if (end % bin != 0) add_part(last, end % bin);
  add_bins(cut ? first + 1 : first, last);
}

TileCounter::Tile& TileCounter::tile(std::int64_t tile) {
  if (tile == last_) return *last_tile_;
  const auto [place, is_new] = open_.try_emplace(tile);
  if (is_new) {
    if (!spare_.empty()) {
      place->second = std::move(spare_.back());
      spare_.pop_back();
    }
    const std::int64_t bins = std::min(grid_.tile_bins(), grid_.bins(chromosome_) - tile * grid_.tile_bins());
    place->second.counts.assign(bins, 0);
    if (!rule_.is_place()) place->second.steps.assign(bins + 1, 0);
  }
  last_ = tile;
  last_tile_ = &place->second;
  return *last_tile_;
}

void TileCounter::store(std::int64_t tile, Tile& filled) {
  const std::int64_t step = rule_.part == CountedPart::kDepth ? grid_.bin : 1;
  std::int64_t depth = 0;
  for (std::size_t i = 0; i + 1 < filled.steps.size(); ++i) {
    depth += filled.steps[i];
    filled.counts[i] += depth * step;
  }
  if (!grid_.wanted.all())
    for (std::int64_t i = 0; i < std::ssize(filled.counts); ++i)
      if (!grid_.wanted.has(chromosome_, tile * grid_.tile_bins() + i)) filled.counts[i] = 0;
  store_.put(chromosome_, tile, filled.counts);
  spare_.push_back(std::move(filled));
}

void TileCounter::pass(std::int64_t base) {
  const std::int64_t tile_bases = grid_.tile_bins() * grid_.bin;
  while (!open_.empty() && (open_.begin()->first + 1) * tile_bases <= base) {
    store(open_.begin()->first, open_.begin()->second);
    open_.erase(open_.begin());
    last_ = -1;
  }
}

void TileCounter::end() {
  pass(std::numeric_limits<std::int64_t>::max());
  store_.add_reads(std::exchange(reads_, 0));
}

}  // namespace semicrf
