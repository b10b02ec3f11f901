// The script for bash (4 or newer). It needs nothing of the package bash-completion, which only loads it.
//
// bash splits words at "=" and ":", so that in --rule=posterior and NAME=PATH the word to complete begins
// after the sign.
#include <algorithm>

#include "apps/manual/completion.h"
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

}  // namespace semicrf
