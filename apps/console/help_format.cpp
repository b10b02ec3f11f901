#include "apps/console/help_format.h"

#include <cstddef>
#include <sstream>
#include <vector>

#include "apps/manual/command_tree.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

constexpr std::size_t kColumn = 30;  // column of descriptions
constexpr std::size_t kLineWidth = 100;

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
