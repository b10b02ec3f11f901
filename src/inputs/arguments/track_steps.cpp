#include "inputs/arguments/track_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/text/text.h"

namespace semicrf {

std::int64_t TrackSteps::common() const {
  std::int64_t step = 0;
  for (const Track& track : tracks) step = std::gcd(step, track.bases);
  return step;
}

TrackSteps steps_of(const std::vector<const BigWigFile*>& files) {
  TrackSteps steps;
  for (const BigWigFile* file : files) steps.tracks.push_back({file->path(), file->sampled_step().bases});
  return steps;
}

std::string describe(const TrackSteps& steps) {
  const std::int64_t common = steps.common();
  if (common == 0) return "";
  std::string text = plural(common, "base");
  const TrackSteps::Track* finest = nullptr;
  bool differ = false;
  for (const TrackSteps::Track& track : steps.tracks) {
    if (track.bases == 0) continue;
    if (finest != nullptr && track.bases != finest->bases) differ = true;
    if (finest == nullptr || track.bases < finest->bases) finest = &track;
  }
  if (differ)
    text += "; the finest track is " + std::filesystem::path(finest->file).filename().string() + " with " +
            plural(finest->bases, "base");
  return text;
}

std::optional<std::string> bin_size_note(const TrackSteps& steps, std::int64_t bin_size) {
  const std::int64_t common = steps.common();
  if (common == 0 || bin_size % common == 0 || common % bin_size == 0) return std::nullopt;
  return fmt::format(
      "bins of {} and the tracks' step of {} do not divide each other: some bins mix values of two steps; {} "
      "or a multiple of it would not",
      plural(bin_size, "base"), plural(common, "base"), common);
}

std::optional<Warning> single_base_warning(const TrackSteps& steps, std::int64_t bin_size) {
  const std::int64_t common = steps.common();
  if (bin_size != 1 || common <= 1) return std::nullopt;
  const std::string step = fmt::to_string(common);
  return Warning{"bin-size-below-step",
                 "the bins have 1 base, but the values of all tracks change only at multiples of " + step +
                     " bases: the run does " + step +
                     " times the work that bins of that size need; train the parameters with -b " + step};
}

}  // namespace semicrf
