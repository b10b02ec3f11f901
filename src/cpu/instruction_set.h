// The instruction sets the kernels were compiled for and this processor has.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace semicrf {

// Best first; the last one is the portable baseline.
std::vector<std::string> cpu_instruction_sets();

// Runs `make` with dispatch limited to the named set (empty: the best). Throws DeviceError for one that
// cannot run. Returns the name of the set used.
std::string with_instruction_set(const std::string& name, const std::function<void()>& make);

}  // namespace semicrf
