#include "log/log.h"

#include <spdlog/spdlog.h>

#include <cstddef>

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
  const std::string rest = "and " + std::to_string(lines.size() - kShown) + " more";
  lines.resize(kShown);
  lines.push_back(rest);
  return lines;
}

}  // namespace semicrf
