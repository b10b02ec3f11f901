// The script for zsh: one function of _arguments per command.
#include "apps/manual/completion.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

// Inside of '...': a quote ends the text, a backslash and a quote follow, and it goes on.
std::string zsh_quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return all + "'";
}

std::string with_backslashes(const std::string& text, std::string_view special) {
  std::string all;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}

std::string action(const OptionEntry& option) {
  std::string words;
  for (const std::string& word : option.words)
    words += (words.empty() ? "" : " ") + with_backslashes(word, ":\\ ()");
  if (option.kind == ValueKind::kFile) return words.empty() ? " _semicrf_files" : " _semicrf_files " + words;
  return words.empty() ? " " : "(" + words + ")";
}

std::string value_spec(const OptionEntry& option) {
  return ":" + with_backslashes(option.value, ":\\") + ":" + action(option);
}

// '(-p --params)'{-p+,--params=}'[parameter file]:FILE:_semicrf_files'
std::string option_spec(const OptionEntry& option) {
  const bool takes_value = option.kind != ValueKind::kNone;
  std::vector<std::string> spelled;
  for (const std::string& name : option.names)
    spelled.push_back(name + (!takes_value ? "" : name.starts_with("--") ? "=" : "+"));
  const std::string text =
      "[" + with_backslashes(short_help(option), "[]:\\") + "]" + (takes_value ? value_spec(option) : "");
  const std::string front = option.repeats || spelled.size() < 2 ? (option.repeats ? "*" : "")
                                                                 : "(" + joined(option.names, " ") + ")";
  if (spelled.size() == 1) return zsh_quoted(front + spelled.front() + text);
  return zsh_quoted(front) + "{" + joined(spelled, ",") + "}" + zsh_quoted(text);
}

std::string function_name(const CommandEntry& command) { return "_semicrf_of_" + joined(command.path, "_"); }

// A list of sub-commands, and the call of the function of the one that was chosen.
std::string commands_text(const CommandEntry& command) {
  std::string names, calls;
  for (const CommandEntry& child : command.commands) {
    names += "        " + zsh_quoted(child.path.back() + ":" + with_backslashes(child.summary, ":\\")) + "\n";
    calls += "        " + child.path.back() + ") " + function_name(child) + " ;;\n";
  }
  return "    '1: :->command' '*:: :->rest'\n"
         "  case $state in\n"
         "    command)\n"
         "      local -a commands=(\n" +
         names +
         "      )\n"
         "      _describe command commands ;;\n"
         "    rest)\n"
         "      case $words[1] in\n" +
         calls +
         "      esac ;;\n"
         "  esac\n";
}

std::string command_function(const CommandEntry& command) {
  std::string text = function_name(command) +
                     "() {\n  local curcontext=$curcontext state line\n  local -A opt_args\n"
                     "  _arguments -C \\\n";
  for (const OptionEntry& option : command.options) text += "    " + option_spec(option) + " \\\n";
  if (!command.commands.empty()) return text + commands_text(command) + "}\n";
  std::size_t number = 0;
  for (const OptionEntry& argument : command.positionals) {
    const std::string place = argument.repeats ? "*" : std::to_string(++number);
    text += "    " + zsh_quoted(place + value_spec(argument)) + " \\\n";
  }
  return text.substr(0, text.size() - 3) + "\n}\n";
}

}  // namespace

std::string zsh_completion(const CommandEntry& root) {
  std::string functions;
  for (const CommandEntry* command : all_commands(root)) functions += command_function(*command);
  return "#compdef semicrf\n"
         "# Completion of semicrf for zsh, written by `semicrf completion zsh`.\n"
         "# A file, also after NAME=, or one of the words that are given.\n"
         "_semicrf_files() {\n"
         "  (( $# )) && compadd -- \"$@\"\n"
         "  compset -P '*='\n"
         "  _files\n"
         "}\n" +
         functions + function_name(root) + " \"$@\"\n";
}

}  // namespace semicrf
