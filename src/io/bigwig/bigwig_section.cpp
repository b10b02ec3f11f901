#include "io/bigwig/bigwig_section.h"

#include <fmt/core.h>
#include <libdeflate.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <string>

#include "core/error.h"

namespace semicrf {
namespace {

constexpr std::size_t kSectionHeaderBytes = 24;
// The count of a section is a 16-bit number, so no block is larger than this, whatever the file says.
constexpr std::size_t kMaxSectionBytes = kSectionHeaderBytes + 65535 * std::size_t{12};

std::size_t item_bytes(SectionType type) {
  switch (type) {
    case SectionType::kBedGraph:
      return 12;
    case SectionType::kVariableStep:
      return 8;
    case SectionType::kFixedStep:
      return 4;
  }
  return 0;
}

// One for all files that a thread reads, as it takes 11 KiB and there may be thousands of files.
libdeflate_decompressor* decompressor() {
  using Owned = std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>;
  thread_local const Owned owned(libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  if (!owned) throw std::bad_alloc();
  return owned.get();
}

// The greatest common divisor of what was added; 0 at first.
class Divisor {
 public:
  void add(std::uint64_t number) {
    if (step_ == 0 || number % step_ != 0) step_ = std::gcd(step_, static_cast<std::uint32_t>(number));
  }
  std::uint32_t step() const { return step_; }

 private:
  std::uint32_t step_ = 0;
};

// Adds the edges of one block. The end of a chromosome is no edge that was chosen.
template <bool kSwap>
void add_edges(const BlockContext& where, const BigWigSection& section, Divisor& divisor) {
  const std::uint64_t length = where.chrom.length;
  if (section.type == SectionType::kFixedStep) {  // known without its values
    divisor.add(section.begin);
    if (section.count > 1) divisor.add(section.step);
    if (section.count > 1 || std::uint64_t{section.begin} + section.span != length) divisor.add(section.span);
    return;
  }
  visit_intervals<kSwap>(where, section, [&](std::uint64_t begin, std::uint64_t end, float value) {
    if (divisor.step() == 1 || value != value) return;
    divisor.add(begin);
    if (end != length) divisor.add(end);
  });
}

// The index records of all blocks, by their place in the index.
class Records {
 public:
  explicit Records(const BigWigIndex& index) : index_(index) {}

  struct Record {
    std::size_t chrom = 0;
    std::uint64_t place = 0;  // among the chromosome's records
  };
  // `number` must not fall from call to call.
  Record find(std::uint64_t number) {
    while (number - before_ >= count(chrom_)) before_ += count(chrom_++);
    return {chrom_, number - before_};
  }

 private:
  std::uint64_t count(std::size_t chrom) const {
    std::uint64_t records = 0;
    for (const IndexRun& run : index_.runs[chrom]) records += run.count;
    return records;
  }

  const BigWigIndex& index_;
  std::size_t chrom_ = 0;
  std::uint64_t before_ = 0;  // records of the chromosomes before it
};

}  // namespace

std::span<const std::uint8_t> SectionDecoder::unpack(const BlockContext& context) {
  const BigWigBlock& block = context.block;
  if (!holds(block)) {
    const auto packed = context.view.slice(block.offset, block.bytes, "a data block");
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::uint8_t[]>(kMaxSectionBytes);
    held_offset_ = 0;
    const libdeflate_result result = libdeflate_zlib_decompress(decompressor(), packed.data(), packed.size(),
                                                                buffer_.get(), kMaxSectionBytes, &length_);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      context.view.fail(block.offset, "a data block unpacks to more than the 65535 intervals it can hold");
    }
    if (result != LIBDEFLATE_SUCCESS) context.view.fail(block.offset, "a data block cannot be decompressed");
    held_offset_ = block.offset;
  }
  return {buffer_.get(), length_};
}

BigWigSection SectionDecoder::decode(const BlockContext& context, bool compressed) {
  const std::uint64_t at = context.block.offset;
  const auto bytes =
      compressed ? unpack(context) : context.view.slice(at, context.block.bytes, "a data block");
  const auto fail = [&](const std::string& what) { context.view.fail(at, what); };
  if (bytes.size() < kSectionHeaderBytes)
    fail(fmt::format("a data block of {} bytes has no header", bytes.size()));
  const ByteView header(bytes.first(kSectionHeaderBytes), {}, context.view.swap());
  const auto type = bytes[20];
  if (type < 1 || type > 3)
    fail(fmt::format("section type {} is not bedGraph, variableStep or fixedStep", type));
  const auto id = header.number<std::uint32_t>(0, "");
  if (id != context.chrom_id) {
    fail(fmt::format("a data block of chromosome id {} is listed under id {}", id, context.chrom_id));
  }
  const BigWigSection section{static_cast<SectionType>(type),       header.number<std::uint32_t>(4, ""),
                              header.number<std::uint32_t>(12, ""), header.number<std::uint32_t>(16, ""),
                              header.number<std::uint16_t>(22, ""), bytes.data() + kSectionHeaderBytes};
  const std::size_t expected = kSectionHeaderBytes + section.count * item_bytes(section.type);
  if (bytes.size() != expected) {
    fail(fmt::format("a data block of {} intervals has {} bytes, expected {}", section.count, bytes.size(),
                     expected));
  }
  return section;
}

void fail_interval(const BlockContext& context, std::uint64_t begin, std::uint64_t end, float value,
                   std::uint64_t previous_end) {
  const auto fail = [&](const std::string& what, const std::string& advice) {
    throw InputError(
        {context.view.file(), fmt::format("{}:{}", context.chrom.name, begin + 1), what, advice});
  };
  const char* damaged = "the file is damaged; rewrite it with the tool that made it";
  const std::uint64_t length = context.chrom.length;
  if (end <= begin) {
    fail(end == begin ? "an interval is empty" : "an interval ends before it begins", damaged);
  }
  if (end > length) {
    fail(fmt::format("an interval ends at {}, past the chromosome's end at {}", end, length),
         "clip it and write the file again");
  }
  if (begin < previous_end && previous_end != context.block.begin) {
    fail(fmt::format("an interval begins before the previous interval ends, at {}", previous_end),
         "merge overlapping intervals and write the file again");
  }
  if (begin < context.block.begin || end > context.block.end) {
    fail("an interval lies outside its block's range in the index, or runs into the next block", damaged);
  }
  fail(value > 0 ? "the value is +Inf" : "the value is -Inf",
       "replace infinite values and write the file again");
  throw std::logic_error("fail_interval: nothing is wrong");
}

BigWigStep sample_step(const ByteView& view, const BigWigIndex& index) {
  const std::uint64_t sampled = std::min(index.block_count, kStepSections);
  SectionDecoder decoder;
  Records records(index);
  BigWigStep step;
  Divisor divisor;
  for (std::uint64_t i = 0; i < sampled && divisor.step() != 1; ++i) {
    const std::uint64_t number = sampled == 1 ? 0 : i * (index.block_count - 1) / (sampled - 1);
    const Records::Record record = records.find(number);
    try {
      const BigWigBlock block = index.block(view, record.chrom, record.place);
      const BlockContext where{view, index.chromosomes[record.chrom], index.chromosome_ids[record.chrom],
                               block};
      const BigWigSection section = decoder.decode(where, index.compressed);
      if (view.swap()) {
        add_edges<true>(where, section, divisor);
      } else {
        add_edges<false>(where, section, divisor);
      }
      ++step.sections;
    } catch (const InputError&) {
      continue;
    }
  }
  step.bases = divisor.step();
  return step;
}

}  // namespace semicrf
