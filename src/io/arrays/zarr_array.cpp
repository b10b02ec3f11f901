#include "io/arrays/zarr_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "io/arrays/npy_reader.h"
#include "io/arrays/zarr_metadata.h"
#include "io/files/byte_view.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{32} << 20;  // unpacked chunks; but two are kept in any case
constexpr std::size_t kMostKept = 16;

template <bool kSwap>
std::int64_t integer_at(const std::uint8_t* from, const ZarrLayout& layout) {
  const bool is_signed = layout.kind == ZarrLayout::Kind::kInteger;
  switch (layout.item_bytes) {
    case 1:
      return is_signed ? static_cast<std::int8_t>(*from) : *from;
    case 2: {
      const auto value = load_number<std::uint16_t, kSwap>(from);
      return is_signed ? static_cast<std::int16_t>(value) : value;
    }
    case 4: {
      const auto value = load_number<std::uint32_t, kSwap>(from);
      return is_signed ? static_cast<std::int64_t>(static_cast<std::int32_t>(value)) : std::int64_t{value};
    }
    default:
      return static_cast<std::int64_t>(load_number<std::uint64_t, kSwap>(from));
  }
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto put_rest = [&](int bits) { put(0x80 | ((code >> bits) & 0x3f)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6), put_rest(0);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12), put_rest(6), put_rest(0);
  } else {
    put(0xf0 | code >> 18), put_rest(12), put_rest(6), put_rest(0);
  }
}

}  // namespace

ZarrArray::ZarrArray(const std::string& folder)
    : folder_(folder),
      layout_(read_zarr_layout(folder)),
      most_kept_(std::clamp<std::size_t>(kKeptBytes / layout_.chunk_bytes(), 2, kMostKept)) {}

ZarrArray::~ZarrArray() = default;

void ZarrArray::fail(const std::string& what, const std::string& advice) const {
  throw InputError({folder_, "", what, advice});
}

ZarrArray::Bytes ZarrArray::read_chunk(const std::string& name) const {
  const std::string path = folder_ + "/" + name;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return nullptr;
  const MappedFile file(path);
  const std::size_t bytes = layout_.chunk_bytes();
  std::shared_ptr<std::uint8_t[]> unpacked;
  try {
    unpacked = std::make_shared_for_overwrite<std::uint8_t[]>(bytes);
  } catch (const std::bad_alloc&) {
    throw MemoryError(
        {path, "", fmt::format("cannot allocate {} bytes", bytes), "store the array in smaller chunks"});
  }
  unpack_zarr_chunk(layout_.packing, file.bytes(), {unpacked.get(), bytes}, path);
  return unpacked;
}

ZarrArray::Bytes ZarrArray::chunk(std::int64_t row, std::int64_t column) const {
  const std::pair key(row, column);
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == key; });
  if (known != kept_.end()) {
    std::rotate(known, known + 1, kept_.end());
    return kept_.back().second;
  }
  std::string name = fmt::format("{}{}", layout_.prefix, row);
  if (layout_.shape.size() > 1) name += fmt::format("{}{}", layout_.separator, column);
  Bytes bytes = read_chunk(name);
  if (kept_.size() == most_kept_) kept_.erase(kept_.begin());
  kept_.emplace_back(key, bytes);
  return bytes;
}

void ZarrArray::read_rows(std::int64_t begin, std::int64_t end, float* out) const {
  if (begin < 0 || end < begin || end > rows()) throw std::logic_error("zarr rows: bad range");
  if (layout_.kind != ZarrLayout::Kind::kFloat) fail("holds no floating-point numbers");
  NpyHeader header;
  header.type = layout_.item_bytes == 2   ? NpyType::kFloat16
                : layout_.item_bytes == 4 ? NpyType::kFloat32
                                          : NpyType::kFloat64;
  header.big_endian = layout_.big_endian;
  header.rows = layout_.chunk[0];
  header.columns = layout_.chunk.size() == 1 ? 1 : layout_.chunk[1];
  const std::size_t width = columns();
  std::vector<float> values;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / header.rows, first = row * header.rows;
    const std::int64_t to = std::min(end, first + header.rows);
    const std::size_t count = to - at;
    for (std::int64_t column = 0; column * header.columns < columns(); ++column) {
      const std::size_t from = column * header.columns;
      const std::size_t whole = header.columns;
      const std::size_t here = std::min(whole, width - from);
      float* place = out + (at - begin) * width + from;
      const Bytes bytes = chunk(row, column);
      if (bytes == nullptr) {
        for (std::size_t i = 0; i < count; ++i)
          std::fill_n(place + i * width, here, static_cast<float>(layout_.fill));
        continue;
      }
      const NpyArray array = NpyArray::of_values(header, bytes.get(), bytes, folder_);
      if (whole == width) {
        array.read_rows(at - first, to - first, place);
        continue;
      }
      values.resize(count * whole);
      array.read_rows(at - first, to - first, values.data());
      for (std::size_t i = 0; i < count; ++i) std::copy_n(values.data() + i * whole, here, place + i * width);
    }
    at = to;
  }
}

void ZarrArray::read_integers(std::int64_t begin, std::int64_t end, std::int64_t* out) const {
  if (begin < 0 || end < begin || end > rows()) throw std::logic_error("zarr integers: bad range");
  if ((layout_.kind != ZarrLayout::Kind::kInteger && layout_.kind != ZarrLayout::Kind::kUnsigned) ||
      layout_.shape.size() != 1)
    fail("is no list of integers");
  const std::int64_t fill =
      std::abs(layout_.fill) < 0x1p62 ? static_cast<std::int64_t>(layout_.fill) : std::int64_t{-1};
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / layout_.chunk[0], first = row * layout_.chunk[0];
    const std::int64_t to = std::min(end, first + layout_.chunk[0]);
    const Bytes bytes = chunk(row, 0);
    for (; at < to; ++at) {
      if (bytes == nullptr) {
        *out++ = fill;
        continue;
      }
      const std::uint8_t* from = bytes.get() + (at - first) * layout_.item_bytes;
      *out++ = layout_.big_endian ? integer_at<true>(from, layout_) : integer_at<false>(from, layout_);
    }
  }
}

std::vector<std::string> ZarrArray::read_texts() const {
  constexpr std::int64_t kMostTexts = 1 << 16;
  if (layout_.kind != ZarrLayout::Kind::kText || layout_.shape.size() != 1 || rows() > kMostTexts)
    fail("is no short list of texts");
  std::vector<std::string> texts(rows());
  for (std::int64_t i = 0; i < rows(); ++i) {
    const Bytes bytes = chunk(i / layout_.chunk[0], 0);
    if (bytes == nullptr) continue;
    const std::uint8_t* from = bytes.get() + (i % layout_.chunk[0]) * layout_.item_bytes;
    for (std::size_t c = 0; c < layout_.item_bytes; c += 4) {
      const auto code = layout_.big_endian ? load_number<std::uint32_t, true>(from + c)
                                           : load_number<std::uint32_t, false>(from + c);
      if (code == 0) break;
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        fail(fmt::format("text {}: no character {:x}", i, code));
      append_utf8(texts[i], code);
    }
  }
  return texts;
}

}  // namespace semicrf
