// A checkpoint is text: a line per field, numbers in hexadecimal so that none is rounded, and at the end the
// SHA-256 of all lines before.
#include "train/fit/checkpoint.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/error.h"
#include "io/files/file_errors.h"
#include "io/files/output_file.h"
#include "io/text/sha256.h"

namespace semicrf {
namespace {

constexpr const char* kFirstLine = "semicrf-checkpoint 1";
constexpr const char* kLastKey = "sha256 ";

std::string hex_text(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::hex).ptr;
  return std::string(text, end);
}

void put(std::string& text, const std::string& key, const std::string& value) {
  text.append(key).append(" ").append(value).append("\n");
}

void put(std::string& text, const std::string& key, const std::vector<double>& values) {
  std::string line = std::to_string(values.size());
  for (const double value : values) line.append(" ").append(hex_text(value));
  put(text, key, line);
}

void put(std::string& text, const std::string& key, const std::optional<double>& value) {
  const std::string number = value ? hex_text(*value) : "none";
  put(text, key, number);
}

// What must follow the lines `text`.
std::string last_line(const std::string& text) {
  std::string line(kLastKey);
  return line.append(sha256_hex(text)).append("\n");
}

// Reads the fields of a checkpoint whose hash was right, in the order they were written.
class Fields {
 public:
  Fields(const std::string& path, std::string text) : path_(path), lines_(std::move(text)) {}

  std::string text(const std::string& key) {
    std::string line;
    if (!std::getline(lines_, line) || line.compare(0, key.size() + 1, key + " ") != 0)
      fail("the field " + key + " is missing");
    return line.substr(key.size() + 1);
  }

  template <class Number>
  Number integer(const std::string& key) {
    const std::string value = text(key);
    Number number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0)
      fail("the field " + key + " is not a number, or too large");
    return number;
  }

  std::optional<double> optional(const std::string& key) {
    const std::string value = text(key);
    if (value == "none") return std::nullopt;
    const char* at = value.data();
    return number(key, at, value.data() + value.size());
  }

  std::vector<double> list(const std::string& key) {
    const std::string value = text(key);
    const char* at = value.data();
    const char* end = value.data() + value.size();
    std::size_t count = 0;
    const auto parsed = std::from_chars(at, end, count);
    // A number takes two characters at least.
    if (parsed.ec != std::errc() || count > value.size()) fail("the field " + key + " has no length");
    at = parsed.ptr;
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
      if (at == end || *at != ' ') fail("the field " + key + " is too short");
      values.push_back(number(key, ++at, end));
    }
    if (at != end) fail("the field " + key + " is too long");
    return values;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError({path_, "", "damaged checkpoint: " + what, "start without --resume"});
  }

 private:
  double number(const std::string& key, const char*& at, const char* end) const {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value, std::chars_format::hex);
    if (error != std::errc() || !std::isfinite(value))
      fail("the field " + key + " holds a number that is not finite");
    at = next;
    return value;
  }

  const std::string& path_;
  std::istringstream lines_;
};

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw read_error(path, "cannot be opened", errno);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw read_error(path, "cannot be read", errno);
  return text;
}

}  // namespace

std::string checkpoint_text(const std::string& fingerprint, const FitState& state) {
  std::string text = kFirstLine;
  text += '\n';
  put(text, "fingerprint", fingerprint);
  put(text, "iteration", std::to_string(state.iteration));
  put(text, "x", state.x);
  put(text, "losses", state.losses);
  put(text, "nll", hex_text(state.nll));
  put(text, "validation", state.validation);
  put(text, "best_validation", state.best_validation);
  put(text, "best_iteration", std::to_string(state.best_iteration));
  put(text, "best_x", state.best_x);
  put(text, "best_nll", hex_text(state.best_nll));
  put(text, "first_moment", state.first_moment);
  put(text, "second_moment", state.second_moment);
  put(text, "steps", std::to_string(state.steps));
  put(text, "finished", std::to_string(state.finished ? 1 : 0));
  put(text, "converged", std::to_string(state.converged ? 1 : 0));
  put(text, "reason", state.reason);
  return text + last_line(text);
}

void write_checkpoint(const std::string& path, const std::string& fingerprint, const FitState& state) {
  OutputFile output({path, IndexKind::kNone});
  output.write(checkpoint_text(fingerprint, state));
  output.commit();
}

FitState read_checkpoint(const std::string& path, const std::string& fingerprint, std::size_t size) {
  const std::string text = read_whole(path);
  std::string first = kFirstLine;
  first += '\n';
  if (text.compare(0, first.size(), first) != 0)
    throw InputError({path, "", "this is not a checkpoint of this version of the program",
                      "give the file that --checkpoint wrote"});
  const std::size_t last = text.rfind(kLastKey);
  if (last == std::string::npos || text.substr(last) != last_line(text.substr(0, last)))
    throw InputError(
        {path, "", "damaged checkpoint: it is cut off or was changed", "start without --resume"});
  Fields fields(path, text.substr(first.size(), last - first.size()));
  if (fields.text("fingerprint") != fingerprint)
    throw InputError({path, "", "the checkpoint belongs to other data or options",
                      "give the options and inputs that it was written with, or start without --resume"});
  FitState state;
  state.iteration = fields.integer<int>("iteration");
  state.x = fields.list("x");
  state.losses = fields.list("losses");
  state.nll = fields.optional("nll").value_or(0);
  state.validation = fields.optional("validation");
  state.best_validation = fields.optional("best_validation");
  state.best_iteration = fields.integer<int>("best_iteration");
  state.best_x = fields.list("best_x");
  state.best_nll = fields.optional("best_nll").value_or(0);
  state.first_moment = fields.list("first_moment");
  state.second_moment = fields.list("second_moment");
  state.steps = fields.integer<std::int64_t>("steps");
  state.finished = fields.integer<int>("finished") != 0;
  state.converged = fields.integer<int>("converged") != 0;
  state.reason = fields.text("reason");
  const auto fits = [&](const std::vector<double>& list) { return list.empty() || list.size() == size; };
  if (state.x.size() != size || !fits(state.best_x) || !fits(state.first_moment) ||
      !fits(state.second_moment))
    fields.fail("the number of coordinates is wrong");
  return state;
}

}  // namespace semicrf
