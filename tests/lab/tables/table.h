// A TSV file of the laboratory: a head line of names, then rows. Written to a temporary name, renamed when
// complete.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace semicrf::lab {

// Where tables go, and how large the experiments are.
struct Run {
  std::filesystem::path out;
  std::filesystem::path data;  // real segmentations, where they are
  bool full = false;           // sizes of the paper; else those that take minutes
  bool emulated = false;       // engines called "cuda" run on the emulated device (tests/emulation)
  template <class Value>
  Value pick(Value small, Value large) const {
    return full ? large : small;
  }
};

class Table {
 public:
  Table(const Run& run, const std::string& name, const std::vector<std::string>& columns);
  // NOLINTNEXTLINE(bugprone-exception-escape): so that no table can be forgotten
  ~Table() noexcept(false);  // throws WriteError where the file could not be completed
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  template <class... Values>
  void row(const Values&... values) {
    std::string line;
    ((line += text(values) + '\t'), ...);
    write(line);
  }
  // With all digits of a double.
  template <class... Values>
  void exact_row(const Values&... values) {
    digits_ = 17;
    row(values...);
    digits_ = 10;
  }

 private:
  std::string text(const std::string& value) const { return value; }
  std::string text(const char* value) const { return value; }
  template <class Number>
  requires std::is_arithmetic_v<Number> std::string text(Number value)
  const {
    if constexpr (std::is_integral_v<Number>)
      return std::to_string(value);
    else
      return real(static_cast<double>(value));
  }
  std::string real(double value) const;  // digits_ at most
  void write(std::string line);          // a line that ends in a tab

  std::filesystem::path path_, temporary_;
  std::ofstream file_;
  std::size_t columns_;
  int digits_ = 10;
};

// A table needs what this machine lacks: no error, and an exit code of its own.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};
constexpr int kSkipped = 77;

// Tables by the command that makes them.
void write_banded(const Run& run);
void write_centring(const Run& run);
void write_validation(const Run& run);
void write_training(const Run& run);
void write_semirings(const Run& run);
void write_low_rank(const Run& run);
void write_frontier(const Run& run);
void write_long(const Run& run);
void write_complexity(const Run& run);
void write_numbers(const Run& run);
// Prints a line per engine and pass: name, pass, seconds, the sum of log Z; tabs between them.
void time_given_problem(const std::string& path);

}  // namespace semicrf::lab
