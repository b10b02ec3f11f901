// semicrf_hessian_product(): one sequence after the other, or side by side.
#include "reference/hessian_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "library/model_handle.h"
#include "library/sequence_inputs.h"
#include "library/status.h"
#include "model/scores/score_source.h"

namespace semicrf {
namespace {

struct Part {
  const char* name;
  std::vector<double> ScoreVariation::*own;
  double* semicrf_variation::*given;
};
constexpr Part kParts[] = {{"scores", &ScoreVariation::emissions, &semicrf_variation::scores},
                           {"start_scores", &ScoreVariation::starts, &semicrf_variation::start_scores},
                           {"end_scores", &ScoreVariation::ends, &semicrf_variation::end_scores},
                           {"transition", &ScoreVariation::transition, &semicrf_variation::transition},
                           {"duration", &ScoreVariation::duration, &semicrf_variation::duration},
                           {"tail", &ScoreVariation::tail, &semicrf_variation::tail}};

ScoreVariation direction_of(const semicrf_variation& given, const ChainModel& chain, std::int64_t length,
                            const std::string& name) {
  const std::size_t labels = chain.num_labels;
  const std::size_t positions = length;
  const std::array<std::size_t, std::size(kParts)> rows = {
      positions, positions, positions, labels, wide(chain.max_duration), 1};
  ScoreVariation direction;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Part& part = kParts[i];
    const double* const from = given.*part.given;
    if (from == nullptr) continue;
    std::vector<double>& to = direction.*part.own;
    to.assign(from, from + rows[i] * labels);
    if (!std::ranges::all_of(to, [](double value) { return std::isfinite(value); }))
      throw UsageError("direction of sequence " + name + ": " + part.name + " has a value that is not finite",
                       "");
  }
  return direction;
}

void compute(const LibraryModel& model, const semicrf_sequence& sequence, const std::string& name,
             const semicrf_variation& along, const semicrf_variation& to) {
  const std::int64_t length = sequence.scores.rows;
  const ChainModel& chain = model.parameters.chain;
  // Checks the length, too.
  const std::shared_ptr<SequenceScores> scores = open_sequence(model, sequence, name, Precision::kDouble, 1);
  const ScoreVariation direction = direction_of(along, chain, length, name);
  const std::unique_ptr<ScoreSource> source = make_piece_source(scores, {0, length});
  ScoreBuffers buffers;
  const ScoreWindow window = HostProjection(*source).read(0, length, buffers);
  const ScoreVariation product = hessian_product(chain, ReferenceScores(chain, window), direction);
  for (const Part& part : kParts)
    if (double* const values = to.*part.given; values != nullptr)
      std::ranges::copy(product.*part.own, values);
}

}  // namespace
}  // namespace semicrf

using namespace semicrf;

semicrf_status semicrf_hessian_product(const semicrf_model* model, const semicrf_sequence* sequences,
                                       size_t count, const semicrf_variation* directions,
                                       const semicrf_variation* products, int32_t threads,
                                       semicrf_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    if (count == 0) return;
    require(sequences, "sequences");
    require(directions, "directions");
    require(products, "products");
    parallel_for(std::max(1, threads), count, [&](std::size_t i, int) {
      compute(*model->model, sequences[i], sequence_name(sequences[i], i), directions[i], products[i]);
    });
  });
}
