// semicrf man and semicrf completion: what an installation needs beside the program, written from the command
// line itself. Both are hidden from --help: users have them installed.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/manual/command_tree.h"
#include "apps/manual/completion.h"
#include "apps/manual/man_page.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/files/output_file.h"

namespace semicrf {
namespace {

struct ManArguments {
  std::string command, folder, date;
};

void write_pages(const CommandEntry& root, const ManArguments& arguments) {
  const auto write = [&](const CommandEntry& command) {
    write_whole_output(arguments.folder + "/" + page_name(command) + ".1",
                       man_page(root, command, arguments.date));
  };
  write(root);
  for (const CommandEntry& command : root.commands) write(command);
}

void man(const CLI::App& program, const ManArguments& arguments) {
  const CommandEntry root = command_tree(program);
  if (!arguments.folder.empty()) return write_pages(root, arguments);
  if (arguments.command.empty()) return print(man_page(root, root, arguments.date));
  std::vector<std::string> names;
  for (const CommandEntry& command : root.commands) {
    if (command.path.front() == arguments.command) return print(man_page(root, command, arguments.date));
    names.push_back(command.path.front());
  }
  throw UsageError("there is no command '" + arguments.command + "'", "give one of " + joined(names, ", "));
}

std::string help_of(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* command = &program;
  std::string name = program.get_name();
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> below =
        command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (below.empty()) {
      std::vector<std::string> names;
      for (const CommandEntry& one : command_tree(*command).commands) names.push_back(one.path.front());
      const std::vector<std::string_view> known(names.begin(), names.end());
      throw UsageError("there is no command '" + word + "' of " + name,
                       known.empty() ? "" : "did you mean " + std::string(nearest_name(word, known)) + "?");
    }
    command = below.front();
    name += " " + word;
  }
  // App::help() would print the help of `semicrf help`, the command that was given.
  return command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
}

std::string completion(const CLI::App& program, const std::string& shell) {
  const CommandEntry root = command_tree(program);
  if (shell == "bash") return bash_completion(root);
  return shell == "zsh" ? zsh_completion(root) : fish_completion(root);
}

}  // namespace

void add_manual_commands(CLI::App& program) {
  CLI::App* pages =
      add_command(program, "man", "Write a manual page (roff).",
                  "Output: the page of the program or of a command on standard output, for man -l -\n");
  const auto arguments = std::make_shared<ManArguments>();
  pages->add_option("COMMAND", arguments->command, "whose page; without it that of the program")
      ->type_name("NAME");
  pages->add_option("--all", arguments->folder, "write all pages to this folder")->type_name("DIR");
  pages->add_option("--date", arguments->date, "date at the foot of the pages, YYYY-MM-DD")
      ->type_name("DATE");
  pages->callback([&program, arguments] { man(program, *arguments); });
  pages->group("");

  CLI::App* help = add_command(program, "help", "Print the help of a command.",
                               "Output: what semicrf COMMAND --help prints, on standard output\n");
  const auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("COMMAND", *words, "whose help; without it that of the program")->type_name("NAME");
  help->callback([&program, words] { print(help_of(program, *words)); });
  help->group("");

  CLI::App* scripts =
      add_command(program, "completion", "Write a script that completes command lines in a shell.",
                  "Output: the script on standard output. In bash: source <(semicrf completion bash)\n");
  const auto shell = std::make_shared<std::string>();
  add_choice(*scripts, "SHELL", *shell, "bash, zsh or fish", {"bash", "zsh", "fish"})->required();
  scripts->callback([&program, shell] { print(completion(program, *shell)); });
  scripts->group("");
}

}  // namespace semicrf
