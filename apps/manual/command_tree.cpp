#include "apps/manual/command_tree.h"

#include <algorithm>
#include <string_view>

#include "apps/options/common_options.h"
#include "apps/options/option_groups.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

constexpr std::string_view kFile = "FILE";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

// "float|double": words that can be typed as they are. Others stand for something: "cuda:N,...", "FILE".
std::vector<std::string> words_of(const std::string& value) {
  std::vector<std::string> words = split(value, '|');
  if (words.size() < 2) return {};
  std::erase_if(words, [](const std::string& word) {
    return std::ranges::any_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || c == '.'; });
  });
  return words;
}

bool names_file(const std::string& value) {
  return std::ranges::any_of(split(value, '|'), [](const std::string& part) {
    return part.ends_with(kFile) || part.ends_with("PATH") || part.ends_with("DIR") ||
           part.ends_with("PREFIX");
  });
}

// "INT in [1 - 1024]" as CLI11 says it.
std::string limits_of(const std::string& check) {
  const std::size_t begin = check.find('['), dash = check.find(" - "), end = check.find(']');
  if (begin != std::string::npos && dash != std::string::npos && end != std::string::npos)
    return check.substr(begin + 1, dash - begin - 1) + " to " + check.substr(dash + 3, end - dash - 3);
  if (check == "POSITIVE") return "above 0";
  return check == "NONNEGATIVE" ? "at least 0" : check;
}

OptionEntry positional_of(const CLI::Option& option) {
  OptionEntry entry = option_entry(option);
  entry.value = option.get_name(true);
  entry.repeats = option.get_items_expected_max() > 1;
  return entry;
}

std::string without_exit_codes(std::string footer) {
  const std::string codes = exit_code_help();
  if (footer.ends_with(codes)) footer.resize(footer.size() - codes.size());
  while (footer.ends_with('\n')) footer.pop_back();
  return footer;
}

CommandEntry tree_of(const CLI::App& command, std::vector<std::string> path) {
  CommandEntry entry;
  entry.path = std::move(path);
  entry.summary = command.get_description();
  entry.details = without_exit_codes(command.get_footer());
  std::vector<const CLI::Option*> added;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->nonpositional() ? entry.options : entry.positionals)
        .push_back(option->nonpositional() ? option_entry(*option) : positional_of(*option));
    if (option->nonpositional()) added.push_back(option);
  }
  for (const ShownGroup& group : shown_groups(command)) {
    OptionGroupEntry& shown = entry.groups.emplace_back(OptionGroupEntry{std::string(group.heading), {}});
    for (const CLI::Option* option : group.options)
      shown.options.push_back(std::ranges::find(added, option) - added.begin());
  }
  for (const CLI::App* child :
       command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); })) {
    std::vector<std::string> below = entry.path;
    below.push_back(child->get_name());
    entry.commands.push_back(tree_of(*child, std::move(below)));
  }
  return entry;
}

void add_with_children(const CommandEntry& command, std::vector<const CommandEntry*>& all) {
  all.push_back(&command);
  for (const CommandEntry& child : command.commands) add_with_children(child, all);
}

}  // namespace

OptionEntry option_entry(const CLI::Option& option) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.help = option.get_description();
  entry.required = option.get_required();
  if (option.get_items_expected_max() == 0) return entry;
  const std::string type = option.get_type_name();
  const bool numeric = type.find(':') != std::string::npos && type.find('|') == std::string::npos;
  entry.value = numeric ? type.substr(0, type.find(':')) : type;
  if (numeric) entry.limits = limits_of(type.substr(type.find(':') + 1));
  entry.words = words_of(entry.value);
  if (names_file(entry.value)) {
    entry.kind = ValueKind::kFile;
  } else {
    entry.kind = entry.words.empty() ? ValueKind::kOther : ValueKind::kWord;
  }
  entry.initial = option.get_default_str();
  entry.repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ||
                  option.get_items_expected_max() > 1;
  return entry;
}

std::string CommandEntry::name() const { return path.empty() ? "semicrf" : "semicrf " + joined(path, " "); }

void name_file_values(CLI::App& program) {
  for (CLI::Option* option : program.get_options([](CLI::Option*) { return true; }))
    if (option->get_type_name() == "TEXT") option->type_name(std::string(kFile));
  for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; }))
    name_file_values(*command);
}

std::string short_help(const OptionEntry& option) {
  constexpr std::size_t kLongest = 70;
  std::string text = option.help.substr(0, option.help.find(';'));
  std::ranges::replace(text, '\n', ' ');
  if (text.size() <= kLongest) return text;
  return text.substr(0, text.rfind(' ', kLongest)) + " ...";
}

CommandEntry command_tree(const CLI::App& program) { return tree_of(program, {}); }

std::vector<const CommandEntry*> all_commands(const CommandEntry& root) {
  std::vector<const CommandEntry*> all;
  add_with_children(root, all);
  return all;
}

}  // namespace semicrf
