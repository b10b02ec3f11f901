#include "reads/count_store.h"

#include <algorithm>
#include <cstddef>

namespace semicrf {
namespace {

std::uint64_t key_of(std::size_t chromosome, std::int64_t tile) {
  return static_cast<std::uint64_t>(chromosome) << 32 | static_cast<std::uint64_t>(tile);
}

// Seven bits a byte, the lowest first; the highest bit says that there are more.
void put_varint(std::vector<std::byte>& bytes, std::uint64_t number) {
  for (; number >= 128; number >>= 7) bytes.push_back(static_cast<std::byte>(number | 128));
  bytes.push_back(static_cast<std::byte>(number));
}

std::uint64_t take_varint(const std::byte*& at) {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    number |= (byte & 127) << shift;
    if (byte < 128) return number;
  }
}

}  // namespace

void CountStore::put(std::size_t chromosome, std::int64_t tile, std::span<const std::int64_t> counts) {
  std::vector<std::byte> bytes;  // runs: length, count
  bool any = false;
  for (std::size_t i = 0, end = 0; i < counts.size(); i = end) {
    for (end = i + 1; end < counts.size() && counts[end] == counts[i];) ++end;
    put_varint(bytes, end - i);
    put_varint(bytes, static_cast<std::uint64_t>(counts[i]));
    any = any || counts[i] != 0;
  }
  if (!any) return;
  const std::lock_guard lock(mutex_);
  has_[chromosome] = 1;
  blobs_.emplace(key_of(chromosome, tile), spool_.append(bytes));
}

void CountStore::add_reads(std::int64_t reads) {
  const std::lock_guard lock(mutex_);
  reads_ += reads;
}

void CountStore::read(std::size_t chromosome, std::int64_t tile, std::span<std::int64_t> counts) const {
  std::ranges::fill(counts, 0);
  const auto [first, last] = blobs_.equal_range(key_of(chromosome, tile));
  std::vector<std::byte> bytes;
  for (auto blob = first; blob != last; ++blob) {
    bytes.resize(spool_.blob_size(blob->second));
    spool_.read(blob->second, bytes);
    const std::byte* at = bytes.data();
    for (std::size_t i = 0; i < counts.size();) {
      const std::size_t length = take_varint(at);
      const auto count = static_cast<std::int64_t>(take_varint(at));
      for (std::int64_t& one : counts.subspan(i, length)) one += count;
      i += length;
    }
  }
}

}  // namespace semicrf
