#include <array>

#include "io/params/params_sections.h"

namespace semicrf {
EmissionHead read_emission(const JsonNode& node, std::size_t labels, std::size_t tracks) {
  constexpr std::array<std::string_view, 2> kKeys{"weights", "bias"};
  node.expect_object(kKeys);
  EmissionHead head;
  head.weights = node.at("weights").matrix(labels, kPerLabel, tracks, "one per track", kFiniteRule);
  const auto bias = node.find("bias");
  head.bias = bias ? bias->numbers(labels, kPerLabel, kFiniteRule) : std::vector<double>(labels, 0.0);
  return head;
}

BoundaryHead read_boundary(const JsonNode& node, std::size_t labels, std::size_t tracks) {
  constexpr std::array<std::string_view, 5> kKeys{"window", "start_weights", "start_bias", "end_weights",
                                                  "end_bias"};
  node.expect_object(kKeys);
  BoundaryHead head;
  if (const auto window = node.find("window")) {
    window->expect_list(2, "first and last offset");
    head.first = static_cast<int>(window->element(0).integer(-kMaxBoundaryOffset, kMaxBoundaryOffset));
    head.last = static_cast<int>(window->element(1).integer(-kMaxBoundaryOffset, kMaxBoundaryOffset));
    if (head.first > head.last) window->fail("the first offset is larger than the last");
  }
  const std::size_t inputs = tracks * static_cast<std::size_t>(head.last - head.first + 1);
  const auto weights = [&](const char* key) {
    const auto entry = node.find(key);
    if (!entry) return std::vector<double>{};
    return entry->matrix(labels, kPerLabel, inputs, "tracks x offsets, offset by offset", kFiniteRule);
  };
  const auto bias = [&](const char* key) {
    const auto entry = node.find(key);
    return entry ? entry->numbers(labels, kPerLabel, kFiniteRule) : std::vector<double>{};
  };
  head.start_weights = weights("start_weights");
  head.start_bias = bias("start_bias");
  head.end_weights = weights("end_weights");
  head.end_bias = bias("end_bias");
  return head;
}

}  // namespace semicrf
