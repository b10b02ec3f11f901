// What --help and --help-all show. --help of a command with many options has the ten that most need,
// --help-all has all of them in groups, and the outputs. An option: name and value, then its description in
// lines of one width, at their end what numbers are allowed and what holds where the option is not given.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace semicrf {

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* command, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_usage(const CLI::Option* option) const override;

 private:
  std::string all_options(const CLI::App& command) const;  // in groups
};

}  // namespace semicrf
