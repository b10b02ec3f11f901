#include "runs/piece_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "core/error.h"
#include "core/text/text.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "sites/site_engine.h"

namespace semicrf {

namespace {

// x - x is 0 for numbers, NaN for NaN and infinities; a sum of them takes a fraction of the time that it
// takes to print one value.
bool all_finite(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value - value;
  return sum == 0;
}

// The score of the largest finite magnitude.
class LargestScore {
 public:
  template <class Scores>
  void look_at(const Scores& scores) {
    for (const auto score : scores)
      if (std::isfinite(score)) largest_ = std::max(largest_, std::fabs(double{score}));
  }
  void look_at(const ScoreArray& array, std::size_t entries) {
    if (array.f32 != nullptr) look_at(std::span(array.f32, entries));
    if (array.f64 != nullptr) look_at(std::span(array.f64, entries));
  }
  double value() const { return largest_; }

 private:
  double largest_ = 0;
};

double largest_score(const ChainModel& model, ScoreSource& source) {
  LargestScore largest;
  for (const auto* table :
       {&model.transition, &model.duration_bias, &model.log_tail, &model.start_scores, &model.end_scores})
    largest.look_at(*table);
  constexpr std::int64_t kScanned = 4096;  // positions
  HostProjection reader(source);
  ScoreBuffers buffers;
  for (std::int64_t begin = 0; begin < source.length(); begin += kScanned) {
    const std::int64_t end = std::min(source.length(), begin + kScanned);
    const ScoreWindow window = reader.read(begin, end, buffers);
    const std::size_t entries = (end - begin) * model.num_labels;
    for (const ScoreArray* array : {&window.emissions, &window.start_scores, &window.end_scores})
      largest.look_at(*array, entries);
  }
  return largest.value();
}

}  // namespace

void check_posteriors(const PosteriorBlock& block, const BinLocation& location, const ChainModel& model,
                      const OpenSource& open) {
  for (const auto array : kPosteriorArrays) {
    const std::span<const double> values = block.*array;
    if (all_finite(values)) continue;
    const auto bad = std::find_if(values.begin(), values.end(), [](double p) { return !std::isfinite(p); });
    const auto width = std::ssize(values) / block.range.size();
    const std::int64_t t = block.range.begin + (bad - values.begin()) / width;
    constexpr double kLargest = 1e12;  // a double of this size has four digits after the point
    const double largest = largest_score(model, *open());
    if (largest >= kLargest)
      throw InputError({"", location.place(t, t + 1),
                        fmt::format("the scores are too large: beside one of {:g} the others have no digits "
                                    "left, and posteriors are no numbers",
                                    largest),
                        "keep scores below 1e12, and write -inf for what is impossible"});
    throw std::logic_error(fmt::format("{}: a posterior is {} where it should be a probability",
                                       location.place(t, t + 1), *bad));
  }
}

namespace {

EdgeWindow edge_window(const EnginePool& engines, const EnginePool::Worker& worker, CutEdges cut,
                       std::int64_t positions, const OpenSource& open) {
  EdgeWindow edge;
  if (positions == 0) return edge;
  edge.positions = positions;
  edge.roles = engines.roles(cut);
  edge.engine = &engines.host_engine(worker, cut);
  if (edge.engine->info().grid.warmup > engines.engine(worker, {}).info().grid.warmup)
    throw std::logic_error("a window at an edge needs longer halos than the others");
  edge.scores = with_edge_roles(open(), edge.roles);
  edge.plain = open();
  return edge;
}

}  // namespace

PieceSetup set_up_piece(const EnginePool& engines, const EnginePool::Worker& worker,
                        const BinLocation& location, CutEdges cut, std::int64_t bins,
                        const OpenSource& open) {
  PieceSetup setup;
  if (location.sites) {
    setup.own = make_site_engine(engines.first().model(), sites_of(location, bins),
                                 worker.single ? 1 : engines.threads());
    setup.engine = setup.own.get();
    setup.source = open();
    return setup;
  }
  const EdgeLengths lengths = cut.any() ? edge_lengths(engines.engine(worker, {}), cut, bins) : EdgeLengths{};
  if (!lengths.any()) {
    setup.engine = &engines.engine(worker, cut);
    setup.chain.roles = engines.roles(cut);
    setup.source = with_edge_roles(open(), setup.chain.roles);
    return setup;
  }
  setup.engine = &engines.engine(worker, {});
  setup.source = open();
  setup.edges = std::make_unique<EdgeWindows>();
  setup.edges->left = edge_window(engines, worker, {true, false}, lengths.left, open);
  setup.edges->right = edge_window(engines, worker, {false, true}, lengths.right, open);
  setup.edges->roles = engines.roles(cut);
  setup.chain.edges = setup.edges.get();
  return setup;
}

}  // namespace semicrf
