// Strict parsing of a JSON text into a tree, safe against hostile files.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

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
// limit exceeded.
Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits = {});

// `key` as one step of a JSON pointer: "/" and the key with ~ and / escaped, shortened when very long.
std::string pointer_step(std::string_view key);

// At most 60 bytes of `text` (and "..."), cut between characters; for quoting what a file contains.
std::string abbreviated(std::string_view text);
// abbreviated(text) between double quotes.
std::string in_quotes(std::string_view text);

}  // namespace semicrf
