#include "pipeline/run/log.h"

#include <spdlog/spdlog.h>

#include "core/error.h"

namespace semicrf {

void log_note(const std::string& line) { spdlog::info("{}", escape_control(line)); }
void log_detail(const std::string& line) { spdlog::debug("{}", escape_control(line)); }
void log_warning(const Warning& warning) {
  spdlog::warn("{} [{}]", escape_control(warning.message), warning.code);
}

}  // namespace semicrf
