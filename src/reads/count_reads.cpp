#include "reads/count_reads.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "io/files/file_errors.h"

namespace semicrf {
namespace {

// Tiles [begin, end) of a chromosome of a file with an index, or a file from its begin to its end.
struct Job {
  std::size_t file = 0, chromosome = 0;
  std::int64_t begin = 0, end = 0;  // end 0: the file

  bool is_file() const { return end == 0; }
};

// With more jobs than that, which many small chromosomes make, looking them up takes longer than reading
// all.
constexpr std::size_t kMostJobs = 50'000;

constexpr std::int64_t kLongestChromosome =
    std::int64_t{1} << 40;  // that a chromosome may have, 250 times what bigWig can hold

// Where duplicates are left out of reads that count as they are aligned, a read may reach into tiles that an
// earlier one with the same 5' end does not reach, so that tiles cannot be counted apart.
bool tiles_depend(const CountRule& rule) { return rule.keep_duplicates > 0 && rule.as_aligned(); }

bool is_wanted(const ReadGrid& grid, std::size_t chromosome, std::int64_t tile) {
  const ReadBlock bins = grid.wanted.hull(chromosome, tile * grid.tile_bins(), (tile + 1) * grid.tile_bins());
  return bins.begin < bins.end;
}

// Every seek reads some blocks of the file in vain, and every thread should have several jobs.
std::int64_t tiles_of_a_job(const ReadGrid& grid, const std::vector<CountedFile>& files, int threads) {
  constexpr std::int64_t kJobsOfAThread = 16, kMostBases = std::int64_t{32} << 20;
  std::int64_t tiles = 0;
  for (std::size_t i = 0; i < grid.chromosomes.size(); ++i) tiles += grid.tiles(i);
  const auto jobs = std::max<std::int64_t>(1, threads) * kJobsOfAThread;
  return std::clamp<std::int64_t>(tiles * std::ssize(files) / jobs, 1,
                                  std::max<std::int64_t>(1, kMostBases / (grid.tile_bins() * grid.bin)));
}

// Nothing where the file is better read from its begin to its end.
std::optional<std::vector<Job>> tile_jobs(const ReadGrid& grid, const ChromosomeIndex& known,
                                          const CountedFile& counted, std::size_t number,
                                          std::int64_t most_tiles) {
  const ReadFileInfo& file = counted.file;
  std::vector<Job> jobs;
  if (file.index.empty()) return std::nullopt;
  for (std::size_t i = 0; i < file.chromosomes.size(); ++i) {
    const Chromosome* const found = known.find(file.chromosomes[i].name);
    if (found == nullptr || (!file.mapped.empty() && file.mapped[i] == 0)) continue;
    const std::size_t place = found - known.list().data();
    bool open = false;  // the last job ends at this tile
    for (std::int64_t tile = 0; tile < grid.tiles(place); ++tile) {
      const bool wanted = is_wanted(grid, place, tile);
      if (wanted && open && (tiles_depend(counted.options) || tile - jobs.back().begin < most_tiles)) {
        jobs.back().end = tile + 1;
      } else if (wanted) {
        jobs.push_back({number, place, tile, tile + 1});
      }
      open = wanted || (open && tiles_depend(counted.options));
    }
    if (jobs.size() > kMostJobs) return std::nullopt;
  }
  return jobs;
}

std::vector<Job> jobs_of(const ReadGrid& grid, const std::vector<CountedFile>& files, int threads) {
  const ChromosomeIndex known(grid.chromosomes);
  const std::int64_t most_tiles = tiles_of_a_job(grid, files, threads);
  std::vector<Job> whole, jobs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (const auto tiles = tile_jobs(grid, known, files[i], i, most_tiles)) {
      jobs.insert(jobs.end(), tiles->begin(), tiles->end());
    } else {
      whole.push_back({i, 0, 0, 0});
    }
  }
  whole.insert(whole.end(), jobs.begin(), jobs.end());  // the longest first
  return whole;
}

class Counting {
 public:
  Counting(const ReadGrid& grid, const ExcludedBases& excluded, const std::vector<CountedFile>& files,
           bool in_order)
      : grid_(grid), known_(grid.chromosomes), excluded_(excluded), files_(files), in_order_(in_order) {}

  std::unique_ptr<ReadSource> open(const CountedFile& counted, int threads) const {
    const ReadParts parts{.blocks = !counted.options.is_place(), .barcode_tag = counted.barcode_tag};
    return open_reads(counted.file, known_, counted.options.filter, parts, threads);
  }

  void count_tiles(const Job& job, ReadSource& source) const {
    const CountedFile& counted = files_[job.file];
    const std::int64_t begin = job.begin * grid_.tile_bins();
    const std::int64_t end = std::min(job.end * grid_.tile_bins(), grid_.bins(job.chromosome));
    ReadCounter counter(grid_, counted, excluded_, job.chromosome, begin, end);
    const std::int64_t length = grid_.chromosomes[job.chromosome].length, reach = counted.options.reach();
    const ReadBlock bins = grid_.wanted.hull(job.chromosome, begin, end);
    // A read before the first wanted base may have duplicates that do not reach it.
    const std::int64_t before = tiles_depend(counted.options) ? ReadGrid::kTileBases : 0;
    source.seek(job.chromosome, std::max<std::int64_t>(0, bins.begin * grid_.bin - reach - before),
                std::min(length, bins.end * grid_.bin + reach));
    Read read;
    while (source.next(read)) {
      counter.pass(read.begin - reach);
      add(counter, read, counted, source);
    }
    counter.end();
  }

  void count_file(const CountedFile& counted, int threads) const {
    const std::unique_ptr<ReadSource> source = open(counted, threads);
    std::map<std::size_t, ReadCounter> open;  // by chromosome; one where the reads are in order
    std::vector<char> finished(grid_.chromosomes.size(), 0);
    ReadCounter* counter = nullptr;
    std::size_t chromosome = 0;
    std::int64_t begin = 0;
    Read read;
    while (source->next(read)) {
      if (counter == nullptr || read.chromosome != chromosome) {
        if (in_order_ && counter != nullptr) {
          counter->end();
          open.clear();
          finished[chromosome] = 1;
        }
        chromosome = read.chromosome;
        begin = read.begin;
        if (in_order_ && finished[chromosome] != 0) throw not_sorted(counted, *source);
        counter =
            &open.try_emplace(chromosome, grid_, counted, excluded_, chromosome, 0, grid_.bins(chromosome))
                 .first->second;
      }
      if (in_order_ && read.begin < begin) throw not_sorted(counted, *source);
      begin = read.begin;
      if (in_order_) counter->pass(begin - counted.options.reach());
      add(*counter, read, counted, *source);
    }
    for (auto& [place, left] : open) left.end();
  }

 private:
  static InputError not_sorted(const CountedFile& counted, const ReadSource& source) {
    return InputError({counted.file.path, source.place(), "a read stands behind others that come after it",
                       counted.file.is_text ? "sort the file (sort -k1,1 -k2,2n), or give --unsorted"
                                            : "sort the file (samtools sort), or give --unsorted"});
  }

  void add(ReadCounter& counter, const Read& read, const CountedFile& counted,
           const ReadSource& source) const {
    if (counter.add(read)) return;
    throw InputError({counted.file.path, source.place(), "has no strand, + or -, in column 6",
                      "give --count centre, overlap, span or depth without --shift, --extend and --strand"});
  }

  const ReadGrid& grid_;
  ChromosomeIndex known_;
  const ExcludedBases& excluded_;
  const std::vector<CountedFile>& files_;
  bool in_order_;
};

InputError other_length(const ReadFileInfo& file, const Chromosome& chromosome, const Chromosome& other,
                        const std::string& other_file) {
  return InputError(
      {file.path, "",
       fmt::format("{} has {} bases, in {} {}", chromosome.name, chromosome.length, other_file, other.length),
       "give files of one genome"});
}

}  // namespace

ReadChromosomes chromosomes_of_reads(const std::vector<const ReadFileInfo*>& files,
                                     const std::vector<Chromosome>& sizes, const std::string& sizes_file) {
  ReadChromosomes chosen;
  chosen.list = sizes;
  std::string from = sizes_file;
  std::vector<std::string> empty;
  for (const ReadFileInfo* file : files) {
    if (file->is_text) {
      if (sizes.empty())
        throw InputError({file->path, "", "is text, which does not say how long chromosomes are",
                          "give the lengths: -g FILE with two columns, or a .fai index"});
      continue;
    }
    if (chosen.list.empty()) {
      from = file->path;
      for (const Chromosome& chromosome : file->chromosomes)
        if (chromosome.length > 0) chosen.list.push_back(chromosome);
    }
    const ChromosomeIndex known(chosen.list);
    std::vector<std::string> others;
    std::size_t common = 0;
    for (const Chromosome& chromosome : file->chromosomes) {
      const Chromosome* const found = known.find(chromosome.name);
      if (chromosome.length <= 0) {
        empty.push_back(chromosome.name);
      } else if (found == nullptr) {
        others.push_back(chromosome.name);
      } else if (found->length != chromosome.length) {
        throw other_length(*file, chromosome, *found, from);
      } else {
        ++common;
      }
    }
    if (common == 0)
      throw InputError({file->path, "",
                        "has no chromosome of " + from + ", which has " + chromosome_names(chosen.list) +
                            "; it has " + chromosome_names(file->chromosomes),
                        "give files of one genome, with the same names"});
    if (others.empty()) continue;
    if (sizes.empty())
      throw InputError({file->path, "", "has chromosomes that " + from + " has not: " + few_names(others),
                        "give the chromosomes to count: -g FILE"});
    chosen.warnings.push_back({"chromosomes-not-counted",
                               "has chromosomes that " + from + " has not: " + few_names(others),
                               file->path});
  }
  for (const Chromosome& chromosome : chosen.list)
    if (chromosome.length > kLongestChromosome)
      throw InputError(
          {from, "",
           fmt::format("{} has {} bases, more than can be counted", chromosome.name, chromosome.length),
           "check the lengths of chromosomes"});
  if (!empty.empty())
    chosen.warnings.push_back({"empty-chromosomes",
                               plural(empty.size(), "chromosome") +
                                   " of the header have no base and are left out: " + few_names(empty),
                               files.front()->path});
  return chosen;
}

void check_reference(const std::vector<const ReadFileInfo*>& files, const std::string& fasta) {
  if (access(fasta.c_str(), R_OK) != 0) throw read_error(fasta, "cannot be opened", errno);
  const std::string index = fasta + ".fai";
  if (std::error_code ignored; !std::filesystem::is_regular_file(index, ignored))
    throw InputError({fasta, "", "has no index " + index, "make it: samtools faidx"});
  const std::vector<Chromosome> sizes = read_chrom_sizes(index);
  const ChromosomeIndex known(sizes);
  for (const ReadFileInfo* file : files) {
    std::vector<std::string> others;
    for (const Chromosome& chromosome : file->chromosomes) {
      const Chromosome* const found = known.find(chromosome.name);
      if (found == nullptr) {
        others.push_back(chromosome.name);
      } else if (found->length != chromosome.length) {
        throw other_length(*file, chromosome, *found, fasta);
      }
    }
    if (!others.empty())
      throw InputError({file->path, "", "has chromosomes that " + fasta + " has not: " + few_names(others),
                        "give the reference that the reads were aligned to"});
  }
}

std::optional<Warning> older_index_warning(const ReadFileInfo& file) {
  if (file.older_index.empty()) return std::nullopt;
  return Warning{"index-older",
                 "the index " + file.older_index +
                     " is older than the file, which is read without it; make it again (samtools index)",
                 file.path};
}

std::size_t kept_by_a_store(std::size_t stores) {
  constexpr std::size_t kAll = std::size_t{256} << 20, kLeast = std::size_t{64} << 10;
  return std::clamp(kAll / std::max<std::size_t>(1, stores), kLeast, CountStore::kInMemory);
}

std::size_t count_memory(const ReadGrid& grid, const std::vector<CountedFile>& files, int threads,
                         bool in_order) {
  constexpr std::size_t kPerThread = std::size_t{2} << 20;  // blocks, and a decompressor's tables
  constexpr std::size_t kPerChromosome = 150;               // names and places, in each open file
  const bool steps =
      std::ranges::any_of(files, [](const CountedFile& one) { return !one.options.is_place(); });
  std::size_t stores = 0, most = 1;  // stores in all; most stores that a file has
  for (const CountedFile& one : files) {
    stores += one.counts.size();
    most = std::max(most, one.counts.size());
  }
  std::int64_t bins = 0, tiles = 0;  // bins that a thread keeps; tiles of all chromosomes
  for (std::size_t i = 0; i < grid.chromosomes.size(); ++i) {
    tiles += grid.tiles(i);
    bins = in_order ? std::max(bins, std::min(grid.bins(i), 2 * grid.tile_bins())) : bins + grid.bins(i);
  }
  const std::size_t workers = threads;
  return workers * (bins * most * (steps ? 2 : 1) * sizeof(std::int64_t) + kPerThread +
                    grid.chromosomes.size() * kPerChromosome) +
         stores * (kept_by_a_store(stores) + tiles * CountStore::kPerTile);
}

void count_reads(const ReadGrid& grid, const ExcludedBases& excluded, const std::vector<CountedFile>& files,
                 int threads, bool in_order) {
  const Counting counting(grid, excluded, files, in_order);
  const std::vector<Job> jobs = jobs_of(grid, files, threads);
  const auto whole = static_cast<int>(std::ranges::count_if(jobs, &Job::is_file));
  struct Worker {
    std::unique_ptr<ReadSource> source;
    std::size_t file = 0;
  };
  std::vector<Worker> workers(std::max(threads, 1));
  parallel_for(threads, jobs.size(), [&](std::size_t i, int number) {
    const Job& job = jobs[i];
    if (job.is_file()) return counting.count_file(files[job.file], std::max(1, threads / whole));
    Worker& worker = workers[number];
    if (!worker.source || worker.file != job.file) worker = {counting.open(files[job.file], 1), job.file};
    counting.count_tiles(job, *worker.source);
  });
}

}  // namespace semicrf
