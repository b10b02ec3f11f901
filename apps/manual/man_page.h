// Manual pages (roff, man(7)) of the program and its commands, written from the command line itself.
#pragma once

#include <string>

#include "apps/manual/command_tree.h"

namespace semicrf {

// The name of the page, without its section: "semicrf", "semicrf-decode". Commands of commands are in the
// page of theirs.
std::string page_name(const CommandEntry& command);

// The page of `command`, which is `root` or one of its commands; `date` is shown at its foot (YYYY-MM-DD, or
// empty).
std::string man_page(const CommandEntry& root, const CommandEntry& command, const std::string& date);

}  // namespace semicrf
