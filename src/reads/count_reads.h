// Counts the reads of files in the bins of a grid, many files and regions at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reads/read_counter.h"

namespace semicrf {

// Chromosomes that the reads of some files lie on.
struct ReadChromosomes {
  std::vector<Chromosome> list;
  std::vector<Warning> warnings;  // what is left out
};
// With `sizes` (of `sizes_file`) not empty: those; else those of the headers, which must agree, in the order
// of the first. InputError: lengths that differ, a file without a header where there are no sizes, or nothing
// in common.
ReadChromosomes chromosomes_of_reads(const std::vector<const ReadFileInfo*>& files,
                                     const std::vector<Chromosome>& sizes, const std::string& sizes_file);

// Whether `fasta`, of which the index FASTA.fai is read, is the reference of these alignments: it has the
// chromosomes of their headers, with their lengths. InputError: it is not, or has no index; ReadError.
void check_reference(const std::vector<const ReadFileInfo*>& files, const std::string& fasta);

// Where there is an index that is older than its file.
std::optional<Warning> older_index_warning(const ReadFileInfo& file);

// Bytes of counts that each of so many stores keeps in memory, so that all of them together do not keep much.
std::size_t kept_by_a_store(std::size_t stores);

// Bytes that count_reads() takes with such stores, whatever the number of reads. `in_order`: as there.
std::size_t count_memory(const ReadGrid& grid, const std::vector<CountedFile>& files, int threads,
                         bool in_order);

// Fills the counts of the files. A file with an index is read by tiles; one without it from its begin to its
// end, once, where it must be sorted by position (any order of chromosomes) unless `in_order` is false, when
// all bins that have reads stay in memory until the end. InputError: not sorted, a read without a strand
// where one is needed, and what ReadSource throws. The counts are the same for any number of threads.
void count_reads(const ReadGrid& grid, const ExcludedBases& excluded, const std::vector<CountedFile>& files,
                 int threads, bool in_order);

}  // namespace semicrf
