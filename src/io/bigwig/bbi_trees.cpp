#include "io/bigwig/bbi_trees.h"

#include <algorithm>
#include <numeric>

namespace semicrf {
namespace {

constexpr std::size_t kFanOut = 256;  // children of a node
constexpr std::uint32_t kTreeMagic = 0x78CA8C91, kIndexMagic = 0x2468ACE0;

void put_node(std::string& text, bool is_leaf, std::size_t count) {
  put_number(text, static_cast<std::uint8_t>(is_leaf ? 1 : 0));
  put_number(text, std::uint8_t{0});
  put_number(text, static_cast<std::uint16_t>(count));
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

std::string block_index(std::span<const BbiBlock> blocks, std::uint64_t first, std::uint64_t at) {
  constexpr std::uint64_t kIndexHeader = 48;
  std::string text;
  put_number(text, kIndexMagic);
  put_number(text, static_cast<std::uint32_t>(kFanOut));
  put_number(text, static_cast<std::uint64_t>(blocks.size()));
  const BbiBlock none, &left = blocks.empty() ? none : blocks.front(),
                       &right = blocks.empty() ? none : blocks.back();
  for (const std::uint32_t number : {left.chrom, left.begin, right.chrom, right.end})
    put_number(text, number);
  std::uint64_t end = first;
  for (const BbiBlock& block : blocks) end += block.bytes;
  put_number(text, end);
  put_number(text, std::uint32_t{1});
  put_number(text, std::uint32_t{0});
  std::uint64_t offset = first;
  return text + tree_nodes(
                    blocks.size(), 32, 24, at + kIndexHeader,
                    [&](std::string& node, std::size_t i) {
                      const BbiBlock& block = blocks[i];
                      for (const std::uint32_t number : {block.chrom, block.begin, block.chrom, block.end})
                        put_number(node, number);
                      put_number(node, offset);
                      put_number(node, static_cast<std::uint64_t>(block.bytes));
                      offset += block.bytes;
                    },
                    [&](std::string& node, std::size_t from, std::size_t to, std::uint64_t child) {
                      for (const std::uint32_t number :
                           {blocks[from].chrom, blocks[from].begin, blocks[to].chrom, blocks[to].end})
                        put_number(node, number);
                      put_number(node, child);
                    });
}

std::string chromosome_tree(const std::vector<Chromosome>& chromosomes, std::uint64_t at) {
  constexpr std::uint64_t kTreeHeader = 32;
  std::vector<std::size_t> order(chromosomes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return chromosomes[i].name; });
  std::size_t key_bytes = 1;
  for (const Chromosome& chrom : chromosomes) key_bytes = std::max(key_bytes, chrom.name.size());
  const auto put_key = [&](std::string& node, std::size_t i) {
    node += chromosomes[order[i]].name;
    node.append(key_bytes - chromosomes[order[i]].name.size(), '\0');
  };
  std::string text;
  put_number(text, kTreeMagic);
  put_number(text, static_cast<std::uint32_t>(std::min(kFanOut, order.size())));
  put_number(text, static_cast<std::uint32_t>(key_bytes));
  put_number(text, std::uint32_t{8});
  put_number(text, static_cast<std::uint64_t>(order.size()));
  put_number(text, std::uint64_t{0});
  return text + tree_nodes(
                    order.size(), key_bytes + 8, key_bytes + 8, at + kTreeHeader,
                    [&](std::string& node, std::size_t i) {
                      put_key(node, i);
                      put_number(node, static_cast<std::uint32_t>(order[i]));
                      put_number(node, static_cast<std::uint32_t>(chromosomes[order[i]].length));
                    },
                    [&](std::string& node, std::size_t from, std::size_t, std::uint64_t child) {
                      put_key(node, from);
                      put_number(node, child);
                    });
}

}  // namespace semicrf
