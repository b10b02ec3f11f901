// Warnings about sequences, pieces or files, of which there may be thousands: one line for all of a kind.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"

namespace semicrf {

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
