#include "support/files/bigwig_fixture.h"

#include <libdeflate.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace semicrf::test {
namespace {

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kSummaryBytes = 40;

ByteVector deflated(const ByteVector& bytes) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  ByteVector packed(libdeflate_zlib_compress_bound(compressor, bytes.size()));
  packed.resize(
      libdeflate_zlib_compress(compressor, bytes.data(), bytes.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  if (packed.empty()) throw std::runtime_error("cannot compress a section");
  return packed;
}

ByteVector section_bytes(const FixtureSection& section, bool big_endian) {
  ByteWriter out(big_endian);
  out.u32(section.chrom_id);
  out.u32(section.intervals.front().begin);
  out.u32(section.intervals.back().end);
  out.u32(section.step);
  out.u32(section.span);
  out.u8(static_cast<std::uint8_t>(section.type));
  out.u8(0);
  out.u16(static_cast<std::uint16_t>(section.intervals.size()));
  for (const FixtureInterval& interval : section.intervals) {
    if (section.type != FixtureType::kFixedStep) out.u32(interval.begin);
    if (section.type == FixtureType::kBedGraph) out.u32(interval.end);
    out.number(interval.value);
  }
  return out.take();
}

void write_chrom_tree(const BigWigFixture& fixture, ByteWriter& out, BigWigLayout& layout) {
  std::size_t key_bytes = 1;
  for (const Chromosome& chrom : fixture.chromosomes) key_bytes = std::max(key_bytes, chrom.name.size());
  const auto count = static_cast<std::uint32_t>(fixture.chromosomes.size());
  layout.chrom_tree = out.size();
  out.u32(0x78CA8C91);
  out.u32(count);
  out.u32(static_cast<std::uint32_t>(key_bytes));
  out.u32(8);
  out.u64(count);
  out.u64(0);
  out.u8(1);
  out.u8(0);
  out.u16(static_cast<std::uint16_t>(count));
  layout.chrom_records = out.size();
  layout.chrom_record_bytes = key_bytes + 8;
  for (std::uint32_t id = 0; id < count; ++id) {
    const Chromosome& chrom = fixture.chromosomes[id];
    out.text(chrom.name);
    out.zeros(key_bytes - chrom.name.size());
    out.u32(id);
    out.u32(static_cast<std::uint32_t>(chrom.length));
  }
}

struct Box {
  std::uint32_t first_chrom = 0, begin = 0, last_chrom = 0, end = 0;
};

struct Child {
  Box box;
  std::uint64_t offset = 0;
};

void write_box(ByteWriter& out, const Box& box) {
  out.u32(box.first_chrom);
  out.u32(box.begin);
  out.u32(box.last_chrom);
  out.u32(box.end);
}

void write_node_header(ByteWriter& out, bool leaf, std::size_t count) {
  out.u8(leaf ? 1 : 0);
  out.u8(0);
  out.u16(static_cast<std::uint16_t>(count));
}

// Nodes are written leaves first, so the root's place is only known at the end: the tree starts with an inner
// node that has the root of the rest as its one child.
void write_index(const BigWigFixture& fixture, ByteWriter& out, BigWigLayout& layout) {
  const auto box_of = [](const FixtureSection& s) {
    return Box{s.chrom_id, s.intervals.front().begin, s.chrom_id, s.intervals.back().end};
  };
  layout.index = out.size();
  out.u32(0x2468ACE0);
  out.u32(fixture.fanout);
  out.u64(fixture.sections.size());
  out.zeros(16);  // box of the whole tree
  out.u64(0);     // end of the data
  out.u32(1);
  out.u32(0);
  layout.inner_nodes.push_back(out.size());
  write_node_header(out, false, 1);
  const std::size_t top = out.size();
  out.zeros(24);

  std::vector<Child> level;
  const std::size_t count = fixture.sections.size();
  for (std::size_t first = 0; first < count || first == 0; first += fixture.fanout) {
    const std::size_t end = std::min<std::size_t>(count, first + fixture.fanout);
    Child leaf{{}, out.size()};
    write_node_header(out, true, end - first);
    for (std::size_t i = first; i < end; ++i) {
      layout.blocks[i].record = out.size();
      write_box(out, box_of(fixture.sections[i]));
      out.u64(layout.blocks[i].data);
      out.u64(layout.blocks[i].bytes);
    }
    if (first < end) {
      const Box a = box_of(fixture.sections[first]), b = box_of(fixture.sections[end - 1]);
      leaf.box = {a.first_chrom, a.begin, b.last_chrom, b.end};
    }
    level.push_back(leaf);
  }
  while (level.size() > 1) {
    std::vector<Child> above;
    for (std::size_t first = 0; first < level.size(); first += fixture.fanout) {
      const std::size_t end = std::min<std::size_t>(level.size(), first + fixture.fanout);
      const Box a = level[first].box, b = level[end - 1].box;
      above.push_back({{a.first_chrom, a.begin, b.last_chrom, b.end}, out.size()});
      layout.inner_nodes.push_back(out.size());
      write_node_header(out, false, end - first);
      for (std::size_t i = first; i < end; ++i) {
        write_box(out, level[i].box);
        out.u64(level[i].offset);
      }
    }
    level = above;
  }
  const Box box = level.front().box;
  out.at(top, box.first_chrom);
  out.at(top + 4, box.begin);
  out.at(top + 8, box.last_chrom);
  out.at(top + 12, box.end);
  out.at(top + 16, level.front().offset);
}

}  // namespace

ByteVector write_bigwig(const BigWigFixture& fixture, BigWigLayout* layout_out) {
  BigWigLayout layout;
  layout.blocks.resize(fixture.sections.size());
  ByteWriter out(fixture.big_endian);
  out.zeros(kHeaderBytes + kSummaryBytes);
  write_chrom_tree(fixture, out, layout);
  const std::size_t data = out.size();
  out.u32(static_cast<std::uint32_t>(fixture.sections.size()));
  std::size_t largest = 1;  // 0 would mean uncompressed
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < fixture.sections.size(); ++i) {
    const ByteVector plain = section_bytes(fixture.sections[i], fixture.big_endian);
    const ByteVector stored = fixture.compressed ? deflated(plain) : plain;
    largest = std::max(largest, plain.size());
    layout.blocks[i] = {out.size(), stored.size(), 0};
    out.raw(stored);
    for (const FixtureInterval& interval : fixture.sections[i].intervals)
      covered += interval.end - interval.begin;
  }
  write_index(fixture, out, layout);

  out.at(0, std::uint32_t{0x888FFC26});
  out.at(4, std::uint16_t{4});
  out.at(8, std::uint64_t{layout.chrom_tree});
  out.at(16, std::uint64_t{data});
  out.at(24, std::uint64_t{layout.index});
  out.at(44, std::uint64_t{kHeaderBytes});
  out.at(52, static_cast<std::uint32_t>(fixture.compressed ? largest : 0));
  out.at(kHeaderBytes, covered);
  if (layout_out != nullptr) *layout_out = layout;
  return out.take();
}

FixtureSection bedgraph_section(std::uint32_t chrom_id, std::vector<FixtureInterval> intervals) {
  return {chrom_id, FixtureType::kBedGraph, std::move(intervals), 0, 0};
}

FixtureSection variable_step_section(std::uint32_t chrom_id, std::uint32_t span,
                                     const std::vector<std::uint32_t>& begins,
                                     const std::vector<float>& values) {
  FixtureSection section{chrom_id, FixtureType::kVariableStep, {}, 0, span};
  for (std::size_t i = 0; i < values.size(); ++i)
    section.intervals.push_back({begins[i], begins[i] + span, values[i]});
  return section;
}

FixtureSection fixed_step_section(std::uint32_t chrom_id, std::uint32_t begin, std::uint32_t step,
                                  std::uint32_t span, const std::vector<float>& values) {
  FixtureSection section{chrom_id, FixtureType::kFixedStep, {}, step, span};
  for (const float value : values) {
    section.intervals.push_back({begin, begin + span, value});
    begin += step;
  }
  return section;
}

}  // namespace semicrf::test
