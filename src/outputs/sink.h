// Where the results of a run go: every output file is a sink, which gets the pieces from left to right.
//
// A new format is a class with this interface in a file of its own, and one line in formats.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyses/piece_result.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "io/files/output_file.h"
#include "io/text/chromosomes.h"

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

}  // namespace semicrf
