#include "pipeline/outputs/run_outputs.h"

#include <algorithm>
#include <functional>

#include "core/parallel.h"

namespace semicrf {
namespace {

// Several blocks of a file are compressed at the same time.
void compress_with(int threads, OutputFile& file) {
  constexpr std::size_t kMostBlocks = 64;
  if (threads == 1) return;
  const auto compress = [threads](std::size_t count, const std::function<void(std::size_t)>& body) {
    parallel_for(threads, count, [&](std::size_t i, int) { body(i); });
  };
  file.set_for_each(compress, std::min(kMostBlocks, 2 * static_cast<std::size_t>(threads)));
}

}  // namespace

RunOutputs::RunOutputs(const OutputPlan& plan) {
  for (const PlannedOutput& planned : plan) {
    Output& output = outputs_.emplace_back(planned.file);
    compress_with(planned.threads, output.file);
    output.file.write(planned.header);
    output.sink = planned.open(output.file);
  }
}

void RunOutputs::begin_piece(const BinLocation& location, const PieceResult& result, bool posteriors_follow) {
  for (Output& output : outputs_) output.sink->begin_piece(location, result, posteriors_follow);
}

void RunOutputs::add_block(const PosteriorBlock& block) {
  for (Output& output : outputs_) output.sink->add_block(block);
}

void RunOutputs::end_piece() {
  for (Output& output : outputs_) output.sink->end_piece();
}

void RunOutputs::finish(StopWatch& watch) {
  for (Output& output : outputs_) {
    timed(watch, [&] {
      output.sink->finish();
      output.file.finish();
    });
  }
}

void RunOutputs::commit() {
  for (Output& output : outputs_) output.file.commit();
}

}  // namespace semicrf
