// One case against engines: what the reference says of it, where they disagree, and the smallest case that
// shows it.
#pragma once

#include "parity/engine_maker.h"
#include "support/models/random_models.h"

namespace semicrf::testing {

// What is compared.
struct Examined {
  bool inference = true;  // best path, posteriors and reports, over one window and several
  bool gradient = true;   // expected counts and forward messages, likewise; of cases that have a path
};

using MakeOne = std::function<std::unique_ptr<Engine>(const ChainModel&)>;

// One line per disagreement; of every engine that disagrees also a smaller case where it still does.
std::vector<std::string> check_engines(const std::vector<MakeOne>& engines, const ModelCase& sample,
                                       Examined examined = {});

// Both precisions of an engine.
std::vector<std::string> check_case(const MakeEngine& make, const ModelCase& sample, Examined examined = {});

// Expected counts and forward messages alone, which long sequences can afford.
inline std::vector<std::string> check_gradient(const MakeEngine& make, const ModelCase& sample) {
  return check_case(make, sample, {false, true});
}

}  // namespace semicrf::testing
