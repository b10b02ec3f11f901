#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <new>

#include "io/arrays/zarr_metadata.h"

#ifdef SEMICRF_ZSTD
#include <zstd.h>
#endif
#ifdef SEMICRF_BLOSC
#include <blosc.h>
#endif

namespace semicrf {
namespace {

[[noreturn]] void fail_length(const std::string& file, std::size_t expected) {
  throw InputError({file, "", fmt::format("does not unpack to the {} bytes of a chunk", expected),
                    "the file is damaged, or its array's metadata is"});
}

// libdeflate's function for gzip or zlib.
template <class Function>
void inflate(Function function, std::span<const std::uint8_t> packed, std::span<std::uint8_t> out,
             const std::string& file) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  std::size_t read = 0, written = 0;
  const libdeflate_result result =
      function(decompressor.get(), packed.data(), packed.size(), out.data(), out.size(), &read, &written);
  if (result != LIBDEFLATE_SUCCESS || read != packed.size() || written != out.size())
    fail_length(file, out.size());
}

void unpack_zstd(std::span<const std::uint8_t> packed, std::span<std::uint8_t> out, const std::string& file) {
#ifdef SEMICRF_ZSTD
  const std::size_t written = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(written) != 0 || written != out.size()) fail_length(file, out.size());
#else
  (void)packed, (void)out;
  throw InputError({file, "", "this program was built without zstd", "install libzstd and build again"});
#endif
}

void unpack_blosc(std::span<const std::uint8_t> packed, std::span<std::uint8_t> out,
                  const std::string& file) {
#ifdef SEMICRF_BLOSC
  std::size_t bytes = 0;
  if (packed.size() < BLOSC_MIN_HEADER_LENGTH ||
      blosc_cbuffer_validate(packed.data(), packed.size(), &bytes) != 0 || bytes != out.size() ||
      blosc_decompress_ctx(packed.data(), out.data(), out.size(), 1) != static_cast<int>(out.size()))
    fail_length(file, out.size());
#else
  (void)packed, (void)out;
  throw InputError({file, "", "this program was built without blosc", "install libblosc and build again"});
#endif
}

}  // namespace

void unpack_zarr_chunk(ZarrLayout::Packing packing, std::span<const std::uint8_t> packed,
                       std::span<std::uint8_t> out, const std::string& file) {
  switch (packing) {
    case ZarrLayout::Packing::kNone:
      if (packed.size() != out.size())
        throw InputError({file, "",
                          fmt::format("has {} bytes where a chunk has {}", packed.size(), out.size()),
                          "the file is damaged, or its array's metadata is"});
      std::copy(packed.begin(), packed.end(), out.begin());
      return;
    case ZarrLayout::Packing::kGzip:
      return inflate(libdeflate_gzip_decompress_ex, packed, out, file);
    case ZarrLayout::Packing::kZlib:
      return inflate(libdeflate_zlib_decompress_ex, packed, out, file);
    case ZarrLayout::Packing::kZstd:
      return unpack_zstd(packed, out, file);
    case ZarrLayout::Packing::kBlosc:
      return unpack_blosc(packed, out, file);
  }
}

}  // namespace semicrf
