#include "io/reads/read_file.h"

#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "core/error.h"
#include "core/text/text.h"
#include "io/files/input_kind.h"
#include "io/reads/alignment_source.h"
#include "io/segments/bed_reader.h"

namespace semicrf {
namespace {

class TextSource : public ReadSource {
 public:
  TextSource(const std::string& path, const ChromosomeIndex& chromosomes)
      : reader_(path), chromosomes_(chromosomes) {}

  void seek(std::size_t, std::int64_t, std::int64_t) override {
    throw std::logic_error("text is read from its begin");
  }

  bool next(Read& read) override {
    while (reader_.next(record_)) {
      if (record_.chromosome != name_ || known_ == nullptr) {
        name_ = record_.chromosome;
        known_ = chromosomes_.find(name_);
      }
      if (known_ == nullptr) continue;
      read = {};
      read.chromosome = static_cast<std::size_t>(known_ - chromosomes_.list().data());
      read.begin = record_.begin;
      read.end = record_.end;
      read.strand = strand();
      read.is_of_pair = read.stands_for_pair = true;
      read.pair_bases = read.end - read.begin;
      if (record_.fields.size() > 3) read.barcode = record_.fields[3];
      block_ = {read.begin, read.end};
      read.blocks = {&block_, 1};
      return true;
    }
    return false;
  }

  std::string place() const override { return place_of(record_); }

 private:
  // Column 6, or the last one where there are fewer.
  ReadStrand strand() const {
    const std::vector<std::string>& fields = record_.fields;
    if (fields.size() < 4) return ReadStrand::kUnknown;
    const std::string& text = fields.size() < 6 ? fields.back() : fields[5];
    return text == "+" ? ReadStrand::kForward : text == "-" ? ReadStrand::kReverse : ReadStrand::kUnknown;
  }

  BedReader reader_;
  const ChromosomeIndex& chromosomes_;
  BedRecord record_;
  std::string name_;                   // chromosome of the record before
  const Chromosome* known_ = nullptr;  // its entry in the list, or null
  ReadBlock block_;
};

bool is_older(const std::string& path, const std::string& than) {
  struct stat one = {}, other = {};
  return stat(path.c_str(), &one) == 0 && stat(than.c_str(), &other) == 0 &&
         one.st_mtim.tv_sec < other.st_mtim.tv_sec;
}

// FILE.bai, or the name without its ending and .bai, as HTSlib looks for them.
void find_index(ReadFileInfo& file, bool cram) {
  const auto endings =
      cram ? std::array<std::string, 2>{".crai", ".crai"} : std::array<std::string, 2>{".bai", ".csi"};
  const std::string stem = std::filesystem::path(file.path).replace_extension().string();
  for (const std::string& ending : endings)
    for (const std::string& name : {file.path, stem}) {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(name + ending, ignored)) continue;
      (is_older(name + ending, file.path) ? file.older_index : file.index) = name + ending;
      return;
    }
}

}  // namespace

ReadFileInfo inspect_reads(const std::string& path) {
  ReadFileInfo file;
  file.path = path;
  const InputKind kind = detect_input_kind(path);
  bool alignments = kind == InputKind::kBam || kind == InputKind::kCram;
  switch (kind) {
    case InputKind::kBam:
    case InputKind::kCram:
      break;
    case InputKind::kText:
    case InputKind::kGzip:
    case InputKind::kBgzip: {
      TextLines lines(path);
      alignments = other_format(lines.head().substr(0, lines.head().find('\n'))) == "SAM";
      break;
    }
    default:
      throw InputError({path, "", std::string("this is ") + describe(kind),
                        "reads are BAM, CRAM, SAM, BED, tagAlign or fragments.tsv files"});
  }
  file.is_text = !alignments;
  if (file.is_text) return file;
  if (kind == InputKind::kBam || kind == InputKind::kCram) find_index(file, kind == InputKind::kCram);
  inspect_alignments(file);
  return file;
}

std::unique_ptr<ReadSource> open_reads(const ReadFileInfo& file, const ChromosomeIndex& chromosomes,
                                       const ReadFilter& filter, const ReadParts& parts, int threads) {
  if (!file.is_text) return open_alignments(file, chromosomes, filter, parts, threads);
  if (filter.min_mapq > 0 || filter.include_flags != 0)
    throw InputError({file.path, "", "is text, which has no mapping qualities and no flags",
                      "leave --min-mapq and --include-flags out"});
  return std::make_unique<TextSource>(file.path, chromosomes);
}

}  // namespace semicrf
