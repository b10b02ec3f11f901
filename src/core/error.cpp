#include "core/error.h"

namespace semicrf {
namespace {

std::string one_line(const ErrorText& text) {
  std::string line;
  if (!text.file.empty()) {
    line += text.file;
    if (!text.where.empty()) line += ":" + text.where;
    line += ": ";
  } else if (!text.where.empty()) {
    line += text.where + ": ";
  }
  line += text.what;
  if (!text.advice.empty()) line += "; " + text.advice;
  return escape_control(line);
}

}  // namespace

Error::Error(ExitCode code, const ErrorText& text) : std::runtime_error(one_line(text)), code_(code) {}

std::string escape_control(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace semicrf
