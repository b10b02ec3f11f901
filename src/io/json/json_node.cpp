#include "io/json/json_node.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/chain_model.h"
#include "core/error.h"
#include "io/nearest_name.h"

namespace semicrf {
namespace {

// What stands in the file, for the end of a message.
std::string found_text(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "the string " + in_quotes(value.get_ref<const std::string&>());
    default:
      return abbreviated(value.dump());
  }
}

// The number at `value` under `rule`; nullopt when it breaks the rule.
std::optional<double> checked_number(const Json& value, const NumberRule& rule) {
  if (value.is_number()) {
    const auto x = value.get<double>();
    const bool inside = rule.open ? x > rule.low && x < rule.high : x >= rule.low && x <= rule.high;
    return inside ? std::optional<double>(x) : std::nullopt;
  }
  if (rule.allows_forbid && value.is_string() && value.get_ref<const std::string&>() == "-inf") {
    return kNegativeInfinity;
  }
  return std::nullopt;
}

}  // namespace

bool JsonNode::is_null() const { return value_->is_null(); }
bool JsonNode::is_string() const { return value_->is_string(); }
bool JsonNode::is_list() const { return value_->is_array(); }
bool JsonNode::is_object() const { return value_->is_object(); }

void JsonNode::fail(const std::string& what, const std::string& advice) const {
  throw InputError({*file_, pointer_, what, advice});
}

void JsonNode::fail_expected(const std::string& expected, const std::string& advice) const {
  fail("expected " + expected + ", found " + found_text(*value_), advice);
}

void JsonNode::expect_object(std::span<const std::string_view> keys) const {
  if (!is_object()) fail_expected("an object");
  for (const auto& member : value_->items()) {
    const std::string& key = member.key();
    bool known = key.starts_with("x_");
    for (const std::string_view name : keys) known = known || key == name;
    if (known) continue;
    JsonNode(member.value(), *file_, pointer_ + pointer_step(key))
        .fail("unknown key " + in_quotes(key),
              "did you mean " + in_quotes(nearest_name(key, keys)) + "? keys that start with x_ are ignored");
  }
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  const auto place = value_->find(key);
  if (place == value_->end()) return std::nullopt;
  return JsonNode(*place, *file_, pointer_ + pointer_step(key));
}

JsonNode JsonNode::at(std::string_view key) const {
  if (auto node = find(key)) return *node;
  fail("key " + in_quotes(key) + " is missing");
}

std::size_t JsonNode::list_size(const char* of_what) const {
  if (!is_list()) fail_expected(std::string("a list of ") + of_what);
  return value_->size();
}

void JsonNode::expect_list(std::size_t count, const char* per) const {
  const std::string expected = "a list of " + std::to_string(count) + " (" + per + ")";
  if (!is_list()) fail_expected(expected);
  if (value_->size() != count) fail("expected " + expected + ", found " + std::to_string(value_->size()));
}

JsonNode JsonNode::element(std::size_t index) const {
  return JsonNode((*value_)[index], *file_, pointer_ + "/" + std::to_string(index));
}

const std::string& JsonNode::text(const char* expected) const {
  if (!is_string()) fail_expected(expected);
  return value_->get_ref<const std::string&>();
}

std::int64_t JsonNode::integer(std::int64_t low, std::int64_t high) const {
  const std::string expected = "an integer from " + std::to_string(low) + " to " + std::to_string(high);
  if (!value_->is_number()) fail_expected(expected);
  const auto x = value_->get<double>();
  // The limits are far below 2^53, so the double is exact wherever it matters.
  if (x != std::floor(x) || x < static_cast<double>(low) || x > static_cast<double>(high))
    fail_expected(expected);
  return static_cast<std::int64_t>(x);
}

double JsonNode::number(const NumberRule& rule) const {
  if (const auto x = checked_number(*value_, rule)) return *x;
  fail_expected(rule.expected,
                is_null() ? "many programs write NaN as null: check where the number comes from" : "");
}

void JsonNode::append_numbers(std::size_t count, const char* per, const NumberRule& rule,
                              std::vector<double>& out) const {
  expect_list(count, per);
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = checked_number((*value_)[i], rule);
    out.push_back(x ? *x : element(i).number(rule));
  }
}

std::vector<double> JsonNode::numbers(std::size_t count, const char* per, const NumberRule& rule) const {
  std::vector<double> out;
  append_numbers(count, per, rule, out);
  return out;
}

std::vector<double> JsonNode::matrix(std::size_t rows, const char* per_row, std::size_t columns,
                                     const char* per_column, const NumberRule& rule) const {
  expect_list(rows, per_row);
  std::vector<double> out;
  for (std::size_t i = 0; i < rows; ++i) element(i).append_numbers(columns, per_column, rule, out);
  return out;
}

}  // namespace semicrf
