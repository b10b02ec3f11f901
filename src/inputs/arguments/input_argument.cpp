#include "inputs/arguments/input_argument.h"

#include <filesystem>

#include "core/error.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

std::optional<std::int64_t> parse_position(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != ',') digits += c;
  const auto value = number_in<std::int64_t>(digits);
  return value && *value >= 1 ? value : std::nullopt;
}

// "chr1:1-500" and the like.
bool reads_like_region(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string::npos && colon > 0 && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789,-", colon + 1) == std::string::npos;
}

}  // namespace

InputArgument parse_input_argument(const std::string& text) {
  InputArgument argument;
  argument.path = text;
  // The = of an option, as in file.bam?mapq=30, names nothing.
  std::error_code ignored;
  const std::size_t question = text.find('?');
  const bool options_first =
      question < text.find('=') && std::filesystem::exists(text.substr(0, question), ignored);
  const std::size_t equals = options_first ? std::string::npos : text.find('=');
  if (equals != std::string::npos && !std::filesystem::exists(text, ignored)) {
    argument.name = text.substr(0, equals);
    argument.path = text.substr(equals + 1);
    argument.named = true;
    if (argument.name.empty() || argument.path.empty())
      throw UsageError("\"" + text + "\" has an empty " + (argument.name.empty() ? "name" : "path"),
                       "write NAME=PATH");
  }
  if (const bool plain =
          argument.path.find_first_of("./") == std::string::npos || reads_like_region(argument.path);
      plain && !std::filesystem::exists(argument.path, ignored))
    throw ReadError(
        {argument.path, "", "there is no such file",
         "if this is a region, give it an option of its own: -r A -r B, --val-region A --val-region B"});
  settle_kind(argument);
  if (argument.kind != InputKind::kNpy && argument.kind != InputKind::kNpz &&
      argument.kind != InputKind::kBigWig)
    throw InputError({argument.path, "", std::string("this is ") + describe(argument.kind),
                      "inputs are NPY, NPZ, bigWig, BAM or CRAM files"});
  if (!argument.named) argument.name = stem_of(argument.path);
  return argument;
}

void settle_kind(InputArgument& argument) {
  std::error_code ignored;
  const std::size_t question = argument.path.rfind('?');
  std::string options;
  if (question != std::string::npos && !std::filesystem::exists(argument.path, ignored)) {
    options = argument.path.substr(question + 1);
    argument.path.resize(question);
    argument.reads_given = true;
  }
  argument.kind = detect_input_kind(argument.path);
  if (argument.kind == InputKind::kBam || argument.kind == InputKind::kCram) {
    argument.reads = argument.reads_given ? parse_count_rule(options) : CountRule{};
    argument.kind = InputKind::kBigWig;
  } else if (argument.reads_given) {
    throw InputError({argument.path, "",
                      std::string("this is ") + describe(argument.kind) + ", which has no options behind a ?",
                      "give BAM or CRAM files, or leave them out"});
  }
}

bool looks_like_part(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const std::string_view range = std::string_view(name).substr(colon + 1);
  const std::size_t dash = range.find('-');
  return dash != std::string_view::npos && dash > 0 && dash + 1 < range.size() &&
         range.find_first_not_of("0123456789,-") == std::string_view::npos;
}

std::optional<ChromosomePart> parse_chromosome_part(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  const std::size_t dash = name.find('-', colon);
  if (dash == std::string::npos) return std::nullopt;
  const auto first = parse_position(std::string_view(name).substr(colon + 1, dash - colon - 1));
  const auto last = parse_position(std::string_view(name).substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return ChromosomePart{name.substr(0, colon), *first - 1, *last};
}

}  // namespace semicrf
