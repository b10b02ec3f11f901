// The text of a checkpoint: a line that says what it is of, a line per field, numbers in hexadecimal so that
// none is rounded, and at the end the SHA-256 of all lines before.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/text.h"

namespace semicrf {

class CheckpointWriter {
 public:
  // `kind`: the first line. `fingerprint`: of the data and options that the checkpoint belongs to.
  CheckpointWriter(std::string_view kind, const std::string& fingerprint);

  void put(const std::string& key, const std::string& value);
  void put(const std::string& key, std::int64_t value) { put(key, std::to_string(value)); }
  void put(const std::string& key, bool value) { put(key, std::string(value ? "1" : "0")); }
  void put(const std::string& key, double value);
  void put(const std::string& key, const std::optional<double>& value);
  void put(const std::string& key, const std::vector<double>& values);

  // The whole text.
  std::string finish() const;

 private:
  std::string text_;
};

// Reads the fields in the order they were written. InputError that names the file for what is not there, or
// not as it was written.
class CheckpointReader {
 public:
  // ReadError: cannot be read. InputError: no checkpoint of this kind, damaged (its SHA-256 does not match),
  // or of another fingerprint.
  CheckpointReader(const std::string& path, std::string_view kind, const std::string& fingerprint);

  std::string text(const std::string& key);
  // A whole number, 0 or more.
  template <class Number>
  Number integer(const std::string& key) {
    const auto number = number_in<Number>(text(key));
    if (!number || *number < 0) fail("the field " + key + " is not a number, or too large");
    return *number;
  }
  bool flag(const std::string& key) { return integer<int>(key) != 0; }
  std::optional<double> optional(const std::string& key);
  // Which numbers a list may have.
  enum class Numbers { kFinite, kScores };  // scores may be -inf
  std::vector<double> list(const std::string& key, Numbers numbers = Numbers::kFinite);

  [[noreturn]] void fail(const std::string& what) const;

 private:
  double number(const std::string& key, Numbers numbers, const char*& at, const char* end) const;

  std::string path_;
  std::istringstream lines_;
};

}  // namespace semicrf
