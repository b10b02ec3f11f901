// The files that a run writes, piece by piece from left to right.
#pragma once

#include <deque>
#include <memory>

#include "log/stage_times.h"
#include "outputs/sink.h"

namespace semicrf {

class RunOutputs {
 public:
  // Opens all outputs of the plan.
  explicit RunOutputs(const OutputPlan& plan);

  // See OutputSink.
  void begin_piece(const BinLocation& location, const PieceResult& result, bool posteriors_follow);
  void add_block(const PosteriorBlock& block);
  void end_piece(const PieceResult& result);

  // Everything written and durable, then everything under its name. Call each once, at the end: all that can
  // fail but renaming fails in finish(), which is on the clock of `watch`. Outputs whose sinks want no file
  // get none.
  void finish(StopWatch& watch);
  void commit();

 private:
  struct Output {
    explicit Output(const OutputSpec& spec) : file(spec) {}
    OutputFile file;
    std::unique_ptr<OutputSink> sink;
  };
  std::deque<Output> outputs_;
};

}  // namespace semicrf
