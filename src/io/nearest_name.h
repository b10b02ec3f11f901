// The known name a mistyped one most likely stands for.
#pragma once

#include <span>
#include <string_view>

namespace semicrf {

// The element of `known` with the smallest edit distance to `name` (letter case ignored), the first of
// several; empty when `known` is empty. Only the first 64 characters of `name` count.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace semicrf
