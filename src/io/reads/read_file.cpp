#include "io/reads/read_file.h"

#include <fmt/format.h>
#include <htslib/hts.h>
#include <htslib/hts_log.h>
#include <htslib/sam.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "core/counts.h"
#include "core/error.h"
#include "core/text/text.h"
#include "io/files/file_errors.h"
#include "io/files/input_kind.h"
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
      read.chromosome = known_ - chromosomes_.list().data();
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

namespace {

template <auto destroy>
struct By {
  template <class Object>
  void operator()(Object* object) const {
    destroy(object);
  }
};
using File = std::unique_ptr<htsFile, By<hts_close>>;
using Header = std::unique_ptr<sam_hdr_t, By<sam_hdr_destroy>>;
using Index = std::unique_ptr<hts_idx_t, By<hts_idx_destroy>>;
using Iterator = std::unique_ptr<hts_itr_t, By<hts_itr_destroy>>;
using Record = std::unique_ptr<bam1_t, By<bam_destroy1>>;

// HTSlib takes a relative path with a colon for a URL.
std::string whole_path(const std::string& path) { return std::filesystem::absolute(path).string(); }

InputError damaged(const std::string& path, const std::string& where, const std::string& what) {
  return InputError({path, where, what, "copy or make the file again"});
}

File open_file(const std::string& path, bool tags = false) {
  hts_set_log_level(HTS_LOG_OFF);
  errno = 0;
  File file(hts_open(whole_path(path).c_str(), "r"));
  if (!file) {
    if (errno == ENOMEM) throw std::bad_alloc();
    if (errno == ENOENT || errno == EACCES || errno == EMFILE)
      throw read_error(path, "cannot be opened", errno);
    throw damaged(path, "", "its first bytes are damaged");
  }
  // The counts need no sequences, so that most CRAM files need no reference.
  if (hts_get_format(file.get())->format == cram)
    hts_set_opt(file.get(), CRAM_OPT_REQUIRED_FIELDS,
                SAM_FLAG | SAM_RNAME | SAM_POS | SAM_MAPQ | SAM_CIGAR | SAM_RNEXT | SAM_PNEXT | SAM_TLEN |
                    (tags ? SAM_AUX : 0));
  return file;
}

Header read_header(htsFile* file, const std::string& path) {
  Header header(sam_hdr_read(file));
  if (!header) throw damaged(path, "", "its header is damaged or truncated");
  return header;
}

Index load_index(htsFile* file, const ReadFileInfo& info) {
  Index index(sam_index_load3(file, whole_path(info.path).c_str(), whole_path(info.index).c_str(), 0));
  if (!index) throw damaged(info.index, "", "this index is damaged");
  return index;
}

class AlignmentSource : public ReadSource {
 public:
  AlignmentSource(const ReadFileInfo& info, const ChromosomeIndex& chromosomes, const ReadFilter& filter,
                  const ReadParts& parts, int threads)
      : info_(info),
        listed_(chromosomes.list()),
        filter_(filter),
        parts_(parts),
        threads_(threads),
        file_(open_file(info.path, !parts.barcode_tag.empty())),
        record_(bam_init1()) {
    if (!record_) throw std::bad_alloc();
    filter_.exclude_flags |= BAM_FUNMAP;
    if (is_cram() && !info.reference.empty() &&
        hts_set_fai_filename(file_.get(), whole_path(info.reference).c_str()) != 0)
      throw damaged(info.reference, "", "cannot be read as FASTA with an index");
    place_of_tid_.reserve(info.chromosomes.size());
    tid_of_place_.assign(listed_.size(), -1);
    for (const Chromosome& chromosome : info.chromosomes) {
      const Chromosome* const known = chromosomes.find(chromosome.name);
      const std::size_t place = known == nullptr ? kNowhere : known - listed_.data();
      if (known != nullptr) tid_of_place_[place] = count_of(place_of_tid_);
      place_of_tid_.push_back(place);
    }
  }

  void seek(std::size_t chromosome, std::int64_t begin, std::int64_t end) override {
    if (!index_) index_ = load_index(file_.get(), info_);
    iterator_.reset(sam_itr_queryi(index_.get(), tid_of_place_[chromosome], begin, end));
    if (!iterator_) throw damaged(info_.index, "", "this index is damaged");
  }

  bool next(Read& read) override {
    if (!iterator_ && !header_) {
      if (threads_ > 1) hts_set_threads(file_.get(), threads_);
      header_ = read_header(file_.get(), info_.path);
    }
    while (true) {
      const int result = iterator_ ? sam_itr_next(file_.get(), iterator_.get(), record_.get())
                                   : sam_read1(file_.get(), header_.get(), record_.get());
      if (result == -1) return false;
      if (result < -1) {
        if (errno == ENOMEM) throw std::bad_alloc();
        if (is_cram() && info_.reference.empty())
          throw InputError(
              {info_.path, place(), "what follows is damaged, or needs the reference, which is not found",
               "give the reference to semicrf count (--fasta) or by REF_PATH; else copy or make the "
               "file again"});
        throw damaged(info_.path, place(), "is damaged or truncated behind this read");
      }
      if (take(read)) return true;
    }
  }

  std::string place() const override {
    if (last_tid_ < 0) return "";
    return fmt::format("{}:{}", info_.chromosomes[last_tid_].name, last_begin_ + 1);
  }

 private:
  static constexpr std::size_t kNowhere = -1;

  bool is_cram() const { return hts_get_format(file_.get())->format == cram; }

  bool take(Read& read) {
    const bam1_core_t& core = record_->core;
    if ((core.flag & filter_.exclude_flags) != 0 ||
        (core.flag & filter_.include_flags) != filter_.include_flags || core.qual < filter_.min_mapq ||
        core.tid < 0)
      return false;
    const std::size_t tid = core.tid;
    if (tid >= place_of_tid_.size()) throw damaged(info_.path, place(), "the read behind has no chromosome");
    last_tid_ = core.tid;
    last_begin_ = core.pos;
    if (place_of_tid_[tid] == kNowhere) return false;
    read.chromosome = place_of_tid_[tid];
    read.begin = core.pos;
    read.strand = bam_is_rev(record_.get()) ? ReadStrand::kReverse : ReadStrand::kForward;
    constexpr unsigned kPair = BAM_FPAIRED | BAM_FPROPER_PAIR | BAM_FREAD1;
    read.is_of_pair = (core.flag & BAM_FPAIRED) != 0;
    read.stands_for_pair = (core.flag & kPair) == kPair && core.isize != 0;
    read.pair_bases = std::abs(core.isize);
    read.mate = !read.is_of_pair  ? 0
                : core.isize != 0 ? core.isize
                                  : (std::int64_t{core.mtid} << 40) + core.mpos;
    if (!parts_.barcode_tag.empty()) read_barcode(read);
    read_cigar(read);
    if (read.begin < 0 || read.end > listed_[read.chromosome].length)
      throw damaged(info_.path, place(),
                    fmt::format("a read ends beyond its chromosome, which has {} bases",
                                listed_[read.chromosome].length));
    return true;
  }

  void read_barcode(Read& read) const {
    const std::uint8_t* const tag = bam_aux_get(record_.get(), parts_.barcode_tag.c_str());
    const char* const text = tag == nullptr ? nullptr : bam_aux2Z(tag);
    read.barcode = text == nullptr ? std::string_view() : std::string_view(text);
  }

  void read_cigar(Read& read) {
    const std::uint32_t* const cigar = bam_get_cigar(record_.get());
    std::int64_t at = read.begin;
    blocks_.clear();
    for (std::uint32_t i = 0; i < record_->core.n_cigar; ++i) {
      const std::int64_t length = bam_cigar_oplen(cigar[i]);
      const int type =
          bam_cigar_type(bam_cigar_op(cigar[i]));  // bit 0: takes bases of the read; 1: of the chromosome
      if ((type & 2) == 0) continue;
      if (parts_.blocks && type == 3 && length > 0) {
        if (!blocks_.empty() && blocks_.back().end == at) {
          blocks_.back().end += length;
        } else {
          blocks_.push_back({at, at + length});
        }
      }
      at += length;
    }
    read.end =
        at > read.begin ? at : read.begin + 1;  // one base, as HTSlib has it, where the alignment has none
    read.blocks = blocks_;
  }

  const ReadFileInfo& info_;
  std::span<const Chromosome> listed_;
  ReadFilter filter_;
  ReadParts parts_;
  int threads_;
  File file_;
  Header header_;
  Index index_;
  Iterator iterator_;
  Record record_;
  std::vector<std::size_t> place_of_tid_;  // place in the list, or kNowhere
  std::vector<int> tid_of_place_;          // -1: the file lacks it
  std::vector<ReadBlock> blocks_;
  int last_tid_ = -1;  // the read that was seen last, -1: none yet
  std::int64_t last_begin_ = 0;
};

}  // namespace

void inspect_alignments(ReadFileInfo& file) {
  const File opened = open_file(file.path);
  const Header header = read_header(opened.get(), file.path);
  const int count = sam_hdr_nref(header.get());
  file.chromosomes.reserve(count);
  for (int i = 0; i < count; ++i)
    file.chromosomes.push_back({sam_hdr_tid2name(header.get(), i), sam_hdr_tid2len(header.get(), i)});
  if (file.chromosomes.empty())
    throw InputError(
        {file.path, "", "its header names no chromosome", "align the reads, or give another file"});
  if (hts_check_EOF(opened.get()) == 0)
    throw damaged(file.path, "", "is truncated: the block that ends such a file is missing");
  if (file.index.empty() || hts_get_format(opened.get())->format == cram) return;
  const Index index = load_index(opened.get(), file);
  bool told = false;  // by indexes of old programs of no chromosome, by others of those that have reads
  for (int i = 0; i < count; ++i) {
    std::uint64_t mapped = 0, unmapped = 0;
    const bool tells = hts_idx_get_stat(index.get(), i, &mapped, &unmapped) == 0;
    told = told || tells;
    file.mapped.push_back(tells ? mapped : 0);
  }
  if (!told) file.mapped.clear();
}

std::unique_ptr<ReadSource> open_alignments(const ReadFileInfo& file, const ChromosomeIndex& chromosomes,
                                            const ReadFilter& filter, const ReadParts& parts, int threads) {
  return std::make_unique<AlignmentSource>(file, chromosomes, filter, parts, threads);
}

}  // namespace semicrf
