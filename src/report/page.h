// From sections to one HTML file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/blocks.h"

namespace semicrf {

// What stands above the sections.
struct PageHead {
  std::string title;
  std::string subtitle;
  std::vector<std::pair<std::string, std::string>> facts;  // name and value
  std::vector<std::string> notices;
};

// Everything is inside of the file, and a policy in its head keeps browsers from fetching anything.
std::string page_text(const PageHead& head, const std::vector<Section>& sections);

// The pictures and tables of the sections as files, names and texts: NAME.svg and NAME.tsv.
std::vector<std::pair<std::string, std::string>> figure_files(const std::vector<Section>& sections);

// WriteError where a folder for figures, which is made when they are written, cannot be made. Empty: none.
void check_figure_folder(const std::string& folder);

}  // namespace semicrf
