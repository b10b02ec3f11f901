// Writes small bigWig files of every shape the format allows, and tells where each field is, so that tests
// can damage it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/bigwig/bigwig_reader.h"
#include "support/files/byte_writer.h"

namespace semicrf::test {

enum class FixtureType : std::uint8_t { kBedGraph = 1, kVariableStep = 2, kFixedStep = 3 };

struct FixtureInterval {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  float value = 0;
};

// One data block. For variableStep and fixedStep the intervals must have the stated span and step.
struct FixtureSection {
  std::uint32_t chrom_id = 0;
  FixtureType type = FixtureType::kBedGraph;
  std::vector<FixtureInterval> intervals;
  std::uint32_t step = 0;
  std::uint32_t span = 0;
};

struct BigWigFixture {
  std::vector<Chromosome> chromosomes;   // ids 0, 1, ...
  std::vector<FixtureSection> sections;  // in the order of the file, which need not be sorted
  bool big_endian = false;
  bool compressed = true;
  std::uint32_t fanout = 3;  // children per index node
};

// Byte offsets in the written file.
struct BigWigLayout {
  struct Block {
    std::size_t data = 0;    // the (compressed) section
    std::size_t bytes = 0;   // its size in the file
    std::size_t record = 0;  // its index record
  };
  std::size_t chrom_tree = 0;
  std::size_t chrom_records = 0;  // records of the (only) leaf
  std::size_t chrom_record_bytes = 0;
  std::size_t index = 0;
  std::vector<std::size_t> inner_nodes;  // the root first
  std::vector<Block> blocks;             // parallel to the sections
};

// Inner index boxes are made from the first and last child only, as some writers do; they are wrong when
// sections are not sorted by chromosome.
ByteVector write_bigwig(const BigWigFixture& fixture, BigWigLayout* layout = nullptr);

// One section of each type.
FixtureSection bedgraph_section(std::uint32_t chrom_id, std::vector<FixtureInterval> intervals);
FixtureSection variable_step_section(std::uint32_t chrom_id, std::uint32_t span,
                                     const std::vector<std::uint32_t>& begins,
                                     const std::vector<float>& values);
FixtureSection fixed_step_section(std::uint32_t chrom_id, std::uint32_t begin, std::uint32_t step,
                                  std::uint32_t span, const std::vector<float>& values);

}  // namespace semicrf::test
