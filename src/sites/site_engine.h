// The engine of sites: sequences whose rows of scores lie at positions of their own, with positions that have
// no scores between them.
//
// To its callers the rows of a sequence are the sites, one after the other. Its results are those of a
// sequence with a row for every position from the first site to the last one, in which all rows between sites
// are 0: log Z, the posteriors of the sites, the best score and the expected counts are the same. A segment
// starts at a site where it starts behind the site before; of several that start between two sites only the
// last one is seen, in paths as in posteriors. Double precision, in time that does not depend on the
// distances.
// A step of less than e^-700 counts as impossible.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/engine.h"

namespace semicrf {

// `at`: the positions of the sites, increasing; it must outlive the engine. The model has K = 1
// (std::logic_error). Windows are whole sequences, without scores of starts or ends, and there are no forward
// messages but log Z (std::logic_error).
std::unique_ptr<Engine> make_site_engine(ChainModel model, std::span<const std::uint32_t> at, int threads);

// Whether it is such an engine: the scores of its paths have terms between rows.
bool is_site_engine(const Engine& engine);

}  // namespace semicrf
