// Sequence logos: the bases around a site as letters whose heights say how much each place tells.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "draw/svg.h"
#include "report/genes/gene_statistics.h"

namespace semicrf {

// Bits that a place tells: the relative entropy of its bases to the background. 0 where none was counted.
double site_bits(const std::array<std::int64_t, 4>& counts, const std::array<double, 4>& background);

// `top`: bits at the upper end of the axis. Each letter takes its share of the bits of its place.
Drawing draw_logo(const std::string& title, const SiteBases& site, const std::array<double, 4>& background,
                  double top);

}  // namespace semicrf
