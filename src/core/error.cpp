#include "core/error.h"

namespace semicrf {
namespace {

std::string one_line(const ErrorText& text) {
  std::string line;
  if (!text.file.empty()) line += shortened(message_text(text.file), 300) + (text.where.empty() ? ": " : ":");
  if (!text.where.empty()) line += shortened(message_text(text.where), 200) + ": ";
  line += message_text(text.what);
  if (!text.advice.empty()) line += "; " + shortened(message_text(text.advice), 400);
  return line;
}

}  // namespace

Error::Error(ExitCode code, const ErrorText& text) : std::runtime_error(one_line(text)), code_(code) {}

}  // namespace semicrf
