// Densities among the tracks of a parameter file.
#pragma once

#include "io/json/json_document.h"
#include "model/parameters.h"

namespace semicrf {

// The density of an entry with the key "density_of". InputError naming the place where a number is missing or
// not allowed; the names of tracks are not looked up.
Density read_density(const JsonNode& entry);

}  // namespace semicrf
