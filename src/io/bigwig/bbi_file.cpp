#include "io/bigwig/bbi_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "core/error.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

constexpr std::size_t kFanOut = 256;  // children of a node
constexpr std::uint32_t kTreeMagic = 0x78CA8C91, kBlockIndexMagic = 0x2468ACE0;
constexpr std::uint64_t kIndexHeader = 48, kTreeHeader = 32, kNodeHeader = 4;
constexpr std::uint64_t kIndexLeaf = 32, kIndexInner = 24;

void put_node(std::string& text, bool is_leaf, std::size_t count) {
  put<std::uint8_t>(text, is_leaf ? 1 : 0);
  put<std::uint8_t>(text, 0);
  put<std::uint16_t>(text, count);
}

std::size_t nodes_for(std::size_t entries) {
  return std::max<std::size_t>(1, (entries + kFanOut - 1) / kFanOut);
}

// What the entries of a tree take.
struct EntryBytes {
  std::uint64_t leaf = 0, inner = 0;
  std::uint64_t at(std::size_t level) const { return level == 0 ? leaf : inner; }
};

// Numbers of entries by level, leaves first; each further level has an entry per node below.
std::vector<std::size_t> entries_of(std::size_t leaves) {
  std::vector<std::size_t> entries{leaves};
  while (nodes_for(entries.back()) > 1) entries.push_back(nodes_for(entries.back()));
  return entries;
}

std::uint64_t tree_bytes(std::size_t leaves, const EntryBytes& bytes) {
  const std::vector<std::size_t> entries = entries_of(leaves);
  std::uint64_t sum = 0;
  for (std::size_t level = 0; level < entries.size(); ++level)
    sum += nodes_for(entries[level]) * kNodeHeader + entries[level] * bytes.at(level);
  return sum;
}

// The nodes of a tree level by level from the root, over `leaves` entries. put_leaf(text, i) writes entry i,
// put_inner(text, first, last, offset) one for the entries first to last. `at`: where the root is in the
// file.
template <class PutLeaf, class PutInner>
void write_nodes(std::size_t leaves, const EntryBytes& bytes, std::uint64_t at, const TakeText& take,
                 PutLeaf put_leaf, PutInner put_inner) {
  const std::vector<std::size_t> entries = entries_of(leaves);
  std::vector<std::size_t> spans{1};  // leaf entries that an entry stands for
  while (spans.size() < entries.size()) spans.push_back(spans.back() * kFanOut);
  std::string text;
  std::uint64_t begin = at;
  for (std::size_t level = entries.size(); level-- > 0;) {
    const std::size_t nodes = nodes_for(entries[level]);
    // Where the level below begins.
    const std::uint64_t next = begin + nodes * kNodeHeader + entries[level] * bytes.at(level);
    std::uint64_t child = next;
    for (std::size_t node = 0; node < nodes; ++node) {
      const std::size_t first = node * kFanOut, last = std::min(entries[level], first + kFanOut);
      text.clear();
      put_node(text, level == 0, last - first);
      for (std::size_t i = first; i < last; ++i) {
        if (level == 0) {
          put_leaf(text, i);
          continue;
        }
        put_inner(text, i * spans[level], std::min(leaves, (i + 1) * spans[level]) - 1, child);
        const std::size_t below = std::min(entries[level - 1], (i + 1) * kFanOut) - i * kFanOut;
        child += kNodeHeader + below * bytes.at(level - 1);
      }
      take(text);
    }
    begin = next;
  }
}

std::size_t key_bytes_of(const ListedChromosomes& chromosomes) {
  std::size_t bytes = 1;
  for (const Chromosome& chrom : chromosomes.list()) bytes = std::max(bytes, chrom.name.size());
  return bytes;
}

EntryBytes tree_entry_bytes(const ListedChromosomes& chromosomes) {
  const std::uint64_t bytes = key_bytes_of(chromosomes) + 8;
  return {bytes, bytes};
}

constexpr std::size_t kRecords = 512;  // per block
constexpr std::size_t kMostLevels = 10;
constexpr std::int64_t kFactor = 4;

constexpr int kCompression = 6;  // level of libdeflate: as small as zlib's
constexpr std::size_t kSpooled = std::size_t{1} << 18, kSmallSpooled = std::size_t{1} << 14;  // in memory
// Bytes gathered of a level.
constexpr std::size_t kGathered = std::size_t{1} << 14, kFewGathered = std::size_t{1} << 11;
constexpr std::uint64_t kFileHeaderBytes = 64, kZoomHeaderBytes = 24, kSummaryBytes = 40;

std::int64_t longest_of(const ListedChromosomes& chromosomes, const BbiKind& kind) {
  if (chromosomes.empty())
    throw InputError(
        {"", "", std::string("a ") + kind.name + " file must list a chromosome, and there is none", ""});
  std::int64_t longest = 0;
  for (const Chromosome& chrom : chromosomes.list()) {
    if (chrom.length < 1 || chrom.length > std::numeric_limits<std::uint32_t>::max())
      throw InputError({"", "",
                        fmt::format("{} has {} bases, more than a {} file can hold", in_quotes(chrom.name),
                                    chrom.length, kind.name),
                        "write bedGraph or BED"});
    longest = std::max(longest, chrom.length);
  }
  return longest;
}

}  // namespace

std::uint64_t block_index_bytes(std::size_t blocks) {
  return kIndexHeader + tree_bytes(blocks, {kIndexLeaf, kIndexInner});
}

void write_block_index(const BbiBlocks& blocks, std::uint64_t first, std::uint64_t at, const TakeText& take) {
  std::string head;
  put<std::uint32_t>(head, kBlockIndexMagic);
  put<std::uint32_t>(head, kFanOut);
  put<std::uint64_t>(head, blocks.size());
  const auto put_range = [](std::string& text, const BbiRange& left, const BbiRange& right) {
    for (const std::uint32_t number : {left.chrom, left.begin, right.last_chrom, right.end})
      put<std::uint32_t>(text, number);
  };
  const BbiBlock none;
  put_range(head, (blocks.empty() ? none : blocks.front()).range,
            (blocks.empty() ? none : blocks.back()).range);
  std::uint64_t end = first;
  for (const BbiBlock& block : blocks) end += block.bytes;
  put<std::uint64_t>(head, end);
  put<std::uint32_t>(head, 1);
  put<std::uint32_t>(head, 0);
  take(head);
  std::uint64_t offset = first;
  write_nodes(
      blocks.size(), {kIndexLeaf, kIndexInner}, at + kIndexHeader, take,
      [&](std::string& node, std::size_t i) {
        put_range(node, blocks[i].range, blocks[i].range);
        put<std::uint64_t>(node, offset);
        put<std::uint64_t>(node, blocks[i].bytes);
        offset += blocks[i].bytes;
      },
      [&](std::string& node, std::size_t from, std::size_t to, std::uint64_t child) {
        put_range(node, blocks[from].range, blocks[to].range);
        put<std::uint64_t>(node, child);
      });
}

std::uint64_t chromosome_tree_bytes(const ListedChromosomes& chromosomes) {
  return kTreeHeader + tree_bytes(chromosomes.size(), tree_entry_bytes(chromosomes));
}

void write_chromosome_tree(const ListedChromosomes& chromosomes, std::uint64_t at, const TakeText& take) {
  const std::size_t key_bytes = key_bytes_of(chromosomes);
  const std::span<const std::uint32_t> order = chromosomes.by_name();
  const auto put_key = [&](std::string& node, std::size_t i) {
    const std::string& name = chromosomes.list()[order[i]].name;
    node += name;
    node.append(key_bytes - name.size(), '\0');
  };
  std::string head;
  put<std::uint32_t>(head, kTreeMagic);
  put<std::uint32_t>(head, std::min(kFanOut, order.size()));
  put<std::uint32_t>(head, key_bytes);
  put<std::uint32_t>(head, 8);
  put<std::uint64_t>(head, order.size());
  put<std::uint64_t>(head, 0);
  take(head);
  write_nodes(
      order.size(), tree_entry_bytes(chromosomes), at + kTreeHeader, take,
      [&](std::string& node, std::size_t i) {
        put_key(node, i);
        put<std::uint32_t>(node, order[i]);
        put<std::uint32_t>(node, chromosomes.list()[order[i]].length);
      },
      [&](std::string& node, std::size_t from, std::size_t, std::uint64_t child) {
        put_key(node, from);
        put<std::uint64_t>(node, child);
      });
}

BbiZoom::BbiZoom(std::int64_t finest, std::int64_t longest, Emit emit) : emit_(std::move(emit)) {
  std::int64_t reduction = std::max<std::int64_t>(1, finest);
  do {
    levels_.emplace_back().reduction = reduction;
    reduction *= kFactor;
  } while (levels_.size() < kMostLevels && reduction < longest);
}

void BbiZoom::add(std::size_t chrom, std::int64_t begin, std::int64_t end, double value) {
  const auto bases = static_cast<double>(end - begin);
  summary_.minimum = summary_.bases_covered == 0 ? value : std::min(summary_.minimum, value);
  summary_.maximum = summary_.bases_covered == 0 ? value : std::max(summary_.maximum, value);
  summary_.bases_covered += end - begin;
  summary_.sum += bases * value;
  summary_.sum_of_squares += bases * value * value;
  // Records begin at multiples of their width.
  const std::int64_t width = levels_.front().reduction;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t stop = std::min(end, (at / width + 1) * width);
    const auto part = static_cast<double>(stop - at);
    add_part(0, {stored(chrom), stored(at), stored(stop), stored(stop - at), value, value, part * value,
                 part * value * value});
    at = stop;
  }
}

// `part` lies within one record of the level.
void BbiZoom::add_part(std::size_t level, const Record& part) {
  Level& zoom = levels_[level];
  Record& open = zoom.open;
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

void BbiZoom::end_record(std::size_t level) {
  Level& zoom = levels_[level];
  const Record record = zoom.open;
  if (record.covered == 0) return;
  zoom.open = {};
  if (zoom.waiting == 0) {
    zoom.range.chrom = record.chrom;
    zoom.range.begin = record.begin;
  }
  zoom.range.last_chrom = record.chrom;
  zoom.range.end = record.end;
  for (const std::uint32_t number : {record.chrom, record.begin, record.end, record.covered})
    put<std::uint32_t>(zoom.block, number);
  for (const double number : {record.minimum, record.maximum, record.sum, record.squares})
    put<float>(zoom.block, number);
  ++zoom.waiting;
  if (zoom.waiting == kRecords) end_block(level);
  if (level + 1 < levels_.size()) add_part(level + 1, record);
}

void BbiZoom::end_block(std::size_t level) {
  Level& zoom = levels_[level];
  if (zoom.waiting == 0) return;
  emit_(level, zoom.block, zoom.range);
  zoom.written += zoom.waiting;
  zoom.waiting = 0;
  zoom.block.clear();
}

void BbiZoom::end_chromosome() {
  for (std::size_t level = 0; level < levels_.size(); ++level) end_record(level);
}

void BbiZoom::end() {
  end_chromosome();
  for (std::size_t level = 0; level < levels_.size(); ++level) end_block(level);
}

BbiFile::BbiFile(ListedChromosomes chromosomes, BbiKind kind, BbiOptions options)
    : chromosomes_(std::move(chromosomes)),
      kind_(std::move(kind)),
      options_(options),
      spool_(options_.one_of_many ? kSmallSpooled : kSpooled, ""),
      zoom_(options_.zoom, longest_of(chromosomes_, kind_),
            [this](std::size_t level, const std::string& block, const BbiRange& range) {
              pack(levels_[level], block, range);
            }),
      compressor_(nullptr, libdeflate_free_compressor) {
  levels_.resize(zoom_.levels());
}

void BbiFile::add_block(const std::string& block, std::size_t chrom, std::int64_t begin, std::int64_t end) {
  pack(data_, block, {stored(chrom), stored(begin), stored(chrom), stored(end)});
}

void BbiFile::pack(Blocks& blocks, const std::string& block, const BbiRange& range) {
  if (!compressor_) compressor_.reset(libdeflate_alloc_compressor(kCompression));
  if (!compressor_) throw std::bad_alloc();
  largest_ = std::max(largest_, block.size());
  buffer_.resize(libdeflate_zlib_compress_bound(compressor_.get(), block.size()));
  const std::size_t size =
      libdeflate_zlib_compress(compressor_.get(), block.data(), block.size(), buffer_.data(), buffer_.size());
  const std::size_t most = options_.one_of_many ? kFewGathered : kGathered;
  if (blocks.gathered.size() + size > most) spool_gathered(blocks);
  if (size > most) {
    blocks.blobs.push_back(spool_.append({buffer_.data(), size}));
  } else {
    blocks.gathered.insert(blocks.gathered.end(), buffer_.data(), buffer_.data() + size);
  }
  blocks.blocks.push_back({range, stored(size)});
  blocks.bytes += size;
  if (!options_.one_of_many) return;
  compressor_.reset();  // it takes some hundred KiB
  buffer_ = {};
}

void BbiFile::spool_gathered(Blocks& blocks) {
  if (blocks.gathered.empty()) return;
  blocks.blobs.push_back(spool_.append(blocks.gathered));
  blocks.gathered.clear();
}

void BbiFile::copy(const Blocks& blocks, OutputFile& output) const {
  const auto write = [&](const std::vector<std::byte>& bytes) {
    output.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  std::vector<std::byte> blob;
  for (const std::size_t place : blocks.blobs) {
    blob.resize(spool_.blob_size(place));
    spool_.read(place, blob);
    write(blob);
  }
  write(blocks.gathered);
}

void BbiFile::write(OutputFile& output, std::uint64_t count) {
  zoom_.end();
  const std::uint64_t columns_at = kFileHeaderBytes + kZoomHeaderBytes * levels_.size();
  const std::uint64_t columns_bytes = kind_.columns.empty() ? 0 : kind_.columns.size() + 1;
  const std::uint64_t summary_at = columns_at + columns_bytes;
  const std::uint64_t tree_at = summary_at + kSummaryBytes;
  const std::uint64_t data_at = tree_at + chromosome_tree_bytes(chromosomes_);
  const std::uint64_t index_at = data_at + 8 + data_.bytes;
  std::vector<std::uint64_t> zoom_at;
  std::uint64_t at = index_at + block_index_bytes(data_.blocks.size());
  for (const Blocks& level : levels_) {
    zoom_at.push_back(at);
    at += 4 + level.bytes + block_index_bytes(level.blocks.size());
  }
  std::string head;
  put<std::uint32_t>(head, kind_.magic);
  put<std::uint16_t>(head, 4);
  put<std::uint16_t>(head, levels_.size());
  for (const std::uint64_t offset : {tree_at, data_at, index_at}) put<std::uint64_t>(head, offset);
  put<std::uint16_t>(head, kind_.fields);
  put<std::uint16_t>(head, kind_.defined_fields);
  put<std::uint64_t>(head, columns_bytes == 0 ? 0 : columns_at);
  put<std::uint64_t>(head, summary_at);
  put<std::uint32_t>(head, largest_);
  put<std::uint64_t>(head, 0);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    put<std::uint32_t>(head, zoom_.reduction(i));
    put<std::uint32_t>(head, 0);
    put<std::uint64_t>(head, zoom_at[i]);
    put<std::uint64_t>(head, zoom_at[i] + 4 + levels_[i].bytes);
  }
  if (columns_bytes > 0) head.append(kind_.columns).push_back('\0');
  const BigWigSummary& summary = zoom_.summary();
  put<std::uint64_t>(head, summary.bases_covered);
  for (const double number : {summary.minimum, summary.maximum, summary.sum, summary.sum_of_squares})
    put<double>(head, number);
  output.write(head);
  const TakeText take = [&](const std::string& part) { output.write(part); };
  write_chromosome_tree(chromosomes_, tree_at, take);
  const auto write_number = [&]<class Stored>(Stored number) {
    std::string text;
    put<Stored>(text, number);
    output.write(text);
  };
  write_number(count);
  copy(data_, output);
  write_block_index(data_.blocks, data_at + 8, index_at, take);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    write_number(zoom_.records(i));
    copy(levels_[i], output);
    write_block_index(levels_[i].blocks, zoom_at[i] + 4, zoom_at[i] + 4 + levels_[i].bytes, take);
  }
  write_number(kind_.magic);
}

}  // namespace semicrf
