#include "io/bigwig/bbi_file.h"

#include <algorithm>
#include <limits>
#include <new>

#include "core/error.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

constexpr int kCompression = 6;  // level of libdeflate: as small as zlib's
constexpr std::size_t kSpooled = std::size_t{1} << 18, kSmallSpooled = std::size_t{1} << 14;  // in memory
// Bytes gathered of a level.
constexpr std::size_t kGathered = std::size_t{1} << 14, kFewGathered = std::size_t{1} << 11;
constexpr std::uint64_t kHeaderBytes = 64, kZoomHeaderBytes = 24, kSummaryBytes = 40;

std::int64_t longest_of(const ListedChromosomes& chromosomes, const BbiKind& kind) {
  if (chromosomes.empty())
    throw InputError(
        {"", "", std::string("a ") + kind.name + " file must list a chromosome, and there is none", ""});
  std::int64_t longest = 0;
  for (const Chromosome& chrom : chromosomes.list()) {
    if (chrom.length < 1 || chrom.length > std::numeric_limits<std::uint32_t>::max())
      throw InputError({"", "",
                        in_quotes(chrom.name) + " has " + std::to_string(chrom.length) +
                            " bases, more than a " + kind.name + " file can hold",
                        "write bedGraph or BED"});
    longest = std::max(longest, chrom.length);
  }
  return longest;
}

}  // namespace

BbiFile::BbiFile(ListedChromosomes chromosomes, BbiKind kind, BbiOptions options)
    : chromosomes_(std::move(chromosomes)),
      kind_(std::move(kind)),
      options_(options),
      spool_(options_.one_of_many ? kSmallSpooled : kSpooled, ""),
      zoom_(options_.zoom, longest_of(chromosomes_, kind_),
            [this](std::size_t level, const std::string& block, const BbiRange& range) {
              pack(levels_[level], block, range);
            }),
      compressor_(nullptr, libdeflate_free_compressor) {
  levels_.resize(zoom_.levels());
}

void BbiFile::add_block(const std::string& block, std::uint32_t chrom, std::uint32_t begin,
                        std::uint32_t end) {
  pack(data_, block, {chrom, begin, chrom, end});
}

void BbiFile::pack(Blocks& blocks, const std::string& block, const BbiRange& range) {
  if (!compressor_) compressor_.reset(libdeflate_alloc_compressor(kCompression));
  if (!compressor_) throw std::bad_alloc();
  largest_ = std::max(largest_, static_cast<std::uint32_t>(block.size()));
  buffer_.resize(libdeflate_zlib_compress_bound(compressor_.get(), block.size()));
  const std::size_t size =
      libdeflate_zlib_compress(compressor_.get(), block.data(), block.size(), buffer_.data(), buffer_.size());
  const std::size_t most = options_.one_of_many ? kFewGathered : kGathered;
  if (blocks.gathered.size() + size > most) spool_gathered(blocks);
  if (size > most) {
    blocks.blobs.push_back(spool_.append({buffer_.data(), size}));
  } else {
    blocks.gathered.insert(blocks.gathered.end(), buffer_.data(), buffer_.data() + size);
  }
  blocks.blocks.push_back({range, static_cast<std::uint32_t>(size)});
  blocks.bytes += size;
  if (!options_.one_of_many) return;
  compressor_.reset();  // it takes some hundred KiB
  buffer_ = {};
}

void BbiFile::spool_gathered(Blocks& blocks) {
  if (blocks.gathered.empty()) return;
  blocks.blobs.push_back(spool_.append(blocks.gathered));
  blocks.gathered.clear();
}

void BbiFile::copy(const Blocks& blocks, OutputFile& output) const {
  const auto write = [&](const std::vector<std::byte>& bytes) {
    output.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  std::vector<std::byte> blob;
  for (const std::size_t place : blocks.blobs) {
    blob.resize(spool_.blob_size(place));
    spool_.read(place, blob);
    write(blob);
  }
  write(blocks.gathered);
}

void BbiFile::write(OutputFile& output, std::uint64_t count) {
  zoom_.end();
  const std::uint64_t columns_at = kHeaderBytes + kZoomHeaderBytes * levels_.size();
  const std::uint64_t columns_bytes = kind_.columns.empty() ? 0 : kind_.columns.size() + 1;
  const std::uint64_t summary_at = columns_at + columns_bytes;
  const std::uint64_t tree_at = summary_at + kSummaryBytes;
  const std::uint64_t data_at = tree_at + chromosome_tree_bytes(chromosomes_);
  const std::uint64_t index_at = data_at + 8 + data_.bytes;
  std::vector<std::uint64_t> zoom_at;
  std::uint64_t at = index_at + block_index_bytes(data_.blocks.size());
  for (const Blocks& level : levels_) {
    zoom_at.push_back(at);
    at += 4 + level.bytes + block_index_bytes(level.blocks.size());
  }
  std::string head;
  put_number(head, kind_.magic);
  put_number(head, std::uint16_t{4});
  put_number(head, static_cast<std::uint16_t>(levels_.size()));
  for (const std::uint64_t offset : {tree_at, data_at, index_at}) put_number(head, offset);
  put_number(head, kind_.fields);
  put_number(head, kind_.defined_fields);
  put_number(head, columns_bytes == 0 ? std::uint64_t{0} : columns_at);
  put_number(head, summary_at);
  put_number(head, largest_);
  put_number(head, std::uint64_t{0});
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    put_number(head, static_cast<std::uint32_t>(zoom_.reduction(i)));
    put_number(head, std::uint32_t{0});
    put_number(head, zoom_at[i]);
    put_number(head, zoom_at[i] + 4 + levels_[i].bytes);
  }
  if (columns_bytes > 0) head.append(kind_.columns).push_back('\0');
  const BigWigSummary& summary = zoom_.summary();
  put_number(head, summary.bases_covered);
  for (const double number : {summary.minimum, summary.maximum, summary.sum, summary.sum_of_squares})
    put_number(head, number);
  output.write(head);
  const TakeText take = [&](const std::string& part) { output.write(part); };
  write_chromosome_tree(chromosomes_, tree_at, take);
  const auto write_number = [&](auto number) {
    std::string text;
    put_number(text, number);
    output.write(text);
  };
  write_number(count);
  copy(data_, output);
  write_block_index(data_.blocks, data_at + 8, index_at, take);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    write_number(zoom_.records(i));
    copy(levels_[i], output);
    write_block_index(levels_[i].blocks, zoom_at[i] + 4, zoom_at[i] + 4 + levels_[i].bytes, take);
  }
  write_number(kind_.magic);
}

}  // namespace semicrf
