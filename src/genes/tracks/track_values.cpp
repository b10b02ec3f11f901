#include "genes/tracks/track_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "genes/tracks/track_file.h"

namespace semicrf {

namespace {

// The natural logarithm of x = 2^e m with m in [sqrt(1/2), sqrt(2)): e log 2 + 2 artanh((m - 1) / (m + 1)).
// For normal numbers above 0, to two units in the last place; without branches, so that loops over it use
// all lanes of a register.
float quick_log(float x) {
  constexpr std::int32_t kRootOfHalf = 0x3f3504f3, kMantissa = 0x7fffff;
  const auto shifted = std::bit_cast<std::int32_t>(x) - kRootOfHalf;
  const float m = std::bit_cast<float>((shifted & kMantissa) + kRootOfHalf);
  const auto e = static_cast<float>(shifted >> 23);
  const float s = (m - 1) / (m + 1), square = s * s;
  const float series = square * (1.0F / 3 + square * (1.0F / 5 + square * (1.0F / 7 + square * (1.0F / 9))));
  constexpr float kLogOf2 = 0x1.62e430p-1F;
  return e * kLogOf2 + (2 * s + 2 * s * series);
}

constexpr std::size_t kBlock = 4096;  // values

// Whether a value is not finite or, where that is forbidden, below 0 (or -0). Without branches, as above:
// an exponent of ones carries into the sign.
bool may_be_wrong(const float* values, std::size_t count, bool negative_forbidden) {
  constexpr std::uint32_t kSign = 0x80000000, kOneExponent = 0x00800000;
  const std::uint32_t kept = negative_forbidden ? ~std::uint32_t{0} : ~kSign;
  std::uint32_t signs = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(values[i]) & kept;
    signs |= bits | (bits + kOneExponent);
  }
  return (signs & kSign) != 0;
}

}  // namespace

void ScaledTracks::read(char strand, std::int64_t begin, std::int64_t end, float* values) const {
  raw_->read(strand, begin, end, values);
  const std::size_t tracks = models_.size(), count = (end - begin) * tracks;
  const bool none =
      std::none_of(models_.begin(), models_.end(), [](const TrackModel& one) { return one.logarithm; });
  const bool all = std::all_of(models_.begin(), models_.end(), [&](const TrackModel& one) {
    return one.logarithm && one.floor == models_.front().floor;
  });
  const auto floor_of = [](const TrackModel& one) {
    return std::max(static_cast<float>(one.floor), std::numeric_limits<float>::min());
  };
  if (all) {
    const float floor = floor_of(models_.front());
    // Whole rows, as many as are still in the cache for the second loop.
    const std::size_t block = std::max<std::size_t>(1, kBlock / tracks) * tracks;
    for (std::size_t from = 0; from < count; from += block) {
      const std::size_t to = std::min(count, from + block);
      if (may_be_wrong(values + from, to - from, true))
        check(strand, begin + static_cast<std::int64_t>(from / tracks),
              begin + static_cast<std::int64_t>(to / tracks), values + from);
      for (std::size_t i = from; i < to; ++i) values[i] = quick_log(std::max(values[i], floor));
    }
    return;
  }
  if (may_be_wrong(values, count, !none)) check(strand, begin, end, values);
  if (none) return;
  for (std::size_t track = 0; track < tracks; ++track) {
    if (!models_[track].logarithm) continue;
    const float floor = floor_of(models_[track]);
    for (std::size_t i = track; i < count; i += tracks) values[i] = quick_log(std::max(values[i], floor));
  }
}

void ScaledTracks::check(char strand, std::int64_t begin, std::int64_t end, const float* values) const {
  for (std::int64_t base = begin; base < end; ++base)
    for (const TrackModel& model : models_) {
      const float value = *values++;
      if (std::isfinite(value) && (value >= 0 || !model.logarithm)) continue;
      throw InputError({name_, fmt::format("base {}, strand {}", base + 1, strand),
                        fmt::format("track {}: {}", model.name,
                                    std::isfinite(value) ? "a negative value has no logarithm"
                                                         : "the value is not finite"),
                        "give probabilities"});
    }
}

std::shared_ptr<const TrackValues> scaled_tracks(const TrackFile& file, const std::vector<TrackModel>& models,
                                                 const std::string& sequence, std::int64_t length) {
  return std::make_shared<const ScaledTracks>(file.open(sequence, length), models,
                                              file.path() + ":" + sequence);
}

KeptTracks::KeptTracks(const TrackValues& values, std::size_t tracks, std::int64_t length)
    : tracks_(tracks), plus_(length * tracks), minus_(length * tracks) {
  values.read('+', 0, length, plus_.data());
  values.read('-', 0, length, minus_.data());
}

void KeptTracks::read(char strand, std::int64_t begin, std::int64_t end, float* values) const {
  const float* from = (strand == '+' ? plus_ : minus_).data();
  std::copy(from + begin * tracks_, from + end * tracks_, values);
}

void TrackWindow::load(const TrackValues* values, std::size_t tracks, std::int64_t length, std::int64_t begin,
                       std::int64_t end, std::int64_t margin) {
  tracks_ = tracks;
  begin_ = std::max<std::int64_t>(0, begin - margin);
  end_ = std::max(begin_, std::min(length, end + margin));
  if (values == nullptr || tracks == 0) {
    end_ = begin_;
    return;
  }
  const std::size_t count = (end_ - begin_) * tracks;
  if (count > room_) {
    for (auto* strand : {&plus_, &minus_}) *strand = std::make_unique_for_overwrite<float[]>(count);
    room_ = count;
  }
  values->read('+', begin_, end_, plus_.get());
  values->read('-', begin_, end_, minus_.get());
}

}  // namespace semicrf
