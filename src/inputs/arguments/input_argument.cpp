#include "inputs/arguments/input_argument.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/text/text.h"
#include "io/files/output_names.h"

namespace semicrf {
namespace {

constexpr std::size_t kShownColumns = 10;

std::string stem_of(const std::string& path) {
  if (path == kStandardInput) return "stdin";
  return std::filesystem::path(without_compression(path)).stem().string();
}

// How the samples of a text are called.
const char* sample_word(const TrackText& text) {
  return text.format == TrackTextFormat::kVcf ? "sample" : "cell";
}

// Takes column=NAME and the sample's name, joined by &.
void take_text_options(const std::string& options, InputArgument& argument) {
  const bool vcf = argument.text->format == TrackTextFormat::kVcf;
  for (const std::string_view option : split_at('&', options)) {
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string_view key = option.substr(0, equals);
    const std::string_view value = option.substr(std::min(equals + 1, option.size()));
    std::string* const wish = key == "column"                      ? &argument.column
                              : key == sample_word(*argument.text) ? &argument.sample.name
                              : vcf && key == "normal"             ? &argument.sample.normal
                                                                   : nullptr;
    if (value.empty() || wish == nullptr)
      throw UsageError("'" + std::string(option) + "' behind the ? of " + argument.path +
                           " is no option of a track as text",
                       "it has column=NAME, of ChromHMM cell=NAME, and of VCF sample=NAME and normal=NAME");
    *wish = value;
  }
}

void check_sample(const InputArgument& argument) {
  const std::vector<std::string>& samples = argument.text->samples;
  const std::string word = sample_word(*argument.text);
  const std::string has =
      argument.path + " has " +
      (samples.empty() ? "no " + word + "s" : "the " + word + "s " + few_of(samples, kShownColumns));
  const auto check = [&](const std::string& option, const std::string& name) {
    if (!name.empty() && std::ranges::find(samples, name) == samples.end())
      throw UsageError(has + ", and ?" + option + "=" + name + " is none of them", "correct it");
  };
  if (argument.sample.name.empty() && samples.size() > 1)
    throw UsageError(has, "choose one: " + argument.path + "?" + word + "=" + samples.front());
  check(word, argument.sample.name);
  check("normal", argument.sample.normal);
}

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

std::string describe(const InputArgument& argument) {
  if (argument.text) return describe(argument.text->format);
  return argument.reads ? "a file of reads" : describe(argument.kind);
}

std::size_t end_of_name(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return std::string::npos;
  // The = of an option, as in file.bam?mapq=30, names nothing.
  const std::size_t question = text.find('?');
  const bool options_first =
      question < text.find('=') && std::filesystem::exists(text.substr(0, question), ignored);
  return options_first ? std::string::npos : text.find('=');
}

InputArgument parse_input_argument(const std::string& text) {
  InputArgument argument;
  argument.path = text;
  std::error_code ignored;
  if (const std::size_t equals = end_of_name(text); equals != std::string::npos) {
    argument.name = text.substr(0, equals);
    argument.path = text.substr(equals + 1);
    argument.named = true;
    if (argument.name.empty() || argument.path.empty())
      throw UsageError("\"" + text + "\" has an empty " + (argument.name.empty() ? "name" : "path"),
                       "write NAME=PATH");
  }
  const bool plain =
      argument.path != kStandardInput &&
      (argument.path.find_first_of("./") == std::string::npos || reads_like_region(argument.path));
  if (plain && !std::filesystem::exists(argument.path.substr(0, argument.path.rfind('?')), ignored))
    throw ReadError(
        {argument.path, "", "there is no such file",
         "if this is a region, give it an option of its own: -r A -r B, --val-region A --val-region B"});
  settle_kind(argument);
  if (argument.kind != InputKind::kNpy && argument.kind != InputKind::kNpz &&
      argument.kind != InputKind::kBigWig)
    throw InputError({argument.path, "", std::string("this is ") + describe(argument.kind),
                      "inputs are NPY, NPZ, bigWig, BAM or CRAM files, or tracks as text"});
  if (!argument.named) argument.name = stem_of(argument.path);
  return argument;
}

void settle_kind(InputArgument& argument) {
  std::error_code ignored;
  const std::size_t question = argument.path.rfind('?');
  std::optional<std::string> options;
  if (question != std::string::npos && !std::filesystem::exists(argument.path, ignored)) {
    options = argument.path.substr(question + 1);
    argument.path.resize(question);
  }
  const bool folder = std::filesystem::is_directory(argument.path, ignored);
  argument.kind = folder ? InputKind::kText : detect_input_kind(argument.path);
  switch (argument.kind) {
    case InputKind::kBam:
    case InputKind::kCram:
      if (argument.path == kStandardInput)
        throw InputError({argument.path, "",
                          "reads cannot come from standard input, as they are found by an index",
                          "give a file"});
      argument.reads = options ? parse_count_rule(*options) : CountRule{};
      argument.reads_given = options.has_value();
      argument.kind = InputKind::kBigWig;
      return;
    case InputKind::kText:
    case InputKind::kGzip:
    case InputKind::kBgzip:
      argument.text = std::make_shared<const TrackText>(inspect_track_text(argument.path));
      if (options) take_text_options(*options, argument);
      argument.kind = InputKind::kBigWig;
      return;
    default:
      if (options)
        throw InputError(
            {argument.path, "",
             std::string("this is ") + describe(argument.kind) + ", which has no options behind a ?",
             "give BAM or CRAM files or text, or leave them out"});
  }
}

std::vector<InputArgument> columns_of_text(InputArgument argument) {
  if (!argument.text) return {std::move(argument)};
  const TrackText& text = *argument.text;
  check_sample(argument);
  const bool one_unnamed = text.columns.size() == 1 && text.columns.front().empty();
  if (one_unnamed) {
    if (!argument.column.empty())
      throw UsageError(argument.path + " is " + describe(text.format) + ", which has no column to choose",
                       "leave ?column= out");
    return {std::move(argument)};
  }
  const bool given = !argument.column.empty();
  if (!given && argument.named)
    argument.column = text.columns.size() == 1 ? text.columns.front() : argument.name;
  if (!argument.column.empty()) {
    if (std::ranges::find(text.columns, argument.column) == text.columns.end())
      throw UsageError(argument.path + " has no column \"" + argument.column + "\"; it has " +
                           few_of(text.columns, kShownColumns),
                       given ? "choose one of these" : "choose one: NAME=PATH?column=COLUMN");
    if (!argument.named) argument.name = argument.column;
    argument.named = true;
    return {std::move(argument)};
  }
  if (text.layout.numbered)
    throw UsageError(argument.path + " has no names of columns; those with numbers are " +
                         few_of(text.columns, kShownColumns),
                     "choose one: NAME=PATH?column=NUMBER");
  std::vector<InputArgument> columns;
  for (const std::string& column : text.columns) {
    columns.push_back(argument);
    columns.back().column = columns.back().name = column;
    columns.back().named = true;
  }
  return columns;
}

void choose_sample(const std::string& sample, InputArgument& argument) {
  if (!argument.text || !argument.sample.name.empty()) return;
  const std::vector<std::string>& samples = argument.text->samples;
  if (samples.size() > 1 && std::ranges::find(samples, sample) != samples.end())
    argument.sample.name = sample;
}

std::string sample_options(const InputArgument& argument) {
  std::string options;
  if (!argument.sample.name.empty())
    options = std::string("&") + sample_word(*argument.text) + "=" + argument.sample.name;
  if (!argument.sample.normal.empty()) options += "&normal=" + argument.sample.normal;
  return options;
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
