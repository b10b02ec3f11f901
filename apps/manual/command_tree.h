// The command line as plain data: commands, options and what their values are, read from the parser itself.
// Manual pages and completions are written from it, so that they cannot differ from what the program takes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace semicrf {

enum class ValueKind { kNone, kFile, kWord, kOther };

struct OptionEntry {
  std::vector<std::string> names;  // as typed, "-p" or "--params"; empty for arguments without a name
  std::string value;               // what stands for the value: FILE, INT, float|double; empty for a flag
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> words;  // kWord: the values that can be completed
  std::string limits;              // limits of numbers: "1 to 1024"; or empty
  std::string initial;             // the value where it is not given, or empty
  std::string help;
  bool required = false;
  bool repeats = false;  // may be given several times, or takes several values
};

struct OptionGroupEntry {
  std::string heading;
  std::vector<std::size_t> options;  // their numbers in CommandEntry::options
};

struct CommandEntry {
  std::vector<std::string>
      path;  // the words after `semicrf`: {"import", "chromhmm"}; empty for the program itself
  std::string summary;
  std::string details;                   // outputs, without the exit codes
  std::vector<OptionEntry> options;      // with names, in the order in which the command added them
  std::vector<OptionGroupEntry> groups;  // in the order of --help-all
  std::vector<OptionEntry> positionals;  // without
  std::vector<CommandEntry> commands;    // those that --help lists

  std::string name() const;  // "semicrf import chromhmm"
};

// Gives every text that is neither one of several words nor has a type of its own the type FILE: most are
// files, and those that are not say what they are (->type_name). Called once, when all commands are there.
void name_file_values(CLI::App& program);

CommandEntry command_tree(const CLI::App& program);

OptionEntry option_entry(const CLI::Option& option);

// The beginning of an option's help, on one line: what menus of completions show.
std::string short_help(const OptionEntry& option);

// The command and those under it, parents first.
std::vector<const CommandEntry*> all_commands(const CommandEntry& root);

}  // namespace semicrf
