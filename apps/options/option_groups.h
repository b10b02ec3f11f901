// The groups that --help-all and the manual pages show options in: one table for all commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

namespace semicrf {

// Gives every option of every command below the program the group that the table has for it. Called once,
// when all commands are there. An option that the table does not know stays among "Options"; the test `cli:
// usage` finds it.
void group_options(CLI::App& program);

struct ShownGroup {
  std::string_view heading;
  std::vector<const CLI::Option*> options;  // with names, at least one
};

// The options of a command that are not hidden, in the order in which they are shown; what the table does not
// know comes first.
std::vector<ShownGroup> shown_groups(const CLI::App& command);

}  // namespace semicrf
