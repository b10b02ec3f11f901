// One data block of a bigWig file: unpacked, its header checked, its intervals visited and checked one by
// one.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>

#include "io/bigwig/bigwig_index.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/files/byte_view.h"

namespace semicrf {

enum class SectionType : std::uint8_t { kBedGraph = 1, kVariableStep = 2, kFixedStep = 3 };

struct BigWigSection {
  SectionType type = SectionType::kBedGraph;
  std::uint32_t begin = 0;  // first base of a fixedStep section
  std::uint32_t step = 0;
  std::uint32_t span = 0;
  std::uint32_t count = 0;
  const std::uint8_t* items = nullptr;  // 12, 8 or 4 bytes each
};

// Where a block belongs: what its contents are checked against.
struct BlockContext {
  const ByteView& view;
  const Chromosome& chrom;
  std::uint32_t chrom_id;
  const BigWigBlock& block;
};

// Unpacks blocks; one per thread. The last block unpacked stays at hand.
class SectionDecoder {
 public:
  bool holds(const BigWigBlock& block) const { return held_offset_ == block.offset; }
  // The section's pointers stay valid until the next call. InputError when the block is damaged.
  BigWigSection decode(const BlockContext& context, bool compressed);

 private:
  std::span<const std::uint8_t> unpack(const BlockContext& context);

  std::unique_ptr<std::uint8_t[]>
      buffer_;  // made when first needed; only the pages that are used take memory
  std::size_t length_ = 0;
  std::uint64_t held_offset_ = 0;  // 0: none
};

// Throws the InputError that explains what is wrong with interval [begin, end) = value, which begins where
// the one before it has ended at `previous_end` at the earliest.
[[noreturn]] void fail_interval(const BlockContext& context, std::uint64_t begin, std::uint64_t end,
                                float value, std::uint64_t previous_end);

// visit(begin, end, value) for every interval in order, NaN included; each is checked first.
template <bool kSwap, typename Visit>
void visit_intervals(const BlockContext& context, const BigWigSection& section, Visit&& visit) {
  std::uint64_t previous_end = context.block.begin;
  const std::uint64_t limit = context.block.end;
  const auto checked = [&](std::uint64_t begin, std::uint64_t end, float value) {
    if (begin < previous_end || end <= begin || end > limit || std::isinf(value)) [[unlikely]] {
      fail_interval(context, begin, end, value, previous_end);
    }
    previous_end = end;
    visit(begin, end, value);
  };
  const std::uint8_t* item = section.items;
  const std::uint64_t span = section.span;
  switch (section.type) {
    case SectionType::kBedGraph:
      for (std::uint32_t i = 0; i < section.count; ++i, item += 12) {
        checked(load_number<std::uint32_t, kSwap>(item), load_number<std::uint32_t, kSwap>(item + 4),
                load_number<float, kSwap>(item + 8));
      }
      break;
    case SectionType::kVariableStep:
      for (std::uint32_t i = 0; i < section.count; ++i, item += 8) {
        const std::uint64_t begin = load_number<std::uint32_t, kSwap>(item);
        checked(begin, begin + span, load_number<float, kSwap>(item + 4));
      }
      break;
    case SectionType::kFixedStep: {
      std::uint64_t begin = section.begin;
      for (std::uint32_t i = 0; i < section.count; ++i, item += 4, begin += section.step) {
        checked(begin, begin + span, load_number<float, kSwap>(item));
      }
      break;
    }
  }
}

// Reads at most kStepSections data blocks, spread evenly over the index from the first to the last, and takes
// the greatest common divisor of the edges of their intervals. A damaged block is passed over: whoever reads
// it says what is wrong with it.
inline constexpr std::uint64_t kStepSections = 16;
BigWigStep sample_step(const ByteView& view, const BigWigIndex& index);

}  // namespace semicrf
