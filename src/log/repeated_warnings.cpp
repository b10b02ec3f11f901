#include "log/repeated_warnings.h"

#include "core/text/text.h"
#include "core/text/utf8.h"
#include "log/log.h"

namespace semicrf {
namespace {
constexpr std::size_t kShownPlaces = 3;
constexpr std::size_t kPlaceBytes = 60;
}  // namespace

void RepeatedWarnings::add(const Warning& warning) {
  Group& group = groups_[warning.code];
  if (group.count++ == 0) group.message = warning.message;
  if (group.places.size() < kShownPlaces) group.places.push_back(shortened(warning.place, kPlaceBytes));
}

void RepeatedWarnings::tell() {
  for (const auto& [code, group] : groups_) {
    std::string places = joined(group.places, ", ");
    if (group.count > 1) {
      if (group.count > kShownPlaces)
        places += " and " + std::to_string(group.count - kShownPlaces) + " more";
      places = std::to_string(group.count) + " times (" + places + "), first";
    }
    log_warning({code, places + ": " + group.message});
  }
  groups_.clear();
}

}  // namespace semicrf
