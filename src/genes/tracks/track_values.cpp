#include "genes/tracks/track_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "genes/tracks/track_file.h"

namespace semicrf {

void ScaledTracks::read(char strand, std::int64_t begin, std::int64_t end, float* values) const {
  raw_->read(strand, begin, end, values);
  const std::size_t tracks = models_.size();
  const auto refuse = [&](std::size_t i, std::size_t track, const char* what) {
    const std::int64_t base = begin + static_cast<std::int64_t>(i) + 1;
    throw InputError({name_, fmt::format("base {}, strand {}", base, strand),
                      fmt::format("track {}: {}", models_[track].name, what), "give probabilities"});
  };
  for (std::size_t track = 0; track < tracks; ++track) {
    const TrackModel& model = models_[track];
    const auto floor = static_cast<float>(model.floor);
    for (std::size_t i = 0; i < static_cast<std::size_t>(end - begin); ++i) {
      float& value = values[i * tracks + track];
      if (!std::isfinite(value)) refuse(i, track, "the value is not finite");
      if (!model.logarithm) continue;
      if (value < 0) refuse(i, track, "a negative value has no logarithm");
      value = std::log(std::max(value, floor));
    }
  }
}

std::shared_ptr<const TrackValues> scaled_tracks(const TrackFile& file, const std::vector<TrackModel>& models,
                                                 const std::string& sequence, std::int64_t length) {
  return std::make_shared<const ScaledTracks>(file.open(sequence, length), models,
                                              file.path() + ":" + sequence);
}

KeptTracks::KeptTracks(const TrackValues& values, std::size_t tracks, std::int64_t length)
    : tracks_(tracks),
      plus_(static_cast<std::size_t>(length) * tracks),
      minus_(static_cast<std::size_t>(length) * tracks) {
  values.read('+', 0, length, plus_.data());
  values.read('-', 0, length, minus_.data());
}

void KeptTracks::read(char strand, std::int64_t begin, std::int64_t end, float* values) const {
  const float* from = (strand == '+' ? plus_ : minus_).data();
  std::copy(from + static_cast<std::size_t>(begin) * tracks_, from + static_cast<std::size_t>(end) * tracks_,
            values);
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
  for (auto* strand : {&plus_, &minus_}) strand->resize(static_cast<std::size_t>(end_ - begin_) * tracks);
  values->read('+', begin_, end_, plus_.data());
  values->read('-', begin_, end_, minus_.data());
}

}  // namespace semicrf
