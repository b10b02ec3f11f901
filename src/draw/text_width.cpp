#include "draw/text_width.h"

#include <array>
#include <cstddef>

namespace semicrf {
namespace {

// Thousandths of the font size, of the characters from blank to ~.
constexpr std::array<int, 95> kWidths{
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr int kOther = 700;  // accented letters, Greek, Cyrillic
constexpr int kWide = 1000;  // characters of three and four bytes
constexpr const char* kEllipsis = "\xe2\x80\xa6";

int width_of(unsigned char first) {
  if (first >= 0x20 && first < 0x7f) return kWidths[first - 0x20U];
  if (first < 0x20 || first == 0x7f) return kWidths[0];  // shown as a blank
  if (first < 0xc0) return 0;                            // inside of a character
  return first < 0xe0 ? kOther : kWide;
}

}  // namespace

double text_width(std::string_view text, double size) {
  int sum = 0;
  for (const char c : text) sum += width_of(static_cast<unsigned char>(c));
  return sum * size / 1000;
}

std::string fitted(std::string_view text, double width, double size) {
  if (text_width(text, size) <= width) return std::string(text);
  const double room = width - text_width(kEllipsis, size);
  double used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    std::size_t next = end + 1;  // where the next character begins
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
    used += width_of(static_cast<unsigned char>(text[end])) * size / 1000;
    if (used > room) break;
    end = next;
  }
  return end == 0 ? std::string() : std::string(text.substr(0, end)) + kEllipsis;
}

}  // namespace semicrf
