// From sections to one HTML file.
#pragma once

#include <string>
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

}  // namespace semicrf
