#include "io/bigwig/bbi_trees.h"

#include <algorithm>
#include <vector>

namespace semicrf {
namespace {

constexpr std::size_t kFanOut = 256;  // children of a node
constexpr std::uint32_t kTreeMagic = 0x78CA8C91, kIndexMagic = 0x2468ACE0;
constexpr std::uint64_t kIndexHeader = 48, kTreeHeader = 32, kNodeHeader = 4;
constexpr std::uint64_t kIndexLeaf = 32, kIndexInner = 24;

void put_node(std::string& text, bool is_leaf, std::size_t count) {
  put_number(text, static_cast<std::uint8_t>(is_leaf ? 1 : 0));
  put_number(text, std::uint8_t{0});
  put_number(text, static_cast<std::uint16_t>(count));
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

}  // namespace

std::uint64_t block_index_bytes(std::size_t blocks) {
  return kIndexHeader + tree_bytes(blocks, {kIndexLeaf, kIndexInner});
}

void write_block_index(const BbiBlocks& blocks, std::uint64_t first, std::uint64_t at, const TakeText& take) {
  std::string head;
  put_number(head, kIndexMagic);
  put_number(head, static_cast<std::uint32_t>(kFanOut));
  put_number(head, static_cast<std::uint64_t>(blocks.size()));
  const auto put_range = [](std::string& text, const BbiRange& left, const BbiRange& right) {
    for (const std::uint32_t number : {left.chrom, left.begin, right.last_chrom, right.end})
      put_number(text, number);
  };
  const BbiBlock none;
  put_range(head, (blocks.empty() ? none : blocks.front()).range,
            (blocks.empty() ? none : blocks.back()).range);
  std::uint64_t end = first;
  for (const BbiBlock& block : blocks) end += block.bytes;
  put_number(head, end);
  put_number(head, std::uint32_t{1});
  put_number(head, std::uint32_t{0});
  take(head);
  std::uint64_t offset = first;
  write_nodes(
      blocks.size(), {kIndexLeaf, kIndexInner}, at + kIndexHeader, take,
      [&](std::string& node, std::size_t i) {
        put_range(node, blocks[i].range, blocks[i].range);
        put_number(node, offset);
        put_number(node, static_cast<std::uint64_t>(blocks[i].bytes));
        offset += blocks[i].bytes;
      },
      [&](std::string& node, std::size_t from, std::size_t to, std::uint64_t child) {
        put_range(node, blocks[from].range, blocks[to].range);
        put_number(node, child);
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
  put_number(head, kTreeMagic);
  put_number(head, static_cast<std::uint32_t>(std::min(kFanOut, order.size())));
  put_number(head, static_cast<std::uint32_t>(key_bytes));
  put_number(head, std::uint32_t{8});
  put_number(head, static_cast<std::uint64_t>(order.size()));
  put_number(head, std::uint64_t{0});
  take(head);
  write_nodes(
      order.size(), tree_entry_bytes(chromosomes), at + kTreeHeader, take,
      [&](std::string& node, std::size_t i) {
        put_key(node, i);
        put_number(node, order[i]);
        put_number(node, static_cast<std::uint32_t>(chromosomes.list()[order[i]].length));
      },
      [&](std::string& node, std::size_t from, std::size_t, std::uint64_t child) {
        put_key(node, from);
        put_number(node, child);
      });
}

}  // namespace semicrf
