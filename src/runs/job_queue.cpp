#include "runs/job_queue.h"

#include <utility>

#include "core/sizes.h"
#include "engine/batch.h"
#include "model/scores/score_source.h"
#include "runs/piece_setup.h"

namespace semicrf {
namespace {

constexpr std::int64_t kShortChunks = 4;     // a piece of fewer chunks does not keep several threads busy
constexpr std::size_t kBatchPerThread = 64;  // most pieces of a batch, per thread

}  // namespace

Job JobQueue::next(Engine& engine, std::optional<Job>& ahead) {
  if (ahead) return *std::exchange(ahead, std::nullopt);
  const std::lock_guard lock(inputs_);
  Job job;
  job.number = count_++;
  while (!stopped_ && !job.batch.full) {
    Job other;
    try {
      // Scores that constraints will change are not brought to a device ahead.
      other.piece = pieces_.next(options_.analyses.constraints ? nullptr : &engine);
      if (other.piece && add_to_batch(engine, *other.piece, job.batch)) continue;
    } catch (...) {
      other.piece.reset();
      other.error = std::current_exception();
    }
    if (!other.piece) stopped_ = true;
    other.number = job.batch.pieces.empty() ? job.number : count_++;
    if (job.batch.pieces.empty()) return other;
    ahead = std::move(other);
    break;
  }
  return job;
}

bool JobQueue::calls_together(const Engine& engine) const {
  return engine.batches().batch_positions() > 0 && options_.analyses.computes_together();
}

// Adds the piece to the batch. False: the piece is a job of its own.
bool JobQueue::add_to_batch(Engine& engine, Piece& piece, Batch& batch) {
  if (piece.bins.size() / kShortChunks >= engine.grid(piece.bins.size()).chunk) return false;
  if (calls_together(engine)) return !piece.cut.any() && add_to_call(engine, piece, batch);
  return engines_.devices() == 1 && engines_.threads() > 1 && add_to_threads(piece, batch);
}

// Adds the piece to the batch of one call. False where an engine is bringing its scores to a device already,
// and where it takes several windows.
bool JobQueue::add_to_call(Engine& engine, Piece& piece, Batch& batch) {
  if (piece.scores->prefetch || piece.bins.size() >= engine.batches().batch_positions()) return false;
  // Half of the memory: a batch is full once it takes as much, and its last piece alone takes no more than
  // that.
  const std::size_t budget = options_.window_budget / (2 * wide(engines_.devices()));
  const std::unique_ptr<ScoreSource> source = make_piece_source(piece.scores, piece.bins);
  const std::size_t kept = piece.scores->cached_bytes;
  const AnalysisList& analyses = options_.analyses;
  if (whole_bytes(engine, *source, {}, analyses) + kept > budget ||
      !plan_piece(engine, *source, {}, analyses, 2 * budget - kept).whole())
    return false;
  const bool same_sequence = !batch.pieces.empty() && batch.pieces.back()->piece.scores == piece.scores;
  read_into(batch, piece, *source, engine.projects(), {});
  batch.bytes += row_bytes(engine, *source, {}, analyses) + (same_sequence ? 0 : kept);
  batch.full = batch.positions >= engine.batches().batch_positions() ||
               batch.bytes + engine_bytes(engine, *source, {}, analyses, batch.positions) > budget;
  return true;
}

// Whether an analysis is about the piece; else it is not read, whether by one thread or by several.
bool JobQueue::is_wanted(const Piece& piece) const {
  return options_.analyses.is_about(
      {pieces_.sequence_title(piece.sequence), piece.location, piece.bins.size()});
}

bool JobQueue::add_to_threads(Piece& piece, Batch& batch) {
  const std::size_t threads = engines_.threads();
  const std::size_t share = options_.window_budget / threads;
  const OpenSource open = [&] { return make_piece_source(piece.scores, piece.bins); };
  const PieceSetup setup =
      set_up_piece(engines_, {0, true}, piece.location, piece.cut, piece.bins.size(), open);
  const std::size_t bytes =
      whole_bytes(*setup.engine, *setup.source, setup.chain, options_.analyses) + piece.scores->cached_bytes;
  if (bytes > share) return false;
  const PiecePlan plan = plan_piece(*setup.engine, *setup.source, setup.chain, options_.analyses, bytes);
  read_into(batch, piece, *open(), false, plan);
  batch.bytes += bytes;
  batch.full =
      batch.bytes + share > options_.window_budget || batch.pieces.size() >= kBatchPerThread * threads;
  return true;
}

// Reads the piece and moves it into the batch. `to_project`: reads features in place of the scores that heads
// make of them.
void JobQueue::read_into(Batch& batch, Piece& piece, ScoreSource& source, bool to_project, PiecePlan plan) {
  auto item = std::make_unique<ShortPiece>();
  const std::int64_t length = source.length();
  item->scores.length = length;
  if (is_wanted(piece))
    item->scores = timed(report_.read, [&] {
      return to_project ? source.read(0, length, item->buffers)
                        : HostProjection(source).read(0, length, item->buffers);
    });
  item->piece = std::move(piece);
  item->plan = plan;
  batch.positions += length;
  batch.pieces.push_back(std::move(item));
}

}  // namespace semicrf
