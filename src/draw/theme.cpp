#include "draw/theme.h"

namespace semicrf {
namespace {

constexpr const char* kLight =
    "--paper:#fff;--ink:#1b1f24;--muted:#57606a;--axis:#868e96;--grid:#e6e8eb;--track:#5b7083;--model:#"
    "1b1f24;"
    "--shade:#0003;--edge:#0006;--nothing:#d0d4d8;--more:#c25e00;--less:#2274b8;--wash:#f5f6f7;--link:#"
    "0b5cad;--notice:#"
    "7a4b00;";
constexpr const char* kDark =
    "--paper:#15181c;--ink:#e8eaed;--muted:#a8b0b9;--axis:#737b84;--grid:#2a2f35;--track:#8ea3b6;--model:#"
    "e8eaed;"
    "--shade:#fff3;--edge:#fff7;--nothing:#3b4148;--more:#c25e00;--less:#2274b8;--wash:#1d2126;--link:#"
    "7db7f0;--notice:#"
    "f0c060;";

}  // namespace

std::string theme_variables() {
  return std::string(":root{color-scheme:light dark;") + kLight +
         "}@media screen and (prefers-color-scheme:dark){:root{" + kDark + "}}";
}

std::string picture_styles() {
  return ".picture{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu "
         "Sans\",sans-serif;fill:var(--ink)}"
         ".picture .muted,.picture .tick{fill:var(--muted)}.picture .tick{font-size:11px}"
         ".picture .value{font-variant-numeric:tabular-nums}.picture .title{font-weight:600}"
         ".picture .small{font-size:11px}"
         ".picture .axis{stroke:var(--axis);fill:none}.picture .grid{stroke:var(--grid);fill:none}"
         ".picture .track{fill:var(--track)}.picture .model{stroke:var(--model);stroke-width:1.5;fill:none;"
         "stroke-linejoin:round}.picture .mark{stroke:var(--edge);stroke-width:.5}"
         ".picture .more{fill:var(--more)}.picture .less{fill:var(--less)}.picture "
         ".nothing{fill:var(--nothing)}"
         ".picture .paper{fill:var(--paper)}.picture .cell{stroke:var(--grid);stroke-width:1}"
         ".picture .dashed{stroke-dasharray:5 4}"
         ".picture .more-line{stroke:var(--more);fill:none;stroke-width:1.5}"
         ".picture .less-line{stroke:var(--less);fill:none;stroke-width:1.5}";
}

}  // namespace semicrf
