// The script for bash (4 or newer). It needs nothing of the package bash-completion, which only loads it.
//
// bash splits words at "=" and ":", so that in --rule=posterior and NAME=PATH the word to complete begins
// after the sign.
#include "apps/manual/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/text.h"

namespace semicrf {

namespace {

std::string joined_names(const std::vector<OptionEntry>& options) {
  std::vector<std::string> names;
  for (const OptionEntry& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return joined(names, " ");
}

std::string value_case(const OptionEntry& option) {
  std::string actions;
  if (!option.words.empty()) actions += " words='" + joined(option.words, " ") + "'";
  if (option.kind == ValueKind::kFile) actions += " files=1";
  return "      " + joined(option.names, "|") + ") value=1" + actions + " ;;\n";
}

// What a command offers: sub-commands, options, the value of the option before the word, or files.
std::string command_case(const CommandEntry& command) {
  std::vector<std::string> words;
  for (const CommandEntry& child : command.commands) words.push_back(child.path.back());
  std::string text =
      "  '" + joined(command.path, " ") + "')\n    options='" + joined_names(command.options) + "'\n";
  if (!words.empty()) text += "    commands='" + joined(words, " ") + "'\n";
  std::string values;
  for (const OptionEntry& option : command.options)
    if (option.kind != ValueKind::kNone) values += value_case(option);
  if (!values.empty()) text += "    case \"$previous\" in\n" + values + "    esac\n";
  for (const OptionEntry& argument : command.positionals) {
    if (!argument.words.empty())
      text += "    [[ $value ]] || words='" + joined(argument.words, " ") + "'\n";
    else
      text += "    [[ $value ]] || files=1\n";
    break;
  }
  return text + "    ;;\n";
}

}  // namespace

std::string bash_completion(const CommandEntry& root) {
  std::string descend, cases;
  for (const CommandEntry* command : all_commands(root)) {
    if (!command->path.empty()) descend += (descend.empty() ? "'" : "|'") + joined(command->path, " ") + "'";
    cases += command_case(*command);
  }
  return "# Completion of semicrf for bash, written by `semicrf completion bash`.\n"
         "_semicrf() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command= next i value= words= files= commands= options=\n"
         "  if [[ $word == '=' ]]; then\n"
         "    word=\n"
         "  elif [[ $previous == '=' && COMP_CWORD -ge 2 ]]; then\n"
         "    previous=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    next=\"${command:+$command }${COMP_WORDS[i]}\"\n"
         "    case \"$next\" in\n"
         "      " +
         descend +
         ") command=$next ;;\n"
         "      *) [[ ${COMP_WORDS[i]} == -* ]] || break ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$command\" in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=()\n"
         "  if [[ -z $value && $word == -* ]]; then\n"
         "    words=$options files=\n"
         "  elif [[ -z $value && $commands ]]; then\n"
         "    words=$commands files=\n"
         "  fi\n"
         "  [[ $words ]] && mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "  if [[ $files ]]; then\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    local name\n"
         "    while IFS= read -r name; do COMPREPLY+=(\"$name\"); done < <(compgen -f -- \"$word\")\n"
         "  fi\n"
         "}\n"
         "complete -F _semicrf semicrf\n";
}

// The script for zsh: one function of _arguments per command.

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
    const std::string place = argument.repeats ? "*" : fmt::format("{}", ++number);
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

// The script for fish: a line per option, under the condition that its command was typed.

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
