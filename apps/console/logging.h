// Where messages go: standard error, and a log file when one is asked for.
#pragma once

#include <string>

namespace semicrf {

enum class Verbosity { kQuiet, kNormal, kVerbose };  // errors only; notes and warnings; details too

// `log_file` may be empty; it is appended to and gets notes and warnings whatever the verbosity. WriteError
// when it cannot be opened.
void set_up_logging(Verbosity verbosity, const std::string& log_file);

// WriteError where a line of the log file could not be written. To be called when the results are there.
void check_log();

// Puts the line of an error that ends the program into the log file, if there is one.
void log_fatal(const std::string& line);

}  // namespace semicrf
