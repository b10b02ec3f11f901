// What a run tells while it works. The program decides where the lines go (apps/console/logging). spdlog is
// included in log.cpp alone, because its headers take seconds to compile.
#pragma once

#include <string>

#include "core/warning.h"

namespace semicrf {

// What is said is a message_text() (core/text/utf8.h): on one line, and not long.
void log_note(const std::string& line);
void log_detail(const std::string& line);  // shown with -v
void log_warning(const Warning& warning);  // "MESSAGE [CODE]"

}  // namespace semicrf
