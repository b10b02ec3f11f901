// Densities among the tracks of a parameter file.
#pragma once

#include <string_view>

#include "io/json/json_document.h"
#include "model/parameters.h"

namespace semicrf {

// The density of an entry with the key "density_of". InputError naming the place where a number is missing or
// not allowed; the names of tracks are not looked up.
Density read_density(const JsonNode& entry);

// "student", "beta-binomial" or "negative-binomial".
std::string_view density_family_name(DensityFamily family);
// The key of the track beside the values: "trials" or "exposure".
std::string_view key_beside(DensityFamily family);

}  // namespace semicrf
