#include "outputs/sink.h"

namespace semicrf {

RunOutputs::RunOutputs(const OutputPlan& plan) {
  for (const PlannedOutput& planned : plan) {
    Output& output = outputs_.emplace_back(planned.file);
    output.file.compress_with(planned.threads);
    if (planned.one_of_many) output.file.use_small_buffer();
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

void RunOutputs::end_piece(const PieceResult& result) {
  for (Output& output : outputs_) output.sink->end_piece(result);
}

void RunOutputs::finish(StopWatch& watch) {
  for (Output& output : outputs_) {
    if (!output.sink->is_wanted()) continue;
    timed(watch, [&] {
      output.sink->finish();
      output.file.finish();
    });
  }
}

void RunOutputs::commit() {
  for (Output& output : outputs_)
    if (output.sink->is_wanted()) output.file.commit();
}

}  // namespace semicrf
