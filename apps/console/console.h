// What the program says: messages on standard error and in a log file, text on standard output, progress.
#pragma once

#include <memory>
#include <string>

#include "io/files/output_file.h"
#include "log/stage_times.h"

namespace semicrf {

enum class Verbosity { kQuiet, kNormal, kVerbose };  // errors only; notes and warnings; details too

// `log_file` may be empty; it is appended to and gets notes and warnings whatever the verbosity. WriteError
// when it cannot be opened.
void set_up_logging(Verbosity verbosity, const std::string& log_file);

// WriteError where a line of the log file could not be written. To be called when the results are there.
void check_log();

// Puts the line of an error that ends the program into the log file, if there is one.
void log_fatal(const std::string& line);

// Text on standard output.
//
// WriteError or ClosedPipe when it cannot be written.
inline void print(const std::string& text) {
  OutputFile output({"-", IndexKind::kNone});
  output.write(text);
  output.commit();
}

// Progress on standard error.
//
// `kind`: "bar" (one line, redrawn), "line" (a line per tenth), "off", or "auto": a bar when standard error
// is a terminal. Null when nothing shall be shown.
std::unique_ptr<Progress> make_progress(const std::string& kind, bool quiet);

}  // namespace semicrf
