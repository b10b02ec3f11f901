// Files of gene models: JSON, "semicrf-genes" versions 1.0 to 1.3 (docs/gene-models.md).
#pragma once

#include <string>

#include "genes/gene_model.h"

namespace semicrf {

// The text, ended by a newline; numbers of tables with five digits.
std::string gene_model_text(const GeneModel& model);

// ReadError, InputError with the JSON pointer: everything is checked, so that compile() has what it needs.
GeneModel read_gene_model(const std::string& path);

}  // namespace semicrf
