#include "pipeline/run/log.h"

#include <spdlog/spdlog.h>

#include "core/text/utf8.h"

namespace semicrf {

void log_note(const std::string& line) { spdlog::info("{}", message_text(line)); }
void log_detail(const std::string& line) { spdlog::debug("{}", message_text(line)); }
void log_warning(const Warning& warning) {
  spdlog::warn("{} [{}]", message_text(warning.message), warning.code);
}

}  // namespace semicrf
