// The entropy of the segmentation, in double precision where single precision is not accurate enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyses/posteriors/posterior_sweep.h"
#include "core/error.h"
#include "engine/options.h"
#include "model/scores/score_source.h"

namespace semicrf {

// An entropy or cross-entropy stands, where its uncertainty (ExpectedScore::uncertainty, nats) is at most
// this share of it, or where neither is worth mentioning.
inline constexpr double kCertainShare = 5e-4;
bool is_certain(double entropy, double uncertainty);

// The warning about `pieces` of a run whose `what`, a field of the statistics, does not stand: they are
// uncertain by `uncertainty` nats together.
Warning uncertain_entropy_warning(const std::string& what, std::int64_t pieces, double uncertainty);

// Windows for sums in double precision within `budget` bytes or, where none fits, the least multiple by a
// power of two: whether an entropy is computed again must not depend on the memory that threads have left.
WindowPlan plan_at_least(const Engine& engine, const ScoreSource& source, const PosteriorSelection& selection,
                         std::size_t budget, EdgeLengths edges = {});

// The options of an engine that computes a piece of so many positions again, in double precision and with
// `threads` threads. Short pieces are computed on the processor, since opening a device takes longer.
EngineOptions options_in_double(EngineOptions options, int threads, std::int64_t positions);

// Sweeps once more in double precision where the entropy of `result.sums`, which an engine of `options` has
// computed, does not stand, and takes the new entropy and its uncertainty. All else stays as it is.
// `selection` and `source`: those of the sweep; `budget`: bytes for its windows, see plan_at_least(). A piece
// with windows at its edges that is too short for those of the other engine keeps what it has.
void make_entropy_certain(const EngineOptions& options, const ChainModel& model, ScoreSource& source,
                          const PosteriorSelection& selection, std::size_t budget, PosteriorResult& result);

}  // namespace semicrf
