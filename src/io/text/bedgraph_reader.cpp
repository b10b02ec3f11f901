#include "io/text/bedgraph_reader.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/files/input_kind.h"

namespace semicrf {
namespace {

InputError refuse(const std::string& path, std::int64_t line, const std::string& what,
                  const std::string& advice) {
  return InputError({path, "line " + std::to_string(line), what, advice});
}

// What can be read twice is text, or compressed.
const std::string& checked_kind(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return path;
  const InputKind kind = detect_input_kind(path);
  if (kind != InputKind::kText && kind != InputKind::kGzip && kind != InputKind::kBgzip)
    throw InputError({path, "", std::string("this is ") + describe(kind) + ", not bedGraph",
                      "give the bedGraph that semicrf posterior or decode --posterior wrote"});
  return path;
}

int decimals_of(const std::string& text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return 0;
  std::size_t end = point + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return static_cast<int>(end - point - 1);
}

}  // namespace

BedGraphReader::BedGraphReader(const std::string& path) : path_(path), reader_(checked_kind(path)) {}

bool BedGraphReader::next(BedGraphRecord& record) {
  if (!reader_.next(fields_)) return false;
  if (fields_.fields.size() != 4)
    throw refuse(path_, fields_.line,
                 "found " + std::to_string(fields_.fields.size()) +
                     " columns, expected 4: chromosome, start, end and a value",
                 "this is not bedGraph");
  const std::string& text = fields_.fields[3];
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, record.value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(record.value))
    throw refuse(path_, fields_.line, "the value is '" + text.substr(0, 40) + "', expected a finite number",
                 "this is not bedGraph");
  record.chromosome = fields_.chromosome;
  record.begin = fields_.begin;
  record.end = fields_.end;
  record.decimals = decimals_of(text);
  record.line = fields_.line;
  check_order(record);
  return true;
}

void BedGraphReader::check_order(const BedGraphRecord& record) {
  if (record.chromosome != chromosome_) {
    if (!chromosome_.empty()) finished_.insert(chromosome_);
    if (finished_.contains(record.chromosome))
      throw refuse(path_, record.line, "chromosome " + record.chromosome + " comes a second time",
                   "sort the file, for example with sort -k1,1 -k2,2n");
    chromosome_ = record.chromosome;
  } else if (record.begin < end_) {
    throw refuse(path_, record.line,
                 "starts at " + std::to_string(record.begin) + ", before the end of the line before, " +
                     std::to_string(end_),
                 "lines must be sorted and must not overlap");
  }
  end_ = record.end;
}

}  // namespace semicrf
