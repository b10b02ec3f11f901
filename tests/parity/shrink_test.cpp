// Failing inputs become small, and stay inputs that fail.
#include "support/models/shrink.h"

#include <algorithm>

#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

TEST_CASE("a case that fails shrinks to what makes it fail") {
  const ModelCase sample = make_case(CaseKind::kBoundaryScores, {100, 20, 6}, 3);
  // Something is wrong where the end score of label 4 at position 57 is seen, for durations of 7 and more.
  const double culprit = sample.end_scores.at(57 * 6 + 4);
  const auto fails = [&](const ModelCase& one) {
    if (one.model.max_duration < 7 || one.end_scores.empty()) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(one.length * one.model.num_labels); ++i)
      if (one.end_scores.at(i) == culprit) return true;
    return false;
  };
  const ModelCase small = shrink<ModelCase>(sample, fails, smaller_cases);
  CHECK(small.length == 1);
  CHECK(small.model.num_labels == 1);
  CHECK(small.model.max_duration == 7);
  CHECK(small.start_scores.empty());
  CHECK(small.model.start_scores.empty());
  CHECK(small.model.end_scores.empty());
  CHECK(as_code(small).find("sample.length = 1;") != std::string::npos);
}

TEST_CASE("every smaller version of a case is one that engines take") {
  for (const CaseKind kind : {CaseKind::kEverything, CaseKind::kTails, CaseKind::kBoundaryScores}) {
    for (const ModelCase& smaller : smaller_cases(make_case(kind, {40, 6, 4}, 5))) {
      INFO(smaller.description);
      const auto labels = static_cast<std::size_t>(smaller.model.num_labels);
      CHECK(smaller.model.transition.size() == labels * labels);
      CHECK(smaller.model.duration_bias.size() ==
            static_cast<std::size_t>(smaller.model.max_duration) * labels);
      const auto engine = make_reference_engine(smaller.model);
      CHECK(posterior_case(*engine, smaller, {0, smaller.length}).labels.size() ==
            static_cast<std::size_t>(smaller.length) * labels);
    }
  }
}

TEST_CASE("a list that fails shrinks to the items that make it fail") {
  std::vector<int> calls;
  for (int i = 0; i < 50; ++i) calls.push_back(i);
  const auto fails = [](const std::vector<int>& some) {
    const auto first = std::find(some.begin(), some.end(), 13);
    return std::find(first, some.end(), 41) != some.end();
  };
  CHECK((shrink<std::vector<int>>(calls, fails, shorter_lists<int>) == std::vector<int>{13, 41}));
}
