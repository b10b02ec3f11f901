// How reads become counts of bins: the options of `count`, and of tracks that are files of reads. This room
// may include core, log and io.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/reads/read_file.h"

namespace semicrf {

// What of a read is counted. Where it is a place (kStart, kCentre), the bin of that base gets 1.
enum class CountedPart {
  kStart,    // the first base in the direction of the read (its 5' end)
  kCentre,   // the base in the middle
  kOverlap,  // every bin that it has a base in gets 1
  kSpan,     // every bin from its first base to its last one gets 1, also those of deletions and introns
  kDepth,    // a bin gets the mean over its bases of the number of reads that cover them
};

struct CountRule {
  ReadFilter filter;
  ReadStrand strand = ReadStrand::kUnknown;  // that alone; kUnknown: both
  CountedPart part = CountedPart::kStart;
  std::int64_t shift = 0;   // bases that a read is moved in its direction; may be negative
  std::int64_t extend = 0;  // bases that a read has from its first base on; 0: those that are aligned
  bool fragments = false;   // pairs in place of reads; of text, intervals without a strand
  bool mixed =
      false;  // with fragments: reads that are of no pair count, too, in place of a centre their start
  std::int64_t longest_fragment = 1000;  // pairs that span more are left out
  std::int64_t keep_duplicates = 0;      // reads of one place that count (DuplicateFilter); 0: all
  // Places less than a bin before the chromosome count in its first bin, as ChromHMM's division rounds.
  bool first_bin_takes_more = false;

  // Bases that what is counted of a read may lie outside of what it spans.
  std::int64_t reach() const;
  bool is_place() const { return part == CountedPart::kStart || part == CountedPart::kCentre; }
  // Whether a read of any length counts from its 5' end as far as it is aligned.
  bool as_aligned() const { return part != CountedPart::kStart && extend == 0 && (mixed || !fragments); }
};

// UsageError: options that do not go together or are out of range.
void check_count_rule(const CountRule& options);

// The options of "FILE?mapq=30&shift=100": mapq, include, exclude, strand (+ or -), count (start, centre,
// overlap, span or depth), shift, extend, fragments (the longest), mixed (0 or 1), keep-dup. UsageError names
// what is wrong with `text`, the part behind the "?".
CountRule parse_count_rule(std::string_view text);

// The options that are not the usual ones, as parse_count_rule() takes them, in its order: two texts are
// equal where the options are.
std::string count_rule_text(const CountRule& options);

// "start", "centre", "overlap", "span" or "depth".
std::string_view counted_part_name(CountedPart part);
CountedPart counted_part_of(std::string_view name);  // UsageError where there is none

}  // namespace semicrf
