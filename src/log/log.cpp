#include "log/log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstddef>

#include "core/text/text.h"
#include "core/text/utf8.h"

namespace semicrf {

void log_note(const std::string& line) { spdlog::info("{}", message_text(line)); }
void log_detail(const std::string& line) { spdlog::debug("{}", message_text(line)); }
void log_warning(const Warning& warning) {
  spdlog::warn("{} [{}]", message_text(warning.message), warning.code);
}

std::vector<std::string> first_lines(std::vector<std::string> lines) {
  constexpr std::size_t kShown = 50;
  if (lines.size() <= kShown) return lines;
  const std::string rest = fmt::format("and {} more", lines.size() - kShown);
  lines.resize(kShown);
  lines.push_back(rest);
  return lines;
}

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
      if (group.count > kShownPlaces) places += fmt::format(" and {} more", group.count - kShownPlaces);
      places = fmt::format("{} times ({}), first", group.count, places);
    }
    log_warning({code, places + ": " + group.message});
  }
  groups_.clear();
}

}  // namespace semicrf
