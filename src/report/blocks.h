// What the sections of a report are made of.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "draw/svg.h"
#include "report/table.h"

namespace semicrf {

struct Paragraph {
  std::string text;
  bool is_notice = false;  // something to know before one believes what follows
};

// Text as it stands, such as a command.
struct Verbatim {
  std::string text;
};

struct SubHeading {
  std::string text;
};

// `name`: of the files NAME.tsv and NAME.svg. One panel, or several with shared scales that stand beside each
// other where there is room.
struct Figure {
  std::string name;
  std::string title;
  std::string reading;  // one or two sentences: how to read it
  std::vector<Drawing> panels;
  Table table;
};

struct TableBlock {
  std::string name;  // name of the file NAME.tsv
  std::string caption;
  Table table;
};

using Block = std::variant<Paragraph, Verbatim, SubHeading, Figure, TableBlock>;

struct Section {
  std::string id;
  std::string heading;
  std::vector<Block> blocks;
  bool is_folded = false;  // shown when its heading is opened
  // Figures that are shown; the next one and what follows it are behind a line that opens them.
  std::size_t shown_figures = std::numeric_limits<std::size_t>::max();

  void add(Block block) { blocks.push_back(std::move(block)); }
};

// The panels of a figure as one picture.
Drawing joined_panels(const Figure& figure);

}  // namespace semicrf
