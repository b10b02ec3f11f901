// The metadata of an array of a Zarr store, and the compressions of its chunks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/arrays/zarr_array.h"

namespace semicrf {

// ReadError, InputError: see ZarrArray.
ZarrLayout read_zarr_layout(const std::string& folder);

// Unpacks a chunk into exactly `out`; `file` is what errors call it. InputError: damaged, of another length,
// or a compression that this program was built without.
void unpack_zarr_chunk(ZarrLayout::Packing packing, std::span<const std::uint8_t> packed,
                       std::span<std::uint8_t> out, const std::string& file);

}  // namespace semicrf
