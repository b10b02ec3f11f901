// What must hold of every value of every option, whichever command has it: checked once, when the command
// line is read and before a command begins.
#pragma once

#include <CLI/CLI.hpp>

namespace semicrf {

// UsageError of `command`, which was given: an option or argument that is empty, a number that is not finite,
// the name of an output whose ending means another format, an output that is an input or another output, an
// input that is the standard output or the standard error of this process.
// Remembers what is read for check_outputs(), which knows the outputs whose names are made later.
void check_given_values(const CLI::App& command);

// std::logic_error where an option of `program` or of a command below it names a file, but it is not said
// which command reads or writes it.
void require_known_files(const CLI::App& program);

}  // namespace semicrf
