// What a run tells while it works. The program decides where the lines go (apps/console/logging). spdlog is
// included in log.cpp alone, because its headers take seconds to compile.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace semicrf {

// What is said is a message_text() (core/text/utf8.h): on one line, and not long.
void log_note(const std::string& line);
void log_detail(const std::string& line);  // shown with -v
void log_warning(const Warning& warning);  // "MESSAGE [CODE]"

// The first of lines of which there may be thousands, and how many there are more.
std::vector<std::string> first_lines(std::vector<std::string> lines);

}  // namespace semicrf
