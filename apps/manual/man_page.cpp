#include "apps/manual/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/manual/examples.h"
#include "apps/options/common_options.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

constexpr std::size_t kPageWidth =
    78;  // columns of the source; lines are filled again where the page is shown

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    switch (c) {
      case '\\':
        all += "\\e";
        break;
      case '-':
        all += "\\-";
        break;
      case '\'':
        all += "\\(aq";
        break;
      case '`':
        all += "\\(ga";
        break;
      case '^':
        all += "\\(ha";
        break;
      case '~':
        all += "\\(ti";
        break;
      default:
        all += c;
    }
  }
  return all;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

// Lines of text that is filled when it is shown. A dot at the front would make a command of a line.
std::string filled(std::string_view text) {
  std::string all, line;
  const auto put = [&] {
    if (line.starts_with('.')) all += "\\&";
    all += line + "\n";
    line.clear();
  };
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string word = escaped(text.substr(begin, end - begin));
    begin = end + 1;
    if (word.empty()) continue;
    if (!line.empty() && line.size() + 1 + word.size() > kPageWidth) put();
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) put();
  return all;
}

// "Find the best segmentation." as the NAME line has it: "find the best segmentation".
std::string as_name(std::string summary) {
  if (summary.ends_with('.')) summary.pop_back();
  if (summary.size() > 1 && summary[1] >= 'a' && summary[1] <= 'z') summary[0] = lower(summary[0]);
  return summary;
}

std::string synopsis(const CommandEntry& command) {
  std::string line = bold(command.name()) + " [" + italic("OPTION") + "]...";
  for (const OptionEntry& entry : command.positionals) {
    const std::string name = italic(entry.value) + (entry.repeats ? "..." : "");
    line += entry.required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) line += " " + italic("COMMAND");
  return line + "\n";
}

std::string option_text(const OptionEntry& entry) {
  std::string text = entry.help;
  std::string more;
  if (entry.required) more = "required";
  if (!entry.limits.empty()) more += (more.empty() ? "" : ", ") + entry.limits;
  if (!entry.initial.empty()) more += (more.empty() ? "default: " : ", default: ") + entry.initial;
  if (!more.empty()) text += " (" + more + ")";
  return filled(text);
}

std::string entry_text(const OptionEntry& entry) {
  std::string names;
  for (const std::string& name : entry.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (names.empty())
    names = italic(entry.value);
  else if (!entry.value.empty())
    names += " " + italic(entry.value);
  return ".TP\n" + names + "\n" + option_text(entry);
}

// Arguments, then the groups of options in the order of --help-all.
std::string all_options(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& entry : command.positionals) text += entry_text(entry);
  for (const OptionGroupEntry& group : command.groups) {
    text += ".SS \"" + escaped(group.heading) + "\"\n";
    for (const std::size_t i : group.options) text += entry_text(command.options[i]);
  }
  return text;
}

// Where the text of an item begins: after the first two spaces that follow its name. Nothing where there are
// none.
std::optional<std::size_t> text_column(std::string_view line) {
  const std::size_t gap = line.find("  ", 2);
  const std::size_t column = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (column == std::string_view::npos) return {};
  return column;
}

// What --help says below the options: lines without an indent are paragraphs, those with two spaces are items
// ("  -o FILE segments"), deeper ones go on with the item above.
std::string details_text(std::string_view details) {
  std::string text, paragraph;
  std::size_t column = 0;
  const auto end_paragraph = [&] {
    text += filled(paragraph);
    paragraph.clear();
  };
  bool blank = true;
  while (!details.empty()) {
    const std::size_t end = std::min(details.find('\n'), details.size());
    const std::string_view line = details.substr(0, end);
    details.remove_prefix(std::min(end + 1, details.size()));
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos) {
      blank = true;
      continue;
    }
    if (indent == 2) {
      end_paragraph();
      column = text_column(line).value_or(column);
      const bool split = column > 2 && column < line.size() && line[column - 1] == ' ';
      std::string_view name = line.substr(2, split ? column - 2 : std::string_view::npos);
      name = name.substr(0, name.find_last_not_of(' ') + 1);
      text += ".TP\n" + bold(name) + "\n";
      if (split) paragraph = line.substr(column);
      blank = false;
    } else if (indent > 2) {
      paragraph += " " + std::string(line.substr(indent));
    } else {
      if (blank || text.ends_with("\n.TP\n")) {
        end_paragraph();
        text += line == "Outputs:" || line == "Output:" ? ".SH OUTPUTS\n" : ".PP\n";
      }
      if (line != "Outputs:" && line != "Output:") paragraph += " " + std::string(line);
      blank = false;
    }
  }
  end_paragraph();
  return text;
}

std::string exit_status() {
  std::string text = ".SH \"EXIT STATUS\"\n";
  for (const ExitCodeMeaning& meaning : exit_codes())
    text += ".TP\n" + bold(fmt::format("{}", meaning.code)) + "\n" + filled(meaning.text);
  return text + ".PP\n" + filled(exit_code_notes());
}

std::string examples_text(const CommandEntry& command) {
  std::string text;
  for (const Example& example : examples_of(command.path.empty() ? "" : command.path.front())) {
    text += ".PP\n" + filled(example.what) + ".PP\n.nf\n.RS 4\n";
    std::string_view rest = example.command;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text += escaped(rest.substr(0, end)) + "\n";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    text += ".RE\n.fi\n";
  }
  return text.empty() ? text
                      : ".SH EXAMPLES\n" +
                            filled(
                                "The files are those of the demonstration that comes with the program, in "
                                "the folder examples of its documentation.") +
                            text;
}

std::string see_also(const CommandEntry& root, const CommandEntry& command) {
  std::string text;
  const auto add = [&](const CommandEntry& other) {
    if (&other != &command) text += (text.empty() ? "" : ",\n") + bold(page_name(other)) + "(1)";
  };
  add(root);
  for (const CommandEntry& other : root.commands) add(other);
  return ".SH \"SEE ALSO\"\n" + text + "\n";
}

std::string commands_of_program(const CommandEntry& root) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandEntry& command : root.commands)
    text += ".TP\n" + bold(command.name()) + "\n" + filled(command.summary) + "See\n" +
            bold(page_name(command)) + "(1).\n";
  return text;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

}  // namespace

std::string page_name(const CommandEntry& command) {
  return command.path.empty() ? "semicrf" : "semicrf-" + command.path.front();
}

std::string man_page(const CommandEntry& root, const CommandEntry& command, const std::string& date) {
  const std::string name = page_name(command);
  std::string text = ".TH " + escaped(upper(name)) + " 1 \"" + date +
                     "\" \"semicrf " SEMICRF_VERSION "\" \"semicrf manual\"\n.SH NAME\n" + escaped(name) +
                     " \\- " + escaped(as_name(command.summary)) + "\n.SH SYNOPSIS\n";
  if (command.commands.empty() || command.path.empty())
    text += synopsis(command);
  else
    for (const CommandEntry& child : command.commands)
      text += (&child == &command.commands.front() ? "" : ".br\n") + synopsis(child);
  text += ".SH DESCRIPTION\n" + filled(command.summary);
  const std::string details = details_text(command.details);
  const std::size_t outputs = std::min(details.find(".SH OUTPUTS\n"), details.size());
  text += details.substr(0, outputs);
  if (command.path.empty()) text += commands_of_program(root);
  text += ".SH OPTIONS\n" + all_options(command);
  if (!command.path.empty())
    for (const CommandEntry& child : command.commands)
      text += ".SS \"" + escaped(child.name()) + "\"\n" + filled(child.summary) + all_options(child);
  return text + details.substr(outputs) + exit_status() + examples_text(command) + see_also(root, command);
}

}  // namespace semicrf
