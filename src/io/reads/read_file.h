// Sequencing reads, one after the other: alignments (BAM, CRAM, SAM) through HTSlib, and intervals as text
// (BED, tagAlign, fragments.tsv), plain or compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/text/chromosomes.h"

namespace semicrf {

// Which alignments are given. Those that are not mapped never are.
struct ReadFilter {
  // Unmapped, secondary, failed the platform's checks, duplicate, supplementary: each read is there once.
  static constexpr unsigned kUsualExcluded = 4 | 256 | 512 | 1024 | 2048;

  int min_mapq = 0;
  unsigned include_flags = 0;               // all of these bits are set
  unsigned exclude_flags = kUsualExcluded;  // none of these bits is set
};

// Bases [begin, end), 0-based.
struct ReadBlock {
  std::int64_t begin = 0, end = 0;
};

enum class ReadStrand { kForward, kReverse, kUnknown };

struct Read {
  std::size_t chromosome = 0;                // place in the list that the source was opened with
  std::int64_t begin = 0, end = 0;           // what it spans, clipped ends not included; end > begin
  ReadStrand strand = ReadStrand::kUnknown;  // kUnknown: of text alone
  std::span<const ReadBlock>
      blocks;                    // aligned bases without deletions and introns, where they were asked for
  bool is_of_pair = false;       // one of two reads of a fragment, or every interval of text
  bool stands_for_pair = false;  // the first read of a proper pair; every interval of text
  std::int64_t pair_bases = 0;   // what that pair spans
  // What differs between the reads of different fragments: how far the pair reaches, or where the mate lies.
  std::int64_t mate = 0;
  std::string_view barcode;  // the cell's, where it was asked for; or empty
};

// What is known of a file before its reads are.
struct ReadFileInfo {
  std::string path;
  bool is_text = false;
  std::vector<Chromosome>
      chromosomes;          // the header's, in its order, some perhaps of length 0; empty for text
  std::string index;        // path of an index that is there and not older than the file; or empty
  std::string older_index;  // path of one that is older; or empty
  // FASTA file with an index that CRAM is read with; empty: HTSlib looks where the header and REF_PATH say,
  // should it need one, for slices with reads of several chromosomes.
  std::string reference;
  // Reads that the index counts on the chromosomes of the header; empty: it does not tell.
  std::vector<std::uint64_t> mapped;
};

// ReadError: cannot be opened. InputError: not a file of reads, empty, a damaged header, or cut off at its
// end.
ReadFileInfo inspect_reads(const std::string& path);

// Not thread-safe; for one thread each. InputError: damaged or truncated data, a read that ends beyond its
// chromosome.
class ReadSource {
 public:
  virtual ~ReadSource() = default;
  // Gives the reads that overlap these bases of a chromosome of the list from now on; for a file with an
  // index.
  virtual void seek(std::size_t chromosome, std::int64_t begin, std::int64_t end) = 0;
  // The next read that passes the filter and lies on a chromosome of the list; false at the end.
  virtual bool next(Read& read) = 0;
  // Where the read returned last stands: "line 5", "chr1:101".
  virtual std::string place() const = 0;
};

// What is given of a read besides where it lies.
struct ReadParts {
  bool blocks = false;
  std::string barcode_tag =
      {};  // two letters: Read::barcode is what this tag has, of text column 4; empty: not wanted
};

// `chromosomes` must outlive the source. `threads` decompress where the whole file is read.
std::unique_ptr<ReadSource> open_reads(const ReadFileInfo& file, const ChromosomeIndex& chromosomes,
                                       const ReadFilter& filter, const ReadParts& parts, int threads);

// Alignments through HTSlib; for read_file.cpp alone.
//
// Fills in what header and index say. Errors as inspect_reads().
void inspect_alignments(ReadFileInfo& file);

std::unique_ptr<ReadSource> open_alignments(const ReadFileInfo& file, const ChromosomeIndex& chromosomes,
                                            const ReadFilter& filter, const ReadParts& parts, int threads);

}  // namespace semicrf
