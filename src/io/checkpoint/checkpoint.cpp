#include "io/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <exception>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "io/files/mapped_file.h"
#include "io/files/output_file.h"
#include "io/text/provenance_header.h"

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
  std::string line = fmt::to_string(values.size());
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

void check_resume(const CheckpointOptions& options) {
  if (options.resume_must_exist && options.resume.empty())
    throw UsageError("--resume-must-exist needs --resume", "add --resume FILE");
}

bool is_resumed(const CheckpointOptions& options, const std::string& work,
                const std::function<void(const std::string&)>& say) {
  if (options.resume.empty()) return false;
  std::error_code ignored;  // reading tells why a file cannot be looked at
  const bool missing =
      std::filesystem::status(options.resume, ignored).type() == std::filesystem::file_type::not_found;
  if (options.resume_must_exist || !missing) return true;
  say("no checkpoint " + options.resume + " yet: " + work + " starts anew");
  return false;
}

CheckpointFile::CheckpointFile(std::string path, CheckpointState first,
                               std::function<void(const std::string&)> say)
    : path_(std::move(path)), say_(std::move(say)), latest_(std::move(first)) {
  if (!path_.empty()) watch_ = std::make_unique<SignalWatch>([this] { write_before_end(); });
}

void CheckpointFile::reached(CheckpointState state, bool write) {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  latest_ = std::move(state);
  if (!write) return;
  try {
    write_whole_output(path_, latest_.text());
    failure_.reset();
  } catch (const Error& error) {
    fail(WriteError({"", "", std::string("no checkpoint: ") + error.what(), ""}));
  } catch (const ClosedPipe&) {
    fail(WriteError({path_, "", "no checkpoint: who read it has gone away", "give the name of a file"}));
  }
}

void CheckpointFile::fail(const WriteError& error) {
  if (!failure_) say_(std::string(error.what()) + "; the fit goes on");
  failure_ = error;
}

std::optional<WriteError> CheckpointFile::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void CheckpointFile::write_before_end() {
  const std::lock_guard lock(mutex_);
  try {
    write_whole_output(path_, latest_.text());
    say_("stopped by a signal; " + path_ + " has " + latest_.name);
  } catch (const std::exception& error) {
    say_(std::string("stopped by a signal; no checkpoint: ") + error.what());
  }
}

}  // namespace semicrf
