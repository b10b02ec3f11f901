// What errors say.
#pragma once

#include <functional>
#include <string>

#include "core/error.h"

namespace semicrf::test {

// The message of the InputError that `work` throws.
inline std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace semicrf::test
