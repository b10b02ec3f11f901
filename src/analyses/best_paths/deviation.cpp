#include "analyses/best_paths/deviation.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/segment.h"

namespace semicrf {
namespace {

constexpr std::size_t kBlobStarts = 512;

std::int64_t position_of(std::uint64_t packed) {
  return static_cast<std::int64_t>(packed >> kPackedLabelBits);
}

void append(std::span<const std::uint64_t> packed, std::int64_t begin, std::int64_t end,
            std::vector<SegmentStarts::Start>& starts) {
  for (const std::uint64_t one : packed)
    if (const std::int64_t position = position_of(one); position >= begin && position < end)
      starts.push_back({position, packed_label(one)});
}

// The place of a deviation among the choices of its node, for the tie rule. Where two choices lose nothing,
// rounding may have made the best path take the one with the larger number: that one comes first all the
// same, so that no path ranks before the path that it deviates from.
std::pair<std::int64_t, std::int64_t> place_of(const Deviation& one) {
  if (one.loss == 0 && one.number < one.usual) return {one.usual, one.number + 1};
  return {one.number, 0};
}
std::pair<std::int64_t, std::int64_t> usual_place(const Deviation& one) { return {one.usual, 0}; }

}  // namespace

void SegmentStarts::add(std::int64_t position, int label, TempSpool& spool) {
  latest_.push_back(static_cast<std::uint64_t>(position) << kPackedLabelBits |
                    static_cast<std::uint64_t>(label));
  if (latest_.size() < kBlobStarts) return;
  blobs_.push_back(
      {spool.append(std::as_bytes(std::span<const std::uint64_t>(latest_))), position_of(latest_.front())});
  latest_.clear();
}

void SegmentStarts::read(std::int64_t begin, std::int64_t end, const TempSpool& spool,
                         std::vector<Start>& starts) const {
  std::vector<std::uint64_t> packed(kBlobStarts);
  // Reading begins with the last blob whose first start is at `end` or right of it: the blobs before it have
  // no start left of `end`.
  auto blob =
      std::partition_point(blobs_.begin(), blobs_.end(), [&](const Blob& one) { return one.first >= end; });
  if (blob != blobs_.begin()) --blob;
  for (; blob != blobs_.end() && blob->first >= begin; ++blob) {
    spool.read(blob->index, std::as_writable_bytes(std::span<std::uint64_t>(packed)));
    append(packed, begin, end, starts);
  }
  append(latest_, begin, end, starts);
}

std::strong_ordering compare_choices(const DeviationChain& a, const DeviationChain& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const Deviation* const one = i < a.size() ? a[i] : nullptr;
  const Deviation* const other = i < b.size() ? b[i] : nullptr;
  if (one == nullptr && other == nullptr) return std::strong_ordering::equal;
  // Up to here both paths made the same choices. At the first node where one of them deviates, the other may
  // follow the walk.
  if (other == nullptr || (one != nullptr && one->node > other->node))
    return place_of(*one) <=> usual_place(*one);
  if (one == nullptr || other->node > one->node) return usual_place(*other) <=> place_of(*other);
  return place_of(*one) <=> place_of(*other);
}

DeviationChain chain_of(const Way& way) {
  DeviationChain chain;
  for (const Deviation* at = way.last.get(); at != nullptr; at = at->before.get()) chain.push_back(at);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

bool comes_before(const Way& a, const Way& b) {
  if (a.loss != b.loss) return a.loss < b.loss;
  return a.last != b.last && std::is_lt(compare_choices(chain_of(a), chain_of(b)));
}

}  // namespace semicrf
