// The instruction sets the kernels were compiled for and this processor has.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace semicrf {

// Best first; the last one is the portable baseline.
std::vector<std::string> cpu_instruction_sets();

// The named set, or the best one for an empty name. DeviceError for one that cannot run.
std::string chosen_instruction_set(const std::string& name);

// Runs `make` with dispatch limited to the chosen set.
void with_instruction_set(const std::string& name, const std::function<void()>& make);

}  // namespace semicrf
