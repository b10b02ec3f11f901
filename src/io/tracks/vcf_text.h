// Reads of two alleles at heterozygous positions, from VCF files of variant callers (VCF 4.x, section 1.6.2:
// GT, AD).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/tracks/track_text.h"

namespace semicrf {

// What a file of this format begins with.
inline constexpr std::string_view kVcfStart = "##fileformat=VCF";

// The samples of a file, and columns `alt` and `depth`. InputError: a header without the line of columns, or
// one without samples.
TrackText vcf_text(const std::string& path);

// Rows are the bins of `bin_size` bases with a position where a sample has two bases, one of them that of the
// reference: the genotype (GT) of `sample.normal`, or of the sample itself, where records that are called
// SOMATIC are passed over. `alt`: reads of the other base in the sample; `depth`: reads of both (AD). Of
// several positions of a bin the one with most reads stands for all, as which allele is the parent's is not
// known. InputError with the line, beside those of TrackTextReader: another number of columns, genotypes and
// reads that are none, positions that are not sorted; at the end, a file without such a position.
std::unique_ptr<TrackTextReader> open_vcf(const TrackText& text, std::span<const std::size_t> columns,
                                          const TextSample& sample, std::int64_t bin_size);

}  // namespace semicrf
