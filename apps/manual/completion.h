// Completion scripts of the command line for shells, written from the command line itself.
#pragma once

#include <string>

#include "apps/manual/command_tree.h"

namespace semicrf {

std::string bash_completion(const CommandEntry& root);
std::string zsh_completion(const CommandEntry& root);
std::string fish_completion(const CommandEntry& root);

}  // namespace semicrf
