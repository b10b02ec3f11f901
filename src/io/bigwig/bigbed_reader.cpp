#include "io/bigwig/bigbed_reader.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

#include "io/bigwig/bigwig_index.h"
#include "io/files/byte_view.h"
#include "io/files/input_kind.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

constexpr std::size_t kItemBytes = 12;        // chromosome, begin and end, before the text
constexpr std::size_t kMostInflation = 1040;  // deflate never makes more bytes of one

bool is_swapped_bigbed(const MappedFile& file) {
  require_input_kind(InputKind::kBigBed, file.path(), file.bytes());
  return file.bytes()[0] == 0x87;
}

}  // namespace

struct BigBedFile::State {
  explicit State(const std::string& path)
      : file(path),
        view(file.bytes(), path, is_swapped_bigbed(file)),
        index(BigWigIndex::read(view)),
        decompressor(libdeflate_alloc_decompressor(), &libdeflate_free_decompressor) {
    if (!decompressor) throw std::bad_alloc();
  }

  // Goes to the next block; false at the end.
  bool next_block() {
    while (chrom < index.runs.size()) {
      const std::vector<IndexRun>& runs = index.runs[chrom];
      while (run < runs.size() && place >= runs[run].count) {
        ++run;
        place = 0;
      }
      if (run < runs.size()) break;
      ++chrom;
      run = place = 0;
      before = 0;
    }
    if (chrom >= index.runs.size()) return false;
    block = index.block(view, chrom, before + place);
    ++place;
    if (place == index.runs[chrom][run].count) before += place;
    unpack();
    return true;
  }

  void unpack() {
    const auto packed = view.slice(block.offset, block.bytes, "a data block");
    at = 0;
    if (!index.compressed) {
      bytes = packed;
      return;
    }
    std::size_t length = 0;
    const std::size_t most = kMostInflation * packed.size() + kItemBytes;
    for (buffer.resize(std::max(buffer.size(), std::size_t{1} << 16));;
         buffer.resize(std::min(most, 2 * buffer.size()))) {
      const libdeflate_result result = libdeflate_zlib_decompress(
          decompressor.get(), packed.data(), packed.size(), buffer.data(), buffer.size(), &length);
      if (result == LIBDEFLATE_SUCCESS) break;
      if (result != LIBDEFLATE_INSUFFICIENT_SPACE || buffer.size() >= most)
        view.fail(block.offset, "a data block cannot be decompressed");
    }
    bytes = {buffer.data(), length};
  }

  MappedFile file;
  ByteView view;
  BigWigIndex index;
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor;
  std::vector<std::uint8_t> buffer;
  std::size_t chrom = 0, run = 0;
  std::uint64_t place = 0, before = 0;  // the block's place in its run, and blocks of the runs before it
  BigWigBlock block;
  std::span<const std::uint8_t> bytes;  // bytes of the block
  std::size_t at = 0;                   // in them
};

BigBedFile::BigBedFile(const std::string& path) : state_(std::make_unique<State>(path)) {}
BigBedFile::~BigBedFile() = default;
BigBedFile::BigBedFile(BigBedFile&&) noexcept = default;

const std::vector<Chromosome>& BigBedFile::chromosomes() const { return state_->index.chromosomes; }
const std::string& BigBedFile::path() const { return state_->view.file(); }
int BigBedFile::zoom_levels() const { return state_->index.zoom_levels; }

bool BigBedFile::next(BigBedInterval& interval) {
  State& state = *state_;
  while (state.at >= state.bytes.size())
    if (!state.next_block()) return false;
  const auto fail = [&](const std::string& what) { state.view.fail(state.block.offset, what); };
  const auto rest = state.bytes.subspan(state.at);
  const auto text = rest.size() > kItemBytes ? rest.subspan(kItemBytes) : rest.first(0);
  const auto end_of_text = std::ranges::find(text, std::uint8_t{0});
  if (end_of_text == text.end()) fail("the last interval of a data block is cut off");
  const ByteView numbers(rest.first(kItemBytes), {}, state.view.swap());
  if (numbers.number<std::uint32_t>(0, "") != state.index.chromosome_ids[state.chrom])
    fail("a data block has intervals of another chromosome than the index says");
  interval.chrom = state.chrom;
  interval.begin = numbers.number<std::uint32_t>(4, "");
  interval.end = numbers.number<std::uint32_t>(8, "");
  const Chromosome& chrom = state.index.chromosomes[state.chrom];
  if (interval.begin > interval.end || interval.end > chrom.length)
    throw InputError({state.view.file(), fmt::format("{}:{}", chrom.name, interval.begin + 1),
                      fmt::format("an interval ends at {}, but must not end before its beginning and lie "
                                  "within the chromosome, which has {} bases",
                                  interval.end, chrom.length),
                      "the file is damaged"});
  const std::size_t length = end_of_text - text.begin();
  interval.rest = {reinterpret_cast<const char*>(text.data()), length};
  state.at += kItemBytes + length + 1;
  return true;
}

}  // namespace semicrf
