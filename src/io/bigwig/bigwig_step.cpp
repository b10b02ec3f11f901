#include "io/bigwig/bigwig_step.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "io/bigwig/bigwig_section.h"

namespace semicrf {
namespace {

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
  const auto length = static_cast<std::uint64_t>(where.chrom.length);
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
