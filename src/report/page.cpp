#include "report/page.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "draw/svg.h"

namespace semicrf {
namespace {

constexpr const char* kPageStyles =
    "*{box-sizing:border-box}html{scroll-padding-top:1rem}"
    "body{margin:0 auto;padding:2rem clamp(1rem,4vw,3rem) 4rem;max-width:76rem;background:var(--paper);"
    "color:var(--ink);font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .25rem}h2{font-size:1.3rem;margin:2.5rem 0 .5rem;"
    "padding-top:1rem;border-top:1px solid var(--grid)}h3{font-size:1.05rem;margin:2.25rem 0 .25rem}"
    "h1,h2,h3,td,th,p,figcaption,dd{overflow-wrap:anywhere}"
    "p{max-width:44rem;margin:.4rem 0 1rem}a{color:var(--link)}.subtitle{color:var(--muted)}"
    "nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0;margin:1.25rem 0}"
    "dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:1rem "
    "1.5rem;margin:1.5rem 0}"
    "dt{color:var(--muted);font-size:.85rem}dd{margin:0;font-size:1.15rem;font-weight:600;"
    "font-variant-numeric:tabular-nums}"
    "figure{margin:1.5rem 0}figcaption{margin-bottom:.75rem;max-width:44rem}figcaption b{display:block;"
    "font-size:1.05rem}"
    ".panels{display:flex;flex-wrap:wrap;align-items:flex-start;gap:1.25rem}.panels>svg{flex:none;max-width:"
    "100%;height:auto}"
    // A shade at the edge behind which more is to be scrolled to.
    ".wide{overflow-x:auto;background:linear-gradient(to right,var(--paper) 30%,transparent) left/3rem 100% "
    "local,linear-gradient(to left,var(--paper) 30%,transparent) right/3rem 100% local,"
    "linear-gradient(to right,var(--shade),transparent) left/1rem 100% scroll,"
    "linear-gradient(to left,var(--shade),transparent) right/1rem 100% scroll;background-repeat:no-repeat;"
    "max-width:100%}.wide>svg{display:block}.wide+.wide{margin-top:1.25rem}"
    ".wide:focus-visible,a:focus-visible,summary:focus-visible{outline:2px solid "
    "var(--link);outline-offset:2px}"
    "table{border-collapse:collapse;font-size:.875rem;line-height:1.35;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;font-weight:600;font-size:1.05rem;padding-bottom:.5rem}"
    "th,td{padding:.32rem .9rem .32rem 0;text-align:left;vertical-align:baseline;border-bottom:1px solid "
    "var(--grid)}"
    "thead th{color:var(--muted);font-weight:500;vertical-align:bottom}tbody th{font-weight:500}"
    "td,thead th{overflow-wrap:normal}.n{text-align:right;white-space:nowrap}"
    "tbody th{min-width:7rem;max-width:20rem;overflow-wrap:break-word}"
    "i.mark{display:inline-block;width:.7em;height:.7em;margin-right:.5em;border:.5px solid var(--edge)}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--wash);padding:.75rem "
    "1rem;font-size:.82rem;"
    "line-height:1.5;border-radius:4px}"
    ".notice{border-left:3px solid var(--notice);padding:.25rem 0 .25rem .9rem}"
    "details{margin:.5rem "
    "0;font-size:.9rem}summary>h2{display:inline-block;color:var(--ink);margin-top:1rem}summary{color:var(--"
    "muted);cursor:pointer}"
    "@media print{body{padding:0;max-width:none;font-size:11pt}nav,summary{display:none}"
    "h2,h3,figcaption,caption{break-after:avoid}figure,tr,.panels>svg{break-inside:avoid}.wide{background:"
    "none;overflow:visible}"
    ".wide>svg{max-width:100%;height:auto}}";

std::string element(const std::string& name, const std::string& text) {
  return "<" + name + ">" + markup_escaped(text) + "</" + name + ">\n";
}

constexpr double kWidePanel = 380;  // pixels; wider ones get a frame that scrolls

struct Html {
  std::string operator()(const Paragraph& block) const {
    return (block.is_notice ? "<p class=\"notice\">" : "<p>") + markup_escaped(block.text) + "</p>\n";
  }
  std::string operator()(const Verbatim& block) const {
    std::string escaped;  // line by line: escaping makes blanks of line ends
    std::size_t begin = 0;
    while (begin < block.text.size()) {
      const std::size_t end = std::min(block.text.find('\n', begin), block.text.size());
      escaped += markup_escaped(block.text.substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    return "<pre>" + escaped + "</pre>\n";
  }
  std::string operator()(const SubHeading& block) const { return element("h3", block.text); }
  std::string operator()(const TableBlock& block) const { return html_table(block.table, block.caption); }
  std::string operator()(const Figure& figure) const {
    std::string html = "<figure id=\"figure-" + figure.name + "\"><figcaption><b>" +
                       markup_escaped(figure.title) + "</b> " + markup_escaped(figure.reading) +
                       "</figcaption>\n";
    const bool wide =
        std::ranges::any_of(figure.panels, [](const Drawing& one) { return one.width > kWidePanel; });
    if (!wide) html += "<div class=\"panels\">\n";
    for (const Drawing& panel : figure.panels) {
      if (!wide) {
        html += svg_element(panel);
      } else {
        html += "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" +
                markup_escaped(panel.title) + "\">\n" + svg_element(panel) + "</div>\n";
      }
    }
    return html + (wide ? "" : "</div>\n") + "</figure>\n";
  }
};

// The blocks; those from the first figure on that is not shown are folded.
std::string blocks_text(const Section& section) {
  std::string html;
  std::size_t figures = 0;
  bool folded = false;
  for (const Block& block : section.blocks) {
    const bool is_figure = std::holds_alternative<Figure>(block);
    if (is_figure && figures == section.shown_figures) {
      html += "<details>\n<summary>More of: " + markup_escaped(section.heading) + "</summary>\n";
      folded = true;
    }
    html += std::visit(Html(), block);
    figures += is_figure ? 1 : 0;
  }
  return html + (folded ? "</details>\n" : "");
}

}  // namespace

Drawing joined_panels(const Figure& figure) {
  if (figure.panels.size() == 1) return figure.panels[0];
  constexpr double kGap = 24, kMost = 1100;
  Drawing all;
  all.title = figure.title;
  all.description = figure.reading;
  double x = 0, y = 0, row = 0;
  for (const Drawing& panel : figure.panels) {
    if (x > 0 && x + panel.width > kMost) {
      x = 0;
      y += row + kGap;
      row = 0;
    }
    all.body += "<svg x=\"" + svg_pixels(x) + "\" y=\"" + svg_pixels(y) + "\" width=\"" +
                svg_pixels(panel.width) + "\" height=\"" + svg_pixels(panel.height) + "\">\n" + panel.body +
                "</svg>\n";
    x += panel.width + kGap;
    row = std::max(row, panel.height);
    all.width = std::max(all.width, x - kGap);
    all.height = y + row;
  }
  return all;
}

std::string page_text(const PageHead& head, const std::vector<Section>& sections) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n" +
      element("title", head.title + ", " + head.subtitle) + "<style>" + theme_variables() + kPageStyles +
      picture_styles() + "</style>\n</head>\n<body>\n<header>\n" + element("h1", head.title) +
      "<p class=\"subtitle\">" + markup_escaped(head.subtitle) + "</p>\n<dl>\n";
  for (const auto& [name, value] : head.facts)
    html += "<div>" + element("dt", name) + element("dd", value) + "</div>\n";
  html += "</dl>\n";
  for (const std::string& notice : head.notices)
    html += "<p class=\"notice\">" + markup_escaped(notice) + "</p>\n";
  html += "<nav aria-label=\"Sections\"><ul>\n";
  for (const Section& section : sections)
    html += "<li><a href=\"#" + section.id + "\">" + markup_escaped(section.heading) + "</a></li>\n";
  html += "</ul></nav>\n</header>\n<main>\n";
  for (const Section& section : sections) {
    const std::string heading = "<h2 id=\"" + section.id + "\">" + markup_escaped(section.heading) + "</h2>";
    html += "<section aria-labelledby=\"" + section.id + "\">\n";
    html += section.is_folded ? "<details>\n<summary>" + heading + "</summary>\n" : heading + "\n";
    html += blocks_text(section);
    html += section.is_folded ? "</details>\n</section>\n" : "</section>\n";
  }
  return html + "</main>\n</body>\n</html>\n";
}

std::vector<std::pair<std::string, std::string>> figure_files(const std::vector<Section>& sections) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const Section& section : sections)
    for (const Block& block : section.blocks) {
      if (const auto* table = std::get_if<TableBlock>(&block))
        files.emplace_back(table->name + ".tsv", tsv_text(table->table));
      if (const auto* figure = std::get_if<Figure>(&block)) {
        files.emplace_back(figure->name + ".tsv", tsv_text(figure->table));
        files.emplace_back(figure->name + ".svg", svg_file(joined_panels(*figure)));
      }
    }
  return files;
}

void check_figure_folder(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code ignored;
  const std::filesystem::path path(folder);
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored))
    throw WriteError({folder, "", "is not a folder", "name a folder for --figures"});
  if (!std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(parent, ignored))
    throw WriteError(
        {folder, "", "cannot be made: there is no folder " + parent.string(), "make that folder first"});
}

}  // namespace semicrf
