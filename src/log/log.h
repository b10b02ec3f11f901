// What a run tells while it works. The program decides where the lines go (apps/console/console). spdlog is
// included in log.cpp alone, because its headers take seconds to compile.
#pragma once

#include <cstddef>
#include <map>
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

// Warnings about sequences, pieces or files, of which there may be thousands: one line for all of a kind.
class RepeatedWarnings {
 public:
  // `warning` has a place.
  void add(const Warning& warning);
  // Logs a line for each code: "PLACE: MESSAGE", or how many places there are, some of them, and the message
  // of the first. Then there are none.
  void tell();

 private:
  struct Group {
    std::string message;              // text of the first warning
    std::vector<std::string> places;  // the first ones
    std::size_t count = 0;
  };
  std::map<std::string, Group> groups_;  // by code
};

}  // namespace semicrf
