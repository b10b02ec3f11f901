// The script for fish: a line per option, under the condition that its command was typed.
#include "apps/manual/completion.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return all + "'";
}

std::string value_text(const OptionEntry& option) {
  std::string text = option.kind == ValueKind::kFile ? " -r -F" : " -x";
  if (!option.words.empty()) text += " -a " + fish_quoted(joined(option.words, " "));
  return text;
}

std::string option_line(const std::string& condition, const OptionEntry& option) {
  std::string line = condition;
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.kind != ValueKind::kNone) line += value_text(option);
  return line + " -d " + fish_quoted(short_help(option)) + "\n";
}

std::string command_lines(const CommandEntry& command) {
  const std::string condition =
      "complete -c semicrf -n " +
      fish_quoted("test \"$(__semicrf_command)\" = " + fish_quoted(joined(command.path, " ")));
  std::string lines;
  for (const CommandEntry& child : command.commands)
    lines += condition + " -f -a " + child.path.back() + " -d " + fish_quoted(child.summary) + "\n";
  for (const OptionEntry& option : command.options) lines += option_line(condition, option);
  // Arguments are files, which fish completes where nothing says -f, also after NAME=.
  for (const OptionEntry& argument : command.positionals)
    if (!argument.words.empty())
      lines += condition + " -f -a " + fish_quoted(joined(argument.words, " ")) + "\n";
  return lines;
}

}  // namespace

std::string fish_completion(const CommandEntry& root) {
  std::string paths, lines;
  for (const CommandEntry* command : all_commands(root)) {
    if (!command->path.empty()) paths += " " + fish_quoted(joined(command->path, " "));
    lines += command_lines(*command);
  }
  return "# Completion of semicrf for fish, written by `semicrf completion fish`.\n"
         "# The command that was typed: nothing, \"decode\", \"import chromhmm\".\n"
         "function __semicrf_command\n"
         "    set -l typed (commandline -opc)\n"
         "    set -l command\n"
         "    for word in $typed[2..]\n"
         "        string match -q -- '-*' $word; and continue\n"
         "        set -l next (string join ' ' $command $word)\n"
         "        contains -- $next" +
         paths +
         "; or break\n"
         "        set command $next\n"
         "    end\n"
         "    echo $command\n"
         "end\n" +
         lines;
}

}  // namespace semicrf
