// Strict parsing of a JSON text into a tree, safe against hostile files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semicrf {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t bytes = std::size_t{1} << 30;
  int depth = 64;                                 // lists and objects inside each other
  std::size_t values = std::size_t{1} << 26;      // numbers, strings, lists, objects ... together
  std::size_t containers = std::size_t{1} << 24;  // lists and objects
};

// Throws InputError naming `file` and the byte offset or JSON pointer: broken syntax, text that is not UTF-8,
// NaN and Infinity literals, numbers too large for a double, duplicate keys, anything after the document, a
// limit exceeded. `kind`: what the file is, for what errors advise.
Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits = {},
                const char* kind = "a parameter file");

// `key` as one step of a JSON pointer: "/" and the key with ~ and / escaped, shortened when very long.
std::string pointer_step(std::string_view key);

// At most 60 bytes of `text` (and "..."), cut between characters; for quoting what a file contains.
std::string abbreviated(std::string_view text);
// abbreviated(text) between double quotes.
std::string in_quotes(std::string_view text);

// A place in a JSON document that knows its file and JSON pointer, with checked access to what lies below it.
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
