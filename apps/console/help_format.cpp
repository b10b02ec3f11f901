#include "apps/console/help_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/manual/command_tree.h"
#include "apps/options/option_groups.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

constexpr std::size_t kColumn = 30;  // column of descriptions
constexpr std::size_t kLineWidth = 100;

// The options that most need, of commands with many.
struct MainOptions {
  std::string_view command;
  std::array<std::string_view, 10> options;
};
constexpr std::array kMainOptions = {
    MainOptions{"count",
                {"--samples", "--chrom-sizes", "--bin-size", "--min-mapq", "--count", "--shift",
                 "--fragments", "--output", "--prefix", "--threads"}},
    MainOptions{"decode",
                {"--params", "--output", "--region", "--track-pattern", "--posterior", "--table", "--review",
                 "--rule", "--hub", "--threads"}},
    MainOptions{"posterior",
                {"--params", "--output", "--region", "--track-pattern", "--labels-out", "--starts-out",
                 "--min-posterior", "--digits", "--stats", "--threads"}},
    MainOptions{"query",
                {"--params", "--claims", "--output", "--region", "--track-pattern", "--samples",
                 "--constraints", "--digits", "--stats", "--threads"}},
    MainOptions{"simulate",
                {"--params", "--output", "--region", "--track-pattern", "--length", "--draws", "--seed",
                 "--emissions", "--constraints", "--threads"}},
    MainOptions{"eval",
                {"--truth", "--output", "--region", "--regions-file", "--tolerance", "--background",
                 "--match", "--json", "--params", "--posterior"}},
    MainOptions{"report",
                {"--params", "--segments", "--output", "--posterior", "--truth", "--annotation",
                 "--track-pattern", "--region", "--figures", "--title"}},
    MainOptions{"train",
                {"--labels", "--background", "--output", "--bin-size", "--region", "--val-region",
                 "--track-pattern", "--samples", "--max-duration", "--threads"}},
    MainOptions{"learn",
                {"--labels", "--output", "--bin-size", "--val-region", "--track-pattern", "--samples",
                 "--emission", "--duration", "--init", "--threads"}},
};

// Those of a command; null: it has few options, which --help shows all.
const MainOptions* main_options(const CLI::App& command) {
  const auto found = std::ranges::find(kMainOptions, command.get_name(), &MainOptions::command);
  return found == kMainOptions.end() ? nullptr : &*found;
}

bool takes_many(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

// The words of `text` from kColumn to kLineWidth, behind `head` where that leaves room.
std::string in_columns(std::string head, const std::string& text) {
  if (head.size() + 1 > kColumn) head += "\n";
  std::size_t used = head.ends_with('\n') ? 0 : head.size();
  bool begins = true;  // a line
  std::istringstream words(text);
  for (std::string word; words >> word; begins = false) {
    if (!begins && used + 1 + word.size() > kLineWidth) {
      head += "\n";
      used = 0;
      begins = true;
    }
    const std::size_t blanks = begins ? kColumn - used : 1;
    head.append(blanks, ' ').append(word);
    used += blanks + word.size();
  }
  return head + "\n";
}

}  // namespace

std::string HelpFormat::make_help(const CLI::App* command, std::string name, CLI::AppFormatMode mode) const {
  const MainOptions* const main = main_options(*command);
  const std::string head = make_description(command) + make_usage(command, name) + make_positionals(command);
  if (main == nullptr || mode != CLI::AppFormatMode::Normal)
    return head + all_options(*command) + make_subcommands(command, CLI::AppFormatMode::Normal) + "\n" +
           make_footer(command);
  std::string text = head + "\nOptions:\n";
  for (const std::string_view option : main->options)
    text += make_option(command->get_option(std::string(option)), false);
  std::size_t others = 0;
  for (const CLI::Option* option : command->get_options())
    others += option->nonpositional() && !option->get_group().empty() ? 1 : 0;
  others -= main->options.size();
  return fmt::format("{}  --help-all                  the other {} options, all outputs and the exit codes\n",
                     text, others);
}

std::string HelpFormat::all_options(const CLI::App& command) const {
  std::string text;
  for (const ShownGroup& group : shown_groups(command))
    text += make_group(std::string(group.heading), false, group.options);
  return text;
}

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  const OptionEntry entry = option_entry(*option);
  std::string head = "  " + (is_positional ? option->get_name(true) : joined(entry.names, ","));
  if (!is_positional && !entry.value.empty()) head += " " + entry.value;
  if (takes_many(*option)) head += " ...";
  std::vector<std::string> notes;
  if (entry.required) notes.emplace_back("required");
  if (!entry.limits.empty()) notes.push_back(entry.limits);
  const bool says_default = entry.help.find("default") != std::string::npos;
  if (!entry.initial.empty() && !says_default) notes.push_back("default: " + entry.initial);
  for (const CLI::Option* other : option->get_excludes()) notes.push_back("not with " + other->get_name());
  return in_columns(head, notes.empty() ? entry.help : entry.help + " [" + joined(notes, "; ") + "]");
}

std::string HelpFormat::make_option_usage(const CLI::Option* option) const {
  const std::string name = option->get_name(true) + (option->get_expected_max() > 1 ? "..." : "");
  return option->get_required() ? name : "[" + name + "]";
}

}  // namespace semicrf
