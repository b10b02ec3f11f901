#include "io/bigwig/bigwig_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/error.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

constexpr std::size_t kItems = 1024, kZoomRecords = 512;  // per block
constexpr std::size_t kFanOut = 256;                      // children of a node of the trees
constexpr std::size_t kMostLevels = 10;
constexpr std::int64_t kZoomFactor = 4;
constexpr int kCompression = 6;                         // of libdeflate: as small as zlib's
constexpr std::size_t kSpooled = std::size_t{1} << 18;  // bytes in memory
constexpr std::uint32_t kMagic = 0x888FFC26, kTreeMagic = 0x78CA8C91, kIndexMagic = 0x2468ACE0;
constexpr std::uint64_t kHeaderBytes = 64, kZoomHeaderBytes = 24, kSummaryBytes = 40;

// Little-endian, whatever the machine.
template <class Number>
void put(std::string& text, Number number) {
  if constexpr (sizeof(Number) == 4 && std::is_floating_point_v<Number>) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    put(text, bits);
  } else if constexpr (std::is_floating_point_v<Number>) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    put(text, bits);
  } else {
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      text += static_cast<char>(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i)));
  }
}

void put_node(std::string& text, bool is_leaf, std::size_t count) {
  put(text, static_cast<std::uint8_t>(is_leaf ? 1 : 0));
  put(text, std::uint8_t{0});
  put(text, static_cast<std::uint16_t>(count));
}

std::size_t nodes_for(std::size_t entries) {
  return std::max<std::size_t>(1, (entries + kFanOut - 1) / kFanOut);
}

// The nodes of a tree level by level from the root, over `leaves` entries of `leaf_bytes`; inner entries have
// `inner_bytes`. put_leaf(text, i) writes entry i, put_inner(text, first, last, offset) one for the entries
// first to last. `at`: where the root is in the file.
template <class PutLeaf, class PutInner>
std::string tree_nodes(std::size_t leaves, std::size_t leaf_bytes, std::size_t inner_bytes, std::uint64_t at,
                       PutLeaf put_leaf, PutInner put_inner) {
  // Numbers of entries by level, leaves first; each further level has an entry per node below.
  std::vector<std::size_t> entries{leaves}, spans{1};  // leaf entries that an entry stands for
  while (nodes_for(entries.back()) > 1) {
    entries.push_back(nodes_for(entries.back()));
    spans.push_back(spans.back() * kFanOut);
  }
  std::string text;
  std::uint64_t begin = at;
  for (std::size_t level = entries.size(); level-- > 0;) {
    const std::size_t nodes = nodes_for(entries[level]), bytes = level == 0 ? leaf_bytes : inner_bytes;
    const std::uint64_t next = begin + nodes * 4 + entries[level] * bytes;  // where the level below begins
    std::uint64_t child = next;
    for (std::size_t node = 0; node < nodes; ++node) {
      const std::size_t first = node * kFanOut, last = std::min(entries[level], first + kFanOut);
      put_node(text, level == 0, last - first);
      for (std::size_t i = first; i < last; ++i) {
        if (level == 0) {
          put_leaf(text, i);
          continue;
        }
        put_inner(text, i * spans[level], std::min(leaves, (i + 1) * spans[level]) - 1, child);
        const std::size_t below = std::min(entries[level - 1], (i + 1) * kFanOut) - i * kFanOut;
        child += 4 + below * (level == 1 ? leaf_bytes : inner_bytes);
      }
    }
    begin = next;
  }
  return text;
}

}  // namespace

void BigWigBlocks::add(std::span<const std::byte> packed, std::uint32_t chrom, std::uint32_t begin,
                       std::uint32_t end) {
  const std::size_t blob = spool_.append(packed);
  places_.push_back({chrom, begin, end, static_cast<std::uint32_t>(packed.size()), blob});
  bytes_ += packed.size();
}

std::string BigWigBlocks::index(std::uint64_t first, std::uint64_t at) const {
  constexpr std::uint64_t kIndexHeader = 48;
  std::string text;
  put(text, kIndexMagic);
  put(text, static_cast<std::uint32_t>(kFanOut));
  put(text, static_cast<std::uint64_t>(places_.size()));
  const Place none, &left = places_.empty() ? none : places_.front(),
                    &right = places_.empty() ? none : places_.back();
  for (const std::uint32_t number : {left.chrom, left.begin, right.chrom, right.end}) put(text, number);
  put(text, first + bytes_);
  put(text, std::uint32_t{1});
  put(text, std::uint32_t{0});
  std::uint64_t offset = first;
  return text + tree_nodes(
                    places_.size(), 32, 24, at + kIndexHeader,
                    [&](std::string& node, std::size_t i) {
                      const Place& place = places_[i];
                      for (const std::uint32_t number : {place.chrom, place.begin, place.chrom, place.end})
                        put(node, number);
                      put(node, offset);
                      put(node, static_cast<std::uint64_t>(place.bytes));
                      offset += place.bytes;
                    },
                    [&](std::string& node, std::size_t from, std::size_t to, std::uint64_t child) {
                      for (const std::uint32_t number :
                           {places_[from].chrom, places_[from].begin, places_[to].chrom, places_[to].end})
                        put(node, number);
                      put(node, child);
                    });
}

void BigWigBlocks::copy_to(OutputFile& output) const {
  std::vector<std::byte> block;
  for (const Place& place : places_) {
    block.resize(place.bytes);
    spool_.read(place.blob, block);
    output.write({reinterpret_cast<const char*>(block.data()), block.size()});
  }
}

struct BigWigWriter::ZoomLevel {
  ZoomLevel(std::int64_t bases, TempSpool& spool) : reduction(bases), blocks(spool) {}

  std::int64_t reduction;  // bases of a record
  ZoomRecord open;         // covered 0: none
  std::vector<ZoomRecord> records;
  std::uint32_t count = 0;
  BigWigBlocks blocks;
};

BigWigWriter::BigWigWriter(std::vector<ChromInfo> chromosomes, std::int64_t zoom, const std::string& folder)
    : chromosomes_(std::move(chromosomes)),
      spool_(kSpooled, folder),
      data_(spool_),
      compressor_(libdeflate_alloc_compressor(kCompression), libdeflate_free_compressor) {
  if (!compressor_) throw std::bad_alloc();
  if (chromosomes_.empty())
    throw InputError({"", "", "a bigWig file must list a chromosome, and there is none", ""});
  std::int64_t longest = 0;
  for (const ChromInfo& chrom : chromosomes_) {
    if (chrom.length < 1 || chrom.length > std::numeric_limits<std::uint32_t>::max())
      throw InputError({"", "",
                        in_quotes(chrom.name) + " has " + std::to_string(chrom.length) +
                            " bases, more than a bigWig file can hold",
                        "write bedGraph"});
    longest = std::max(longest, chrom.length);
  }
  std::int64_t reduction = std::max<std::int64_t>(1, zoom);
  do {
    levels_.push_back(std::make_unique<ZoomLevel>(reduction, spool_));
    reduction *= kZoomFactor;
  } while (levels_.size() < kMostLevels && reduction < longest);
  items_.reserve(kItems);
}

BigWigWriter::~BigWigWriter() = default;

void BigWigWriter::add(std::size_t chrom, std::int64_t begin, std::int64_t end, float value) {
  if (chrom != chrom_) {
    end_chromosome();
    if (chrom < chrom_) throw std::logic_error("bigWig: a chromosome in two places");
    chrom_ = chrom;
    end_ = 0;
  }
  if (begin < end_ || begin >= end || end > chromosomes_[chrom].length || !std::isfinite(value))
    throw std::logic_error("bigWig: an interval out of order");
  end_ = end;
  items_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), value});
  if (items_.size() == kItems) end_section();
  const double number = static_cast<double>(value), bases = static_cast<double>(end - begin);
  summary_.minimum = summary_.bases_covered == 0 ? number : std::min(summary_.minimum, number);
  summary_.maximum = summary_.bases_covered == 0 ? number : std::max(summary_.maximum, number);
  summary_.bases_covered += static_cast<std::uint64_t>(end - begin);
  summary_.sum += bases * number;
  summary_.sum_of_squares += bases * number * number;
  // Records begin at multiples of their width.
  const std::int64_t width = levels_.front()->reduction;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t stop = std::min(end, (at / width + 1) * width);
    const auto part = static_cast<double>(stop - at);
    zoom_in(0, {static_cast<std::uint32_t>(chrom), static_cast<std::uint32_t>(at),
                static_cast<std::uint32_t>(stop), static_cast<std::uint32_t>(stop - at), number, number,
                part * number, part * number * number});
    at = stop;
  }
}

// `part` lies within one record of the level.
void BigWigWriter::zoom_in(std::size_t level, const ZoomRecord& part) {
  ZoomLevel& zoom = *levels_[level];
  ZoomRecord& open = zoom.open;
  if (open.covered > 0 && open.begin / zoom.reduction != part.begin / zoom.reduction) end_record(level);
  if (open.covered == 0) {
    open = part;
    return;
  }
  open.end = part.end;
  open.covered += part.covered;
  open.minimum = std::min(open.minimum, part.minimum);
  open.maximum = std::max(open.maximum, part.maximum);
  open.sum += part.sum;
  open.squares += part.squares;
}

void BigWigWriter::end_record(std::size_t level) {
  ZoomLevel& zoom = *levels_[level];
  if (zoom.open.covered == 0) return;
  zoom.records.push_back(zoom.open);
  if (zoom.records.size() == kZoomRecords) end_zoom_block(level);
  if (level + 1 < levels_.size()) zoom_in(level + 1, zoom.open);
  zoom.open = {};
}

void BigWigWriter::end_zoom_block(std::size_t level) {
  ZoomLevel& zoom = *levels_[level];
  if (zoom.records.empty()) return;
  std::string block;
  for (const ZoomRecord& record : zoom.records) {
    for (const std::uint32_t number : {record.chrom, record.begin, record.end, record.covered})
      put(block, number);
    for (const double number : {record.minimum, record.maximum, record.sum, record.squares})
      put(block, static_cast<float>(number));
  }
  zoom.count += static_cast<std::uint32_t>(zoom.records.size());
  zoom.blocks.add(packed(block), zoom.records.front().chrom, zoom.records.front().begin,
                  zoom.records.back().end);
  zoom.records.clear();
}

// Blocks and records do not cross chromosomes.
void BigWigWriter::end_chromosome() {
  end_section();
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    end_record(level);
    end_zoom_block(level);
  }
}

void BigWigWriter::end_section() {
  if (items_.empty()) return;
  const std::uint32_t width = items_.front().end - items_.front().begin;
  bool even = true;  // one width, without gaps
  for (std::size_t i = 0; i < items_.size(); ++i)
    even =
        even && items_[i].end - items_[i].begin == width && (i == 0 || items_[i].begin == items_[i - 1].end);
  std::string block;
  for (const std::uint32_t number : {static_cast<std::uint32_t>(chrom_), items_.front().begin,
                                     items_.back().end, even ? width : 0, even ? width : 0})
    put(block, number);
  put(block, static_cast<std::uint8_t>(even ? 3 : 1));  // fixedStep, bedGraph
  put(block, std::uint8_t{0});
  put(block, static_cast<std::uint16_t>(items_.size()));
  for (const Item& item : items_) {
    if (!even) {
      put(block, item.begin);
      put(block, item.end);
    }
    put(block, item.value);
  }
  data_.add(packed(block), static_cast<std::uint32_t>(chrom_), items_.front().begin, items_.back().end);
  items_.clear();
}

std::span<const std::byte> BigWigWriter::packed(const std::string& block) {
  largest_ = std::max(largest_, static_cast<std::uint32_t>(block.size()));
  buffer_.resize(libdeflate_zlib_compress_bound(compressor_.get(), block.size()));
  const std::size_t size =
      libdeflate_zlib_compress(compressor_.get(), block.data(), block.size(), buffer_.data(), buffer_.size());
  return {buffer_.data(), size};
}

// Keys are sorted by name; the values are the places in the order of the file.
std::string BigWigWriter::chromosome_tree(std::uint64_t at) const {
  constexpr std::uint64_t kTreeHeader = 32;
  std::vector<std::size_t> order(chromosomes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return chromosomes_[i].name; });
  std::size_t key_bytes = 1;
  for (const ChromInfo& chrom : chromosomes_) key_bytes = std::max(key_bytes, chrom.name.size());
  const auto put_key = [&](std::string& node, std::size_t i) {
    node += chromosomes_[order[i]].name;
    node.append(key_bytes - chromosomes_[order[i]].name.size(), '\0');
  };
  std::string text;
  put(text, kTreeMagic);
  put(text, static_cast<std::uint32_t>(std::min(kFanOut, order.size())));
  put(text, static_cast<std::uint32_t>(key_bytes));
  put(text, std::uint32_t{8});
  put(text, static_cast<std::uint64_t>(order.size()));
  put(text, std::uint64_t{0});
  return text + tree_nodes(
                    order.size(), key_bytes + 8, key_bytes + 8, at + kTreeHeader,
                    [&](std::string& node, std::size_t i) {
                      put_key(node, i);
                      put(node, static_cast<std::uint32_t>(order[i]));
                      put(node, static_cast<std::uint32_t>(chromosomes_[order[i]].length));
                    },
                    [&](std::string& node, std::size_t from, std::size_t, std::uint64_t child) {
                      put_key(node, from);
                      put(node, child);
                    });
}

void BigWigWriter::write(OutputFile& output) {
  end_chromosome();
  const std::uint64_t summary_at = kHeaderBytes + kZoomHeaderBytes * levels_.size();
  const std::uint64_t tree_at = summary_at + kSummaryBytes;
  const std::string tree = chromosome_tree(tree_at);
  const std::uint64_t data_at = tree_at + tree.size(), index_at = data_at + 8 + data_.bytes();
  const std::string index = data_.index(data_at + 8, index_at);
  std::vector<std::uint64_t> zoom_at;
  std::vector<std::string> zoom_index;
  std::uint64_t at = index_at + index.size();
  for (const auto& level : levels_) {
    zoom_at.push_back(at);
    zoom_index.push_back(level->blocks.index(at + 4, at + 4 + level->blocks.bytes()));
    at += 4 + level->blocks.bytes() + zoom_index.back().size();
  }
  std::string head;
  put(head, kMagic);
  put(head, std::uint16_t{4});
  put(head, static_cast<std::uint16_t>(levels_.size()));
  for (const std::uint64_t offset : {tree_at, data_at, index_at}) put(head, offset);
  put(head, std::uint32_t{0});  // fields, as of bigBed
  put(head, std::uint64_t{0});
  put(head, summary_at);
  put(head, largest_);
  put(head, std::uint64_t{0});
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    put(head, static_cast<std::uint32_t>(levels_[i]->reduction));
    put(head, std::uint32_t{0});
    put(head, zoom_at[i]);
    put(head, zoom_at[i] + 4 + levels_[i]->blocks.bytes());
  }
  put(head, summary_.bases_covered);
  for (const double number : {summary_.minimum, summary_.maximum, summary_.sum, summary_.sum_of_squares})
    put(head, number);
  output.write(head);
  output.write(tree);
  std::string count;
  put(count, static_cast<std::uint64_t>(data_.places().size()));
  output.write(count);
  data_.copy_to(output);
  output.write(index);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    count.clear();
    put(count, levels_[i]->count);
    output.write(count);
    levels_[i]->blocks.copy_to(output);
    output.write(zoom_index[i]);
  }
  std::string magic;
  put(magic, kMagic);
  output.write(magic);
}

}  // namespace semicrf
