// A place in a JSON document that knows its file and JSON pointer, with checked access to what lies below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"

namespace semicrf {

// Which numbers are allowed somewhere, and how an error says it.
struct NumberRule {
  double low;  // allowed: low <= x <= high
  double high;
  bool open;             // both ends excluded
  bool allows_forbid;    // the string "-inf" is allowed too
  const char* expected;  // "a number between ..."
};

// The document must outlive its nodes. Every check that fails throws InputError with the file and the
// pointer.
class JsonNode {
 public:
  JsonNode(const Json& root, const std::string& file) : value_(&root), file_(&file) {}

  const Json& json() const { return *value_; }
  const std::string& pointer() const { return pointer_; }
  bool is_null() const;
  bool is_string() const;
  bool is_list() const;
  bool is_object() const;

  // Must be an object whose keys are among `keys` or start with x_.
  void expect_object(std::span<const std::string_view> keys) const;
  // The value of a key of this object.
  std::optional<JsonNode> find(std::string_view key) const;
  JsonNode at(std::string_view key) const;

  // Must be a list.
  std::size_t list_size(const char* of_what) const;
  // Must be a list of `count` elements; `per` says what each stands for: "one per label".
  void expect_list(std::size_t count, const char* per) const;
  JsonNode element(std::size_t index) const;

  const std::string& text(const char* expected = "a string") const;
  // An integer; 100.0 and 1e2 are integers too.
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  double number(const NumberRule& rule) const;
  // `count` numbers, and `rows` lists of `columns` numbers (row-major).
  std::vector<double> numbers(std::size_t count, const char* per, const NumberRule& rule) const;
  std::vector<double> matrix(std::size_t rows, const char* per_row, std::size_t columns,
                             const char* per_column, const NumberRule& rule) const;

  [[noreturn]] void fail(const std::string& what, const std::string& advice = "") const;
  // "expected E, found F".
  [[noreturn]] void fail_expected(const std::string& expected, const std::string& advice = "") const;

 private:
  JsonNode(const Json& value, const std::string& file, std::string pointer)
      : value_(&value), file_(&file), pointer_(std::move(pointer)) {}

  void append_numbers(std::size_t count, const char* per, const NumberRule& rule,
                      std::vector<double>& out) const;

  const Json* value_;
  const std::string* file_;
  std::string pointer_;
};

}  // namespace semicrf
