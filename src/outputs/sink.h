// Where the results of a run go: every output file is a sink, which gets the pieces from left to right.
//
// A new format is a class with this interface in a file of its own, and one line in formats.cpp.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "io/files/output_file.h"
#include "io/text/chromosomes.h"
#include "log/stage_times.h"

namespace semicrf {

class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // The next piece and what was computed of it. `posteriors_follow`: its posteriors come next, block by
  // block, and are not part of the result yet; else everything is there.
  virtual void begin_piece(const BinLocation&, const PieceResult&, bool /*posteriors_follow*/) {}
  virtual void add_block(const PosteriorBlock&) {}
  // The whole result of the piece, without what add_block() had.
  virtual void end_piece(const PieceResult&) {}
  // After the last piece: the rest of the file's content.
  virtual void finish() {}
  // After the last piece: whether there is a file at all.
  virtual bool is_wanted() const { return true; }
};

// An output that is not opened yet.
struct PlannedOutput {
  OutputSpec file;
  std::string header;  // what the file begins with
  int threads = 1;     // that compress it
  // Makes the sink that writes to the opened file, which outlives it.
  std::function<std::unique_ptr<OutputSink>(OutputFile&)> open;
  bool one_of_many = false;  // files that are open at once, so that its buffer must be small
  std::size_t kept = 0;      // bytes that it keeps until the end, which grow with what it writes
};
using OutputPlan = std::vector<PlannedOutput>;

// The files that a run writes, piece by piece from left to right.
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
