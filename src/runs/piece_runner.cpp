#include "runs/piece_runner.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <optional>
#include <span>
#include <utility>

#include "analyses/analyse.h"
#include "core/chain_model.h"
#include "core/error.h"
#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "engine/options.h"
#include "log/stage_times.h"
#include "runs/piece_setup.h"

namespace semicrf {
namespace {

constexpr std::size_t kPendingPerDevice = 4;  // jobs that wait for their turn

// The posteriors of a short piece until it is its turn to be written.
class KeptBlock {
 public:
  explicit KeptBlock(const PosteriorBlock& block) : range_(block.range) { append(block); }
  // Appends the positions that follow.
  void append(const PosteriorBlock& block) {
    range_.end = block.range.end;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const std::span<const double> values = block.*kPosteriorArrays[i];
      arrays_[i].insert(arrays_[i].end(), values.begin(), values.end());
    }
  }
  PosteriorBlock view() const {
    PosteriorBlock block;
    block.range = range_;
    for (std::size_t i = 0; i < arrays_.size(); ++i) block.*kPosteriorArrays[i] = arrays_[i];
    return block;
  }

 private:
  PositionRange range_;
  std::array<std::vector<double>, kPosteriorArrays.size()> arrays_;
};

// Reads another source under a mutex, and measures the time.
class TimedSource : public ScoreSource {
 public:
  // `mutex` is held during reads.
  TimedSource(std::unique_ptr<ScoreSource> source, StopWatch& watch, std::mutex& mutex)
      : source_(std::move(source)), watch_(watch), mutex_(mutex) {}
  std::int64_t length() const override { return source_->length(); }
  std::size_t bytes_per_position() const override { return source_->bytes_per_position(); }
  std::size_t score_bytes() const override { return source_->score_bytes(); }
  int projection_threads() const override { return source_->projection_threads(); }
  std::optional<ScoreWindow> in_place() const override { return source_->in_place(); }
  void assume_checked(std::int64_t begin, std::int64_t end) override {
    const std::lock_guard lock(mutex_);
    source_->assume_checked(begin, end);
  }
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    const std::lock_guard lock(mutex_);
    return timed(watch_, [&] { return source_->read(begin, end, buffers); });
  }

 private:
  std::unique_ptr<ScoreSource> source_;
  StopWatch& watch_;
  std::mutex& mutex_;
};

OpenSource opener_of(const Piece& piece) {
  return [&piece] { return make_piece_source(piece.scores, piece.bins); };
}

}  // namespace

// The source of a piece's analyses. Where each of them has the piece in one window, and scores are made of
// features by the host, it makes them once for all of them, in place of once for each; this takes no more
// memory than the scores that the window of an analysis has.
class ProjectedOnce {
 public:
  ProjectedOnce(const PieceSetup& setup, const PiecePlan& plan, const AnalysisList& analyses)
      : source_(setup.source.get()) {
    if (!plan.whole() || analyses.size() < 2 || setup.edges != nullptr || setup.engine->projects() ||
        source_->projection_threads() == 0)
      return;
    const ScoreWindow whole = HostProjection(*source_).read(0, source_->length(), buffers_);
    kept_.emplace(whole, setup.engine->model().num_labels);
  }
  ScoreSource& source() { return kept_ ? *kept_ : *source_; }

 private:
  ScoreSource* source_;
  ScoreBuffers buffers_;
  std::optional<MemoryScoreSource> kept_;
};

// A computed piece, kept until it is its turn to be written.
struct PieceRunner::Finished {
  Piece piece;
  PieceResult result;
  std::optional<KeptBlock> block;  // posteriors of the piece, where they are to be written
  bool begun = false;              // whether its posteriors have been written already
};

PieceRunner::PieceRunner(const RunnerOptions& options, EnginePool& engines, PieceStream& pieces,
                         RunOutputs& outputs, RunReport& report, Progress* progress)
    : options_(options),
      engines_(engines),
      pieces_(pieces),
      outputs_(outputs),
      report_(report),
      progress_(progress),
      queue_(options_, engines, pieces, report, shared_),
      turns_(engines.devices() > 1 ? kPendingPerDevice * engines.devices() : 1,
             engines.devices() > 1 || engines.first().own_memory() != nullptr ? Turns::Thread::kOwn
                                                                              : Turns::Thread::kCaller) {}

void PieceRunner::run() {
  parallel_for(engines_.devices(), engines_.devices(),
               [&](std::size_t device, int) { work(engines_.device(static_cast<int>(device))); });
  turns_.finish();
}

// Takes and computes jobs until there are no more. Errors, too, come in the order of the pieces.
void PieceRunner::work(Engine& engine) {
  std::optional<Job> ahead;
  try {
    for (;;) {
      Job job = queue_.next(engine, ahead);
      if (job.empty()) return;
      std::exception_ptr error = job.error;
      try {
        compute(engine, job);
      } catch (const Turns::Cancelled&) {
        throw;
      } catch (...) {
        error = std::current_exception();
      }
      if (!error) continue;
      {
        const std::lock_guard lock(shared_);
        queue_.stop();
      }
      return turns_.submit(job.number, [error] { std::rethrow_exception(error); });
    }
  } catch (const Turns::Cancelled&) {
    // turns_.finish() throws the error itself.
  }
}

void PieceRunner::compute(Engine& engine, Job& job) {
  if (job.piece) compute_long(engine, *job.piece, job.number);
  if (!job.batch.pieces.empty()) compute_batch(engine, job.batch, job.number);
}

void PieceRunner::compute_long(Engine& engine, const Piece& piece, std::int64_t number) {
  const PieceSetup setup =
      set_up_piece(engines_, engines_.worker_of(engine), piece.location, piece.cut, piece.bins.size(), [&] {
        return std::make_unique<TimedSource>(make_piece_source(piece.scores, piece.bins), report_.read,
                                             shared_);
      });
  const std::size_t share = options_.window_budget / engines_.devices();
  const std::size_t kept = std::min(share, piece.scores->cached_bytes);
  PiecePlan plan = plan_piece(*setup.engine, *setup.source, setup.chain, options_.analyses, share - kept);
  plan.threads = engines_.threads_per_device();
  ProjectedOnce projected(setup, plan, options_.analyses);
  Finished finished;
  finished.piece = piece;
  const BlockSink sink = [&](const PieceResult& so_far, const PosteriorBlock& block) {
    if (!finished.begun) turns_.wait_for(number);
    timed(report_.write, [&] {
      if (!finished.begun) outputs_.begin_piece(piece.location, so_far, true);
      finished.begun = true;
      check_posteriors(block, piece.location, engines_.first().model(), opener_of(piece));
      outputs_.add_block(block);
    });
  };
  finished.result =
      analyse_piece(*setup.engine, projected.source(), setup.chain, options_.analyses, plan,
                    identity_of(piece), sink, [&](std::int64_t positions) { advance(positions); });
  piece.scores->prefetch.reset();  // the prefetch belongs to this engine, so this thread drops it
  // A path waits for its turn in its spool, so that the device can go on.
  std::vector<Finished> rest;
  rest.push_back(std::move(finished));
  hand_in(number, std::move(rest), false);
}

void PieceRunner::compute_batch(Engine& engine, Batch& batch, std::int64_t number) {
  std::vector<Finished> finished(batch.pieces.size());
  for (std::size_t i = 0; i < finished.size(); ++i) finished[i].piece = batch.pieces[i]->piece;
  if (queue_.calls_together(engine)) {
    std::vector<ScoreWindow> scores;
    for (const std::unique_ptr<ShortPiece>& piece : batch.pieces) scores.push_back(piece->scores);
    const IndexedPosteriorSink keep = [&](std::size_t i, const PosteriorBlock& block) {
      finished[i].block.emplace(block);
    };
    std::vector<PieceResult> results =
        analyse_together(engine, scores, options_.analyses, keep, engines_.threads_per_device());
    for (std::size_t i = 0; i < results.size(); ++i) finished[i].result = std::move(results[i]);
  } else {
    compute_with_threads(engine, batch, finished);
  }
  advance(batch.positions * options_.analyses.passes());
  batch = {};
  // On one device the outputs are written before the next batch is read, as each may take all the memory.
  hand_in(number, std::move(finished), engines_.devices() == 1);
}

// Computes one piece per thread; a piece alone gets all threads.
void PieceRunner::compute_with_threads(Engine& engine, const Batch& batch, std::vector<Finished>& finished) {
  parallel_for(engines_.threads(), batch.pieces.size(), [&](std::size_t i, int thread) {
    const ShortPiece& piece = *batch.pieces[i];
    const EnginePool::Worker worker =
        batch.pieces.size() == 1 ? engines_.worker_of(engine) : EnginePool::Worker{wide(thread), true};
    const PieceSetup setup = set_up_piece(
        engines_, worker, piece.piece.location, piece.piece.cut, piece.piece.bins.size(),
        [&] { return std::make_unique<MemoryScoreSource>(piece.scores, engine.model().num_labels); });
    const BlockSink keep = [&](const PieceResult&, const PosteriorBlock& block) {
      if (finished[i].block) return finished[i].block->append(block);
      finished[i].block.emplace(block);
    };
    finished[i].result = analyse_piece(*setup.engine, *setup.source, setup.chain, options_.analyses,
                                       piece.plan, identity_of(piece.piece), keep, {});
  });
}

// `now`: this thread does the rest, when it is its turn.
void PieceRunner::hand_in(std::int64_t number, std::vector<Finished> finished, bool now) {
  const auto shared = std::make_shared<std::vector<Finished>>(std::move(finished));
  const auto rest = [this, shared] {
    StageTimes times(shared->front().piece.place());
    for (const Finished& piece : *shared) write(piece);
    times.end("written");
  };
  if (now) {
    turns_.do_now(number, rest);
  } else {
    turns_.submit(number, rest);
  }
}

void PieceRunner::write(const Finished& finished) {
  if (!finished.result.feasible) return refuse_infeasible(finished.piece);
  timed(report_.write, [&] {
    if (!finished.begun)
      outputs_.begin_piece(finished.piece.location, finished.result, finished.block.has_value());
    if (finished.block) {
      check_posteriors(finished.block->view(), finished.piece.location, engines_.first().model(),
                       opener_of(finished.piece));
      outputs_.add_block(finished.block->view());
    }
    outputs_.end_piece(finished.result);
  });
  record(finished.piece, finished.result);
}

void PieceRunner::record(const Piece& piece, const PieceResult& result) {
  const std::lock_guard lock(shared_);
  report_.sequence(piece.sequence)
      .add(options_.analyses, {result, piece.location, piece.bins.size(), engines_.first().model()});
  report_.end_piece(piece.sequence);
}

void PieceRunner::refuse_infeasible(const Piece& piece) {
  std::string what = fmt::format("no segmentation of {} bins has a finite score", piece.bins.size());
  const int shortest = shortest_duration(engines_.first().model());
  const bool seen_whole = !piece.cut.any();  // segments at cuts may be seen in part, however short
  if (seen_whole && shortest == 0) {
    what += "; every duration is forbidden";
  } else if (seen_whole && shortest > piece.bins.size()) {
    what += fmt::format("; the shortest allowed duration is {}", shortest);
  }
  const std::lock_guard lock(shared_);
  if (options_.infeasible == InfeasiblePolicy::kError)
    throw InputError({"", piece.place(), what, "use --infeasible skip to leave such pieces out"});
  report_.warn({"infeasible", what, piece.place()});
  report_.sequence(piece.sequence).add_infeasible(options_.analyses);
  report_.end_piece(piece.sequence);
}

PieceIdentity PieceRunner::identity_of(const Piece& piece) const {
  return {pieces_.sequence_title(piece.sequence), piece.location, piece.bins.size()};
}

void PieceRunner::advance(std::int64_t positions) {
  const std::lock_guard lock(shared_);
  if (progress_ != nullptr) progress_->advance(positions);
}

}  // namespace semicrf
