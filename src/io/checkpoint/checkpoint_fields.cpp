#include "io/checkpoint/checkpoint_fields.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "io/files/mapped_file.h"
#include "io/text/sha256.h"

namespace semicrf {
namespace {

constexpr const char* kLastKey = "sha256 ";

std::string hex_text(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::hex).ptr;
  return std::string(text, end);
}

// What must follow the lines `text`.
std::string last_line(const std::string& text) {
  std::string line(kLastKey);
  return line.append(sha256_hex(text)).append("\n");
}

std::string read_whole(const std::string& path) {
  const MappedFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.size()};
}

}  // namespace

CheckpointWriter::CheckpointWriter(std::string_view kind, const std::string& fingerprint) : text_(kind) {
  text_ += '\n';
  put("fingerprint", fingerprint);
}

void CheckpointWriter::put(const std::string& key, const std::string& value) {
  text_.append(key).append(" ").append(value).append("\n");
}

void CheckpointWriter::put(const std::string& key, double value) { put(key, hex_text(value)); }

void CheckpointWriter::put(const std::string& key, const std::optional<double>& value) {
  put(key, value ? hex_text(*value) : std::string("none"));
}

void CheckpointWriter::put(const std::string& key, const std::vector<double>& values) {
  std::string line = std::to_string(values.size());
  for (const double value : values) line.append(" ").append(hex_text(value));
  put(key, line);
}

std::string CheckpointWriter::finish() const { return text_ + last_line(text_); }

CheckpointReader::CheckpointReader(const std::string& path, std::string_view kind,
                                   const std::string& fingerprint)
    : path_(path) {
  const std::string whole = read_whole(path);
  const std::string first = std::string(kind) + "\n";
  if (!whole.starts_with(first))
    throw InputError({path, "", "this is not a checkpoint of this version of the program",
                      "give the file that --checkpoint wrote"});
  const std::size_t last = whole.rfind(kLastKey);
  if (last == std::string::npos || whole.substr(last) != last_line(whole.substr(0, last)))
    throw InputError(
        {path, "", "damaged checkpoint: it is cut off or was changed", "start without --resume"});
  lines_.str(whole.substr(first.size(), last - first.size()));
  if (text("fingerprint") != fingerprint)
    throw InputError({path, "", "the checkpoint belongs to other data or options",
                      "give the options and inputs that it was written with, or start without --resume"});
}

std::string CheckpointReader::text(const std::string& key) {
  std::string line;
  if (!std::getline(lines_, line) || line.compare(0, key.size() + 1, key + " ") != 0)
    fail("the field " + key + " is missing");
  return line.substr(key.size() + 1);
}

std::optional<double> CheckpointReader::optional(const std::string& key) {
  const std::string value = text(key);
  if (value == "none") return std::nullopt;
  const char* at = value.data();
  return number(key, Numbers::kFinite, at, value.data() + value.size());
}

std::vector<double> CheckpointReader::list(const std::string& key, Numbers numbers) {
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
    values.push_back(number(key, numbers, ++at, end));
  }
  if (at != end) fail("the field " + key + " is too long");
  return values;
}

void CheckpointReader::fail(const std::string& what) const {
  throw InputError({path_, "", "damaged checkpoint: " + what, "start without --resume"});
}

double CheckpointReader::number(const std::string& key, Numbers numbers, const char*& at,
                                const char* end) const {
  double value = 0;
  const auto [next, error] = std::from_chars(at, end, value, std::chars_format::hex);
  const bool allowed = std::isfinite(value) ||
                       (numbers == Numbers::kScores && value == -std::numeric_limits<double>::infinity());
  if (error != std::errc() || !allowed) fail("the field " + key + " holds a number that is not finite");
  at = next;
  return value;
}

}  // namespace semicrf
