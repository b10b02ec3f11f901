// One JSON object on a line, written key by key. Keys and texts are our own and need no escapes.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "core/text/text.h"

namespace semicrf {

class JsonLine {
 public:
  JsonLine& add(const char* key, const std::string& text) { return raw(key, "\"" + text + "\""); }
  JsonLine& add(const char* key, std::int64_t value) { return raw(key, std::to_string(value)); }
  JsonLine& add(const char* key, double value) {
    return raw(key, std::isfinite(value) ? formatted("%.6g", value) : "null");
  }
  std::string text() const { return "{" + body_ + "}"; }

 private:
  JsonLine& raw(const char* key, const std::string& value) {
    body_ += (body_.empty() ? "\"" : ", \"") + std::string(key) + "\": " + value;
    return *this;
  }
  std::string body_;
};

}  // namespace semicrf
