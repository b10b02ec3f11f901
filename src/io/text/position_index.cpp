#include "io/text/position_index.h"

#include <htslib/bgzf.h>
#include <htslib/hts.h>
#include <htslib/kstring.h>
#include <htslib/tbx.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <memory>
#include <string_view>

namespace semicrf {
namespace {

constexpr int kTbiShift = 0;  // HTSlib's code for .tbi

// The first three columns of a line.
struct Place {
  std::string_view chromosome;
  std::int64_t begin = 0, end = 0;
};

bool read_place(std::string_view line, Place& place) {
  const auto take_column = [&] {
    const std::string_view column = line.substr(0, line.find('\t'));
    line.remove_prefix(std::min(line.size(), column.size() + 1));
    return column;
  };
  const auto take_number = [&](std::int64_t& number) {
    const std::string_view column = take_column();
    return std::from_chars(column.data(), column.data() + column.size(), number).ec == std::errc();
  };
  place.chromosome = take_column();
  return take_number(place.begin) && take_number(place.end);
}

// What tabix wants to know besides the index: the columns, and the names of the chromosomes.
std::string tabix_header(const std::string& names) {
  std::string text;
  for (const std::int32_t number :
       {tbx_conf_bed.preset, tbx_conf_bed.sc, tbx_conf_bed.bc, tbx_conf_bed.ec, tbx_conf_bed.meta_char,
        tbx_conf_bed.line_skip, static_cast<std::int32_t>(names.size())})
    for (int i = 0; i < 4; ++i) text += static_cast<char>(static_cast<std::uint32_t>(number) >> (8 * i));
  return text + names;
}

}  // namespace

CsiShape csi_shape_for(std::int64_t longest_chromosome) {
  CsiShape shape;
  const auto last = static_cast<std::uint64_t>(std::max<std::int64_t>(1, longest_chromosome) - 1);
  const auto bits = static_cast<int>(std::bit_width(last));
  shape.min_shift = std::max(shape.min_shift, bits - 3 * shape.levels);
  return shape;
}

bool build_tbi(const std::string& data, const std::string& index) {
  return tbx_index_build3(data.c_str(), index.c_str(), kTbiShift, 0, &tbx_conf_bed) == 0;
}

// As tbx_index_build3 does it, whose .csi indexes have a number of levels that reaches to 2^32 bases.
bool build_csi(const std::string& data, const std::string& index, const CsiShape& shape) {
  const std::unique_ptr<BGZF, int (*)(BGZF*)> file(bgzf_open(data.c_str(), "r"), bgzf_close);
  if (!file) return false;
  const auto offset = [&] { return static_cast<std::uint64_t>(bgzf_tell(file.get())); };
  using Index = std::unique_ptr<hts_idx_t, void (*)(hts_idx_t*)>;
  Index built(nullptr, hts_idx_destroy);
  const auto start_at = [&](std::uint64_t at) {
    if (!built) built.reset(hts_idx_init(0, HTS_FMT_CSI, at, shape.min_shift, shape.levels));
    return built != nullptr;
  };
  kstring_t line = KS_INITIALIZE;
  const std::unique_ptr<kstring_t, void (*)(kstring_t*)> owned(&line, ks_free);
  std::string names, chromosome;
  int number = -1, length = 0;
  std::uint64_t before = offset();
  for (; (length = bgzf_getline(file.get(), '\n', &line)) >= 0; before = offset()) {
    const std::string_view text(line.s, line.l);
    if (text.starts_with(static_cast<char>(tbx_conf_bed.meta_char))) continue;
    Place place;
    if (!start_at(before) || !read_place(text, place)) return false;
    if (number < 0 || place.chromosome != chromosome) {
      chromosome = place.chromosome;
      names.append(chromosome).push_back('\0');
      ++number;
    }
    if (hts_idx_push(built.get(), number, place.begin, place.end, offset(), 1) < 0) return false;
  }
  constexpr int kEnd = -1;  // further down: errors
  if (length < kEnd || !start_at(before)) return false;
  std::string header = tabix_header(names);
  return hts_idx_finish(built.get(), offset()) == 0 &&
         hts_idx_set_meta(built.get(), static_cast<std::uint32_t>(header.size()),
                          reinterpret_cast<std::uint8_t*>(header.data()), 1) == 0 &&
         hts_idx_save_as(built.get(), nullptr, index.c_str(), HTS_FMT_CSI) == 0;
}

}  // namespace semicrf
