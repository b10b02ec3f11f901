#include "io/json/json_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/chain_model.h"
#include "core/error.h"
#include "core/text/names.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

std::string grouped_limit(const char* what, std::size_t limit) {
  return fmt::format("the file has more than {} {}", limit, what);
}

// Whether the word of letters and signs that the parser stopped in, `end` bytes into `text`, spells NaN or
// Infinity.
bool stopped_in_non_finite(std::string_view text, std::size_t end) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+';
  };
  std::size_t start = end;
  while (start > 0 && in_word(text[start - 1])) --start;
  if (start < text.size() && (text[start] == '-' || text[start] == '+')) ++start;
  const std::string_view word = text.substr(start, 3);
  const auto same = [](char a, char b) { return (a | 0x20) == b; };
  for (const std::string_view spelling : {"nan", "inf"}) {
    if (std::equal(word.begin(), word.end(), spelling.begin(), spelling.end(), same)) return true;
  }
  return false;
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  return fmt::format("line {}, column {}", line, column);
}

// The parser's own words without their prefix, in printable ASCII and of bounded length.
std::string parser_detail(std::string_view message) {
  const std::size_t start = message.find("while parsing");
  if (start != std::string_view::npos) message.remove_prefix(start);
  std::string detail(message.substr(0, 160));
  for (char& c : detail) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) c = '?';
    if (c == ';') c = ',';  // the message's own semicolon stands before the advice
  }
  return detail;
}

// Receives the parser's events, builds the tree and knows the JSON pointer of the place it is at. Member
// names are those the parser calls.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(std::string_view text, const std::string& file, const JsonLimits& limits, const char* kind)
      : text_(text), file_(file), limits_(limits), kind_(kind) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Json::object_t& object = open_.back()->get_ref<Json::object_t&>();
    const auto [place, inserted] = object.emplace(name, nullptr);
    member_ = &place->second;
    keys_.back() = place->first;
    if (!inserted) fail("key " + in_quotes(name) + " is given twice", "keep one of them");
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    if (error.id == 406) fail("number " + abbreviated(token) + " is too large", "");
    const std::size_t end = std::min(position, text_.size());
    const std::size_t offset = end == 0 ? 0 : end - 1;
    const std::string place = " (" + line_and_column(text_, offset) + ")";
    if (complete_) {
      throw InputError({file_, fmt::format("{}", offset), "text follows the end of the document" + place,
                        std::string(kind_) + " holds one JSON object"});
    }
    if (stopped_in_non_finite(text_, end)) {
      fail("NaN and Infinity are not JSON numbers",
           "write a finite number, or the string \"-inf\" for a forbidden score");
    }
    throw InputError({file_, fmt::format("{}", offset),
                      "not valid JSON" + place + ": " + parser_detail(error.what()),
                      std::string(kind_) + " is JSON"});
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& advice) const {
    throw InputError({file_, pointer(), what, advice});
  }

  std::string pointer() const {
    std::string text;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const bool last = i + 1 == open_.size();
      if (open_[i]->is_object()) {
        if (!last || member_ != nullptr) text += pointer_step(keys_[i]);
      } else {
        // Inside the list's newest element, or at the one that comes next.
        text += fmt::format("/{}", last ? open_[i]->size() : open_[i]->size() - 1);
      }
    }
    return text;
  }

  // The place for the next value.
  template <class Value>
  Json* place(Value&& value) {
    if (++values_ > limits_.values) fail(grouped_limit("values", limits_.values), "");
    if (open_.empty()) {
      root_ = std::forward<Value>(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      Json::array_t& list = open_.back()->get_ref<Json::array_t&>();
      list.emplace_back(std::forward<Value>(value));
      return &list.back();
    }
    *member_ = std::forward<Value>(value);
    return std::exchange(member_, nullptr);
  }

  template <class Value>
  bool add(Value&& value) {
    place(std::forward<Value>(value));
    complete_ = open_.empty();
    return true;
  }

  bool open(Json container) {
    if (open_.size() >= static_cast<std::size_t>(limits_.depth)) {
      fail(fmt::format("lists and objects are nested more than {} deep", limits_.depth), "");
    }
    if (++containers_ > limits_.containers) fail(grouped_limit("lists and objects", limits_.containers), "");
    open_.push_back(place(std::move(container)));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    complete_ = open_.empty();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  const JsonLimits& limits_;
  const char* kind_;
  Json root_;
  std::vector<Json*> open_;             // containers around the current place, outermost first
  std::vector<std::string_view> keys_;  // the newest key of each, when it is an object
  Json* member_ = nullptr;              // the value of a key that was read
  std::size_t values_ = 0;
  std::size_t containers_ = 0;
  bool complete_ = false;
};

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

Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits, const char* kind) {
  if (text.size() > limits.bytes) {
    throw InputError({file, "", fmt::format("the file is larger than {} bytes", limits.bytes), ""});
  }
  require_utf8(encoding_of(text), file);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError({file, "", "the file is empty", "expected a JSON object"});
  }
  // The parser would take a zero byte for the end of the text.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw InputError({file, fmt::format("{}", zero), "not valid JSON: a zero byte", "is this a text file?"});
  }
  TreeBuilder builder(text, file, limits, kind);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string pointer_step(std::string_view key) {
  std::string step = "/";
  for (const char c : abbreviated(key)) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

std::string abbreviated(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  if (text.size() <= kLongest) return std::string(text);
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string in_quotes(std::string_view text) {
  std::string quoted(1, '"');
  quoted += abbreviated(text);
  quoted += '"';
  return quoted;
}

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
  const std::string expected = fmt::format("a list of {} ({})", count, per);
  if (!is_list()) fail_expected(expected);
  if (value_->size() != count) fail(fmt::format("expected {}, found {}", expected, value_->size()));
}

JsonNode JsonNode::element(std::size_t index) const {
  return JsonNode((*value_)[index], *file_, fmt::format("{}/{}", pointer_, index));
}

const std::string& JsonNode::text(const char* expected) const {
  if (!is_string()) fail_expected(expected);
  return value_->get_ref<const std::string&>();
}

std::int64_t JsonNode::integer(std::int64_t low, std::int64_t high) const {
  const std::string expected = fmt::format("an integer from {} to {}", low, high);
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
