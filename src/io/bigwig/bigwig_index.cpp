#include "io/bigwig/bigwig_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/text/names.h"
#include "core/text/utf8.h"

namespace semicrf {
namespace {

constexpr std::uint32_t kBigBedSignature = 0x8789F2EB;
constexpr std::uint32_t kChromTreeMagic = 0x78CA8C91;
constexpr std::uint32_t kIndexMagic = 0x2468ACE0;
constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint64_t kChromTreeHeaderBytes = 32;
constexpr std::uint64_t kIndexHeaderBytes = 48;
constexpr std::uint64_t kNodeHeaderBytes = 4;  // leaf flag, reserved byte, count
constexpr std::uint64_t kLeafRecordBytes =
    32;  // first chromosome and base, last chromosome and base, offset, size
constexpr std::uint64_t kInnerRecordBytes = 24;
constexpr int kNewestVersion = 4;
constexpr int kMaxDepth = 64;
// A section has at most 65535 intervals of 12 bytes, which deflate can enlarge only by a few bytes per 64
// KiB.
constexpr std::uint64_t kMaxBlockBytes = 1 << 20;

struct Header {
  bool bigbed = false;  // else bigWig
  std::uint64_t chrom_tree = 0;
  std::uint64_t data = 0;
  std::uint64_t index = 0;
  std::uint64_t summary = 0;
};

Header read_header(const ByteView& view, BigWigIndex& index) {
  view.slice(0, kHeaderBytes, "the header");
  index.version = view.number<std::uint16_t>(4, "version");
  if (index.version < 1 || index.version > kNewestVersion) {
    view.fail(4, fmt::format("bigWig version {} is not supported; expected 1 to 4", index.version));
  }
  index.zoom_levels = view.number<std::uint16_t>(6, "zoom levels");
  // Only whether the buffer size is 0 matters: a block's true bound is the 65535 intervals it can count.
  index.compressed = view.number<std::uint32_t>(52, "buffer size") != 0;
  return {view.number<std::uint32_t>(0, "the signature") == kBigBedSignature,
          view.number<std::uint64_t>(8, "chromosome list offset"),
          view.number<std::uint64_t>(16, "data offset"), view.number<std::uint64_t>(24, "index offset"),
          view.number<std::uint64_t>(44, "summary offset")};
}

std::optional<BigWigSummary> read_summary(const ByteView& view, std::uint64_t offset) {
  if (offset == 0) return std::nullopt;
  view.slice(offset, 40, "the summary");
  return BigWigSummary{
      view.number<std::uint64_t>(offset, "summary"), view.number<double>(offset + 8, "summary"),
      view.number<double>(offset + 16, "summary"), view.number<double>(offset + 24, "summary"),
      view.number<double>(offset + 32, "summary")};
}

struct Node {
  std::uint64_t records = 0;  // offset of the first record
  std::uint32_t count = 0;
  bool leaf = false;
};

// Depth-first over a tree of nodes. Nodes of a sound file are distinct, so a walk that meets one twice is in
// a cycle.
class TreeWalk {
 public:
  TreeWalk(const ByteView& view, const char* what, std::uint64_t leaf_record_bytes,
           std::uint64_t inner_record_bytes)
      : view_(view), what_(what), leaf_bytes_(leaf_record_bytes), inner_bytes_(inner_record_bytes) {}

  // `on_leaf(node)` for every leaf in order. The child's offset is the last 8 bytes of an inner record.
  template <typename OnLeaf>
  void run(std::uint64_t root, OnLeaf&& on_leaf) {
    struct Open {
      Node node;
      std::uint32_t next = 0;
    };
    std::vector<Open> path;
    const auto enter = [&](std::uint64_t offset) {
      const Node node = read(offset);
      if (node.leaf) {
        on_leaf(node);
        return;
      }
      if (path.size() >= kMaxDepth) view_.fail(offset, std::string(what_) + " is nested too deeply");
      path.push_back({node});
    };
    enter(root);
    while (!path.empty()) {
      Open& top = path.back();
      if (top.next == top.node.count) {
        path.pop_back();
        continue;
      }
      ++top.next;
      enter(view_.number<std::uint64_t>(top.node.records + top.next * inner_bytes_ - 8, what_));
    }
  }

 private:
  Node read(std::uint64_t offset) {
    view_.slice(offset, kNodeHeaderBytes, what_);
    if (!seen_.insert(offset).second) view_.fail(offset, std::string(what_) + " reaches the same node twice");
    const auto flag = view_.number<std::uint8_t>(offset, what_);
    const auto count = view_.number<std::uint16_t>(offset + 2, what_);
    if (flag > 1)
      view_.fail(offset, fmt::format("{}: node type {} is not 0 (inner) or 1 (leaf)", what_, flag));
    const Node node{offset + kNodeHeaderBytes, count, flag == 1};
    const std::uint64_t bytes = count * (node.leaf ? leaf_bytes_ : inner_bytes_);
    view_.slice(node.records, bytes, what_);
    // Overlapping nodes could still make the walk long; together they may not be larger than the file.
    walked_ += kNodeHeaderBytes + bytes;
    if (walked_ > view_.size())
      view_.fail(offset, std::string(what_) + " has more nodes than the file can hold");
    return node;
  }

  const ByteView& view_;
  const char* what_;
  std::uint64_t leaf_bytes_;
  std::uint64_t inner_bytes_;
  std::uint64_t walked_ = 0;
  std::unordered_set<std::uint64_t> seen_;
};

std::string chromosome_name(const ByteView& view, std::uint64_t offset, std::uint64_t key_bytes) {
  const auto key = view.slice(offset, key_bytes, "a chromosome name");
  const auto end = std::find(key.begin(), key.end(), std::uint8_t{0});
  std::string name(key.begin(), end);
  if (name.empty()) view.fail(offset, "a chromosome has an empty name");
  if (const std::string problem = name_problem(name); !problem.empty())
    throw InputError({view.file(), fmt::to_string(offset),
                      "the chromosome name '" + shortened(name, 60) + "': " + problem,
                      "make the file again with other names"});
  return name;
}

// Sorts the chromosomes by id and refuses a name or an id that occurs twice.
void order_chromosomes(const ByteView& view, std::uint64_t offset, BigWigIndex& index) {
  std::vector<std::size_t> order(index.chromosomes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return index.chromosome_ids[a] < index.chromosome_ids[b]; });
  BigWigIndex sorted;
  std::unordered_set<std::string_view> names;
  for (const std::size_t i : order) {
    const std::uint32_t id = index.chromosome_ids[i];
    if (!sorted.chromosome_ids.empty() && sorted.chromosome_ids.back() == id) {
      view.fail(offset, fmt::format("two chromosomes have the id {}", id));
    }
    if (!names.insert(index.chromosomes[i].name).second) {
      view.fail(offset, "chromosome '" + index.chromosomes[i].name + "' is listed twice");
    }
    sorted.chromosome_ids.push_back(id);
    sorted.chromosomes.push_back(index.chromosomes[i]);
  }
  index.chromosomes = std::move(sorted.chromosomes);
  index.chromosome_ids = std::move(sorted.chromosome_ids);
}

void read_chromosomes(const ByteView& view, std::uint64_t offset, BigWigIndex& index) {
  const char* what = "the chromosome list";
  view.slice(offset, kChromTreeHeaderBytes, what);
  if (view.number<std::uint32_t>(offset, what) != kChromTreeMagic)
    view.fail(offset, "expected the chromosome list here");
  const std::uint64_t key_bytes = view.number<std::uint32_t>(offset + 8, what);
  const auto value_bytes = view.number<std::uint32_t>(offset + 12, what);
  const auto stated = view.number<std::uint64_t>(offset + 16, what);
  if (stated == 0) return;  // a file without data
  if (key_bytes == 0 || key_bytes > view.size())
    view.fail(offset + 8, fmt::format("chromosome names of {} bytes", key_bytes));
  if (value_bytes != 8)
    view.fail(offset + 12, fmt::format("chromosome values of {} bytes, expected 8", value_bytes));

  TreeWalk walk(view, what, key_bytes + 8, key_bytes + 8);
  walk.run(offset + kChromTreeHeaderBytes, [&](const Node& leaf) {
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      const std::uint64_t at = leaf.records + i * (key_bytes + 8);
      Chromosome chrom{chromosome_name(view, at, key_bytes),
                       view.number<std::uint32_t>(at + key_bytes + 4, what)};
      if (chrom.length == 0) view.fail(at, "chromosome '" + chrom.name + "' has length 0");
      index.chromosome_ids.push_back(view.number<std::uint32_t>(at + key_bytes, what));
      index.chromosomes.push_back(std::move(chrom));
    }
  });
  if (index.chromosomes.size() != stated) {
    view.fail(offset + 16, fmt::format("the chromosome list states {} chromosomes and holds {}", stated,
                                       index.chromosomes.size()));
  }
  order_chromosomes(view, offset, index);
}

// Whether the file counts no data: then some programs write no index.
bool holds_no_data(const ByteView& view, const Header& header) {
  if (header.data == 0 || view.number<std::uint32_t>(header.data, "the block count") != 0) return false;
  const bool has_index = header.index != 0 && header.index + kIndexHeaderBytes <= view.size() &&
                         view.number<std::uint32_t>(header.index, "the index") == kIndexMagic;
  return !has_index;
}

// Groups the records of a leaf into runs of one chromosome and adds them to the chromosome's list.
class RunCollector {
 public:
  RunCollector(const ByteView& view, BigWigIndex& index) : view_(view), index_(index) {
    for (std::size_t i = 0; i < index.chromosome_ids.size(); ++i) by_id_.emplace(index.chromosome_ids[i], i);
    index.runs.resize(index.chromosomes.size());
  }

  void add_leaf(const Node& leaf) {
    index_.block_count += leaf.count;
    std::uint32_t first = 0;
    while (first < leaf.count) {
      const std::uint32_t id = chromosome_of(leaf, first);
      std::uint32_t end = first + 1;
      while (end < leaf.count && chromosome_of(leaf, end) == id) ++end;
      const std::uint64_t at = leaf.records + first * kLeafRecordBytes;
      const auto known = by_id_.find(id);
      if (known == by_id_.end())
        view_.fail(at, fmt::format("data for chromosome id {}, which is not listed", id));
      index_.runs[known->second].push_back({at, end - first});
      first = end;
    }
  }

 private:
  std::uint32_t chromosome_of(const Node& leaf, std::uint32_t record) const {
    const std::uint64_t at = leaf.records + record * kLeafRecordBytes;
    const auto id = view_.number<std::uint32_t>(at, "the index");
    if (view_.number<std::uint32_t>(at + 8, "the index") != id)
      view_.fail(at, "an index record spans several chromosomes");
    return id;
  }

  const ByteView& view_;
  BigWigIndex& index_;
  std::unordered_map<std::uint32_t, std::size_t> by_id_;
};

// Whether blocks * per_block items, of which the last block of a chromosome may have fewer, can be `items`.
bool fit_in_blocks(std::uint64_t items, std::uint64_t blocks, std::uint64_t per_block) {
  return per_block > 1 && blocks <= items && blocks >= items / per_block + (items % per_block != 0);
}

void read_index(const ByteView& view, const Header& header, BigWigIndex& index) {
  const std::uint64_t offset = header.index;
  if (holds_no_data(view, header)) {
    index.runs.resize(index.chromosomes.size());
    return;
  }
  view.slice(offset, kIndexHeaderBytes, "the index");
  if (view.number<std::uint32_t>(offset, "the index") != kIndexMagic)
    view.fail(offset, "expected the data index here");
  RunCollector collector(view, index);
  TreeWalk walk(view, "the index", kLeafRecordBytes, kInnerRecordBytes);
  walk.run(offset + kIndexHeaderBytes, [&](const Node& leaf) { collector.add_leaf(leaf); });
  // The count stands in two places; data is missing when neither agrees with what the index lists.
  const auto in_index = view.number<std::uint64_t>(offset + 8, "the index");
  const auto in_data = view.number<std::uint32_t>(header.data, "the block count");
  // The first versions of bigBed count items, several of which are in a block.
  const auto per_block = view.number<std::uint32_t>(offset + 40, "the index");
  const bool fits = header.bigbed && fit_in_blocks(in_index, index.block_count, per_block);
  if (in_index != index.block_count && in_data != index.block_count && !fits) {
    view.fail(offset + 8,
              fmt::format("the index states {} blocks and lists {}", in_index, index.block_count));
  }
}

[[noreturn]] void fail_at(const ByteView& view, const Chromosome& chrom, std::uint64_t base,
                          const std::string& what) {
  throw InputError({view.file(), fmt::format("{}:{}", chrom.name, base + 1), what, "the file is damaged"});
}

BigWigBlock read_block(const ByteView& view, std::uint64_t at, const Chromosome& chrom, bool bigbed) {
  const char* what = "the index";
  BigWigBlock block;
  block.begin = view.number<std::uint32_t>(at + 4, what);
  block.end = view.number<std::uint32_t>(at + 12, what);
  block.offset = view.number<std::uint64_t>(at + 16, what);
  const auto bytes = view.number<std::uint64_t>(at + 24, what);
  // A block of bigBed may hold points alone.
  if (block.begin > block.end || (block.begin == block.end && !bigbed))
    fail_at(view, chrom, block.begin, "a data block is empty or inverted");
  if (block.begin > chrom.length || (block.begin == chrom.length && !bigbed)) {
    fail_at(view, chrom, block.begin,
            fmt::format("a data block begins past the chromosome's end at {}", chrom.length));
  }
  if (block.offset < kHeaderBytes || bytes == 0 || bytes > kMaxBlockBytes) {
    view.fail(at, fmt::format("an index record points to {} bytes at offset {}", bytes, block.offset));
  }
  view.slice(block.offset, bytes, "a data block");
  block.bytes = static_cast<std::uint32_t>(bytes);
  return block;
}

}  // namespace

BigWigIndex BigWigIndex::read(const ByteView& view) {
  BigWigIndex index;
  const Header header = read_header(view, index);
  index.bigbed = header.bigbed;
  if (index.version >= 2) index.summary = read_summary(view, header.summary);
  read_chromosomes(view, header.chrom_tree, index);
  read_index(view, header, index);
  return index;
}

BigWigBlock BigWigIndex::block(const ByteView& view, std::size_t chrom, std::uint64_t place) const {
  auto run = runs[chrom].begin();
  for (; place >= run->count; ++run) place -= run->count;
  return read_block(view, run->offset + place * kLeafRecordBytes, chromosomes[chrom], bigbed);
}

std::vector<BigWigBlock> BigWigIndex::blocks_of(const ByteView& view, std::size_t chrom) const {
  const Chromosome& info = chromosomes[chrom];
  std::vector<BigWigBlock> blocks;
  for (const IndexRun& run : runs[chrom]) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      blocks.push_back(read_block(view, run.offset + i * kLeafRecordBytes, info, bigbed));
    }
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const BigWigBlock& a, const BigWigBlock& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::uint32_t next =
        i + 1 < blocks.size() ? blocks[i + 1].begin : static_cast<std::uint32_t>(info.length);
    if (next <= blocks[i].begin)
      fail_at(view, info, blocks[i].begin, "two data blocks begin at the same base");
    blocks[i].end = std::min(blocks[i].end, next);
  }
  return blocks;
}

}  // namespace semicrf
