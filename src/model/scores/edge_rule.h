// Censoring: how the first and last segment of a piece that was cut out of something longer are scored.
#pragma once

#include <optional>
#include <string_view>

namespace semicrf {

enum class EdgeRule {
  kComplete,  // as if they began and ended at the cuts
  kCensored,  // by their survival (model/scores/edge_roles.h)
};

inline std::string_view edge_rule_name(EdgeRule rule) {
  return rule == EdgeRule::kCensored ? "censored" : "complete";
}
inline std::optional<EdgeRule> edge_rule_from_name(std::string_view name) {
  for (const EdgeRule rule : {EdgeRule::kComplete, EdgeRule::kCensored})
    if (name == edge_rule_name(rule)) return rule;
  return std::nullopt;
}

}  // namespace semicrf
