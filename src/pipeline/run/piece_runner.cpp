#include "pipeline/run/piece_runner.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "engine/batch.h"
#include "engine/options.h"
#include "pipeline/run/stage_times.h"

namespace semicrf {
namespace {

constexpr std::int64_t kShortChunks = 4;     // a piece of fewer chunks does not keep several threads busy
constexpr std::size_t kBatchPerThread = 64;  // short pieces in flight

// The posteriors of a short piece until it is its turn to be written.
struct KeptBlock {
  PositionRange range;
  std::vector<double> boundary, labels, path_label, path_start, path_end;

  explicit KeptBlock(const PosteriorBlock& block)
      : range(block.range),
        boundary(block.boundary.begin(), block.boundary.end()),
        labels(block.labels.begin(), block.labels.end()),
        path_label(block.path_label.begin(), block.path_label.end()),
        path_start(block.path_start.begin(), block.path_start.end()),
        path_end(block.path_end.begin(), block.path_end.end()) {}
  PosteriorBlock view() const {
    PosteriorBlock block;
    block.range = range;
    block.boundary = boundary;
    block.labels = labels;
    block.path_label = path_label;
    block.path_start = path_start;
    block.path_end = path_end;
    return block;
  }
};

// Clocks the reads of another source.
class TimedSource : public ScoreSource {
 public:
  // `mutex`: held during reads; null: nobody else reads.
  TimedSource(ScoreSource& source, StopWatch& watch, std::mutex* mutex = nullptr)
      : source_(source), watch_(watch), mutex_(mutex) {}
  std::int64_t length() const override { return source_.length(); }
  int num_labels() const override { return source_.num_labels(); }
  std::size_t bytes_per_position() const override { return source_.bytes_per_position(); }
  std::size_t score_bytes() const override { return source_.score_bytes(); }
  std::optional<ScoreWindow> in_place() const override { return source_.in_place(); }
  void assume_checked(std::int64_t begin, std::int64_t end) override {
    std::unique_lock<std::mutex> lock;
    if (mutex_ != nullptr) lock = std::unique_lock(*mutex_);
    source_.assume_checked(begin, end);
  }
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    std::unique_lock<std::mutex> lock;
    if (mutex_ != nullptr) lock = std::unique_lock(*mutex_);
    return timed(watch_, [&] { return source_.read(begin, end, buffers); });
  }
  ScoreWindow read_for_projection(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    std::unique_lock<std::mutex> lock;
    if (mutex_ != nullptr) lock = std::unique_lock(*mutex_);
    return timed(watch_, [&] { return source_.read_for_projection(begin, end, buffers); });
  }

 private:
  ScoreSource& source_;
  StopWatch& watch_;
  std::mutex* mutex_;
};

// The smallest duration that some label allows; 0: none is allowed.
std::int64_t shortest_duration(const ChainModel& model) {
  for (int k = 1; k <= model.max_duration; ++k)
    for (int c = 0; c < model.num_labels; ++c)
      if (model.duration_score(k, c) > kNegativeInfinity) return k;
  return 0;
}

}  // namespace

bool windows_pay(std::span<const std::int64_t> pieces, std::size_t devices) {
  std::int64_t sum = 0, longest = 0;
  for (const std::int64_t piece : pieces) {
    sum += piece;
    longest = std::max(longest, piece);
  }
  return devices > 1 && longest > sum / static_cast<std::int64_t>(devices);
}

EnginePool::EnginePool(const EngineOptions& options, const ChainModel& model)
    : options_(options), model_(model) {
  const std::size_t count = options.spread_windows ? 1 : std::max<std::size_t>(1, options.devices.size());
  others_.resize(count - 1);
  // A GPU takes a tenth of a second to open.
  parallel_for(static_cast<int>(count), count, [&](std::size_t i, int) {
    EngineOptions one = options;
    if (i > 0) one.devices = {options.devices[i]};
    (i == 0 ? whole_ : others_[i - 1]) = make_engine(one, model);
  });
}

void EnginePool::make_workers() {
  EngineOptions one = options_;
  one.threads = 1;
  one.spread_windows = false;
  while (workers_.size() < static_cast<std::size_t>(options_.threads)) {
    if (!options_.devices.empty())
      one.devices = {options_.devices[workers_.size() % options_.devices.size()]};
    workers_.push_back(make_engine(one, model_));
  }
}

struct PieceRunner::Item {
  Piece piece;
  ScoreBuffers buffers;
  ScoreWindow scores;
  PiecePlan plan;
  PieceResult result;
  std::optional<KeptBlock> block;
};

// What a device does next: a piece, or several short ones, or to report an error. None of these: there is no
// more.
struct PieceRunner::Taken {
  std::int64_t number = 0;  // of its turn
  std::optional<Piece> piece;
  Batch batch;
  std::exception_ptr error;
};

PieceRunner::PieceRunner(const RunnerOptions& options, EnginePool& engines, PieceStream& pieces,
                         RunOutputs& outputs, RunReport& report, Progress* progress)
    : options_(options),
      engines_(engines),
      pieces_(pieces),
      outputs_(outputs),
      report_(report),
      progress_(progress) {}

PieceRunner::~PieceRunner() = default;

void PieceRunner::run() {
  if (engines_.devices() > 1) {
    run_on_devices();
  } else {
    run_on_one();
  }
  if (segments_at_cap_ * 100 > segments_)
    report_.warn(
        {"durations-at-cap",
         std::to_string(segments_at_cap_) + " of " + std::to_string(segments_) +
             " segments are as long as max_duration allows; raise max_duration or give the model a tail"});
}

void PieceRunner::run_on_one() {
  try {
    try {
      run_in_order();
    } catch (...) {
      run_batch();  // pieces that were read before it failed
      throw;
    }
  } catch (...) {
    wait_written();  // an error there comes first
    throw;
  }
}

void PieceRunner::run_in_order() {
  while (std::optional<Piece> piece = next_piece(engines_.whole())) {
    std::unique_ptr<ScoreSource> source = make_piece_source(piece->scores, piece->bins);
    Engine& engine = engines_.whole();
    if (is_one_of_many(engine, *piece, *source)) {
      add_to_many(engine, std::move(*piece), std::move(source), batch_);
      if (batch_.full) run_batch();
      continue;
    }
    std::size_t bytes = 0;
    if (!is_short(*piece, *source, bytes)) {
      run_batch();
      source.reset();
      run_long(*piece);
      continue;
    }
    const bool full = batch_.bytes + bytes > options_.window_budget ||
                      batch_.items.size() >= kBatchPerThread * static_cast<std::size_t>(engines_.threads());
    if (full) run_batch();
    add_to_batch(std::move(*piece), std::move(source), bytes);
  }
  run_batch();
  wait_written();
}

std::optional<Piece> PieceRunner::next_piece(Engine& engine) {
  const std::lock_guard lock(shared_);
  return pieces_.next(engine);
}

void PieceRunner::run_long(const Piece& piece) {
  const std::unique_ptr<ScoreSource> source = make_piece_source(piece.scores, piece.bins);
  const std::size_t kept = std::min(options_.window_budget, piece.scores->cached_bytes);
  PiecePlan plan = plan_piece(engines_.whole(), *source, options_.analysis, options_.window_budget - kept);
  plan.threads = engines_.threads();
  TimedSource clocked(*source, report_.read);
  bool begun = false;
  const BlockSink sink = [&](const PathView& path, const PosteriorBlock& block) {
    if (!begun) wait_written();
    timed(report_.write, [&] {
      if (!begun) outputs_.begin_piece(piece.location, path, true);
      begun = true;
      outputs_.add_block(block);
    });
  };
  const auto result = std::make_shared<PieceResult>(
      analyse_piece(engines_.whole(), clocked, options_.analysis, plan, identity_of(piece), sink,
                    [&](std::int64_t positions) { advance(positions); }));
  piece.scores->prefetch.reset();
  wait_written();
  if (!engines_.whole().own_memory()) return finish_piece(piece, *result, begun);
  // The device goes on with the next piece meanwhile.
  writing_ =
      std::async(std::launch::async, [this, piece, result, begun] { finish_piece(piece, *result, begun); });
}

void PieceRunner::wait_written() {
  if (writing_.valid()) writing_.get();
}

// `begun`: its posteriors are written.
void PieceRunner::finish_piece(const Piece& piece, const PieceResult& result, bool begun) {
  if (!result.feasible()) return refuse_infeasible(piece);
  StageTimes times(piece.place());
  timed(report_.write, [&] {
    if (!begun) outputs_.begin_piece(piece.location, result.path(), false);
    outputs_.end_piece();
    if (result.draws) outputs_.write_draws(piece.location, result.draws->draws);
  });
  times.end("written");
  record(piece, result);
}

// One more thread writes.
void PieceRunner::run_on_devices() {
  constexpr std::size_t kPendingPerDevice = 4;
  Turns turns(kPendingPerDevice * static_cast<std::size_t>(engines_.devices()));
  auto writing = std::async(std::launch::async, [&] { turns.work_off(); });
  parallel_for(engines_.devices(), static_cast<std::size_t>(engines_.devices()),
               [&](std::size_t device, int) { run_on_device(static_cast<int>(device), turns); });
  turns.close();
  writing.get();
}

// The next piece; or as many short ones as go together, which have one turn. What was read after these comes
// `ahead` of others.
PieceRunner::Taken PieceRunner::take(Engine& engine, std::optional<Taken>& ahead) {
  if (ahead) return *std::exchange(ahead, std::nullopt);
  const std::lock_guard lock(shared_);
  Taken taken;
  while (!stopped_ && !taken.batch.full) {
    Taken next;
    try {
      next.piece = pieces_.next(engine);
      if (next.piece) {
        auto source = make_piece_source(next.piece->scores, next.piece->bins);
        if (is_one_of_many(engine, *next.piece, *source)) {
          add_to_many(engine, std::move(*next.piece), std::move(source), taken.batch);
          continue;
        }
      }
    } catch (...) {
      next.piece.reset();
      next.error = std::current_exception();
    }
    if (!next.piece) stopped_ = true;
    if (taken.batch.items.empty()) {
      taken = std::move(next);
    } else {
      next.number = taken_ + 1;
      ahead = std::move(next);
    }
    break;
  }
  taken.number = taken_;
  taken_ += ahead ? 2 : 1;
  return taken;
}

// Errors, too, come in the order of the pieces.
void PieceRunner::run_on_device(int device, Turns& turns) {
  Engine& engine = engines_.device(device);
  std::optional<Taken> ahead;
  for (;;) {
    Taken taken = take(engine, ahead);
    std::exception_ptr error = taken.error;
    if (!taken.piece && taken.batch.items.empty() && !error) return;
    const std::int64_t number = taken.number;
    std::function<void()> rest;
    try {
      try {
        if (taken.piece) rest = compute_in_turn(engine, *taken.piece, number, turns);
        if (!taken.batch.items.empty()) rest = compute_batch_in_turn(engine, std::move(taken.batch));
      } catch (const Turns::Cancelled&) {
        throw;
      } catch (...) {
        error = std::current_exception();
      }
      if (error) {
        const std::lock_guard lock(shared_);
        stopped_ = true;
        rest = [error] { std::rethrow_exception(error); };
      }
      turns.submit(number, std::move(rest));
    } catch (const Turns::Cancelled&) {
      return;  // the thread that writes has the error
    }
  }
}

// What remains to be done with the piece when it is its turn.
std::function<void()> PieceRunner::compute_in_turn(Engine& engine, const Piece& piece, std::int64_t number,
                                                   Turns& turns) {
  const std::unique_ptr<ScoreSource> source = make_piece_source(piece.scores, piece.bins);
  const auto devices = static_cast<std::size_t>(engines_.devices());
  const std::size_t share = options_.window_budget / devices;
  const std::size_t kept = std::min(share, piece.scores->cached_bytes);
  PiecePlan plan = plan_piece(engine, *source, options_.analysis, share - kept);
  plan.threads = std::max(1, engines_.threads() / engines_.devices());
  TimedSource clocked(*source, report_.read, &shared_);
  bool begun = false;
  const BlockSink sink = [&](const PathView& path, const PosteriorBlock& block) {
    if (!begun) turns.wait_for(number);
    timed(report_.write, [&] {
      if (!begun) outputs_.begin_piece(piece.location, path, true);
      begun = true;
      outputs_.add_block(block);
    });
  };
  const ProgressCallback progress = [&](std::int64_t positions) {
    const std::lock_guard lock(shared_);
    advance(positions);
  };
  // A path waits for its turn in its spool, so that the device can go on.
  const auto result = std::make_shared<PieceResult>(
      analyse_piece(engine, clocked, options_.analysis, plan, identity_of(piece), sink, progress));
  piece.scores->prefetch.reset();  // of this engine, so by this thread
  return [this, piece, result, begun] { finish_piece(piece, *result, begun); };
}

std::function<void()> PieceRunner::compute_batch_in_turn(Engine& engine, Batch taken) {
  const auto batch = std::make_shared<Batch>(std::move(taken));
  compute_together(engine, *batch, std::max(1, engines_.threads() / engines_.devices()));
  {
    const std::lock_guard lock(shared_);
    advance(batch->positions * options_.analysis.passes());
  }
  return [this, batch] {
    for (const std::unique_ptr<Item>& item : batch->items) write_item(*item);
  };
}

// Whether short pieces go to the engine in one call. Draws and exact segments are made of forward messages,
// for which there is none.
bool PieceRunner::takes_together(const Engine& engine) const {
  return engine.batches().batch_positions() > 0 && !options_.analysis.path_edges &&
         options_.analysis.draws == 0;
}

// Half of the memory: a batch is full once it takes that, and its last piece takes no more by itself.
std::size_t PieceRunner::batch_budget() const {
  return options_.window_budget / static_cast<std::size_t>(2 * engines_.devices());
}

// Not what an engine is bringing up already, nor what takes several windows.
bool PieceRunner::is_one_of_many(const Engine& engine, const Piece& piece, const ScoreSource& source) const {
  if (!takes_together(engine) || piece.scores->prefetch) return false;
  const std::int64_t length = piece.bins.size();
  if (length >= engine.batches().batch_positions() || length / kShortChunks >= engine.grid().chunk)
    return false;
  const std::size_t kept = piece.scores->cached_bytes;
  return whole_bytes(engine, source, options_.analysis) + kept <= batch_budget() &&
         plan_piece(engine, source, options_.analysis, 2 * batch_budget() - kept).whole();
}

void PieceRunner::add_to_many(const Engine& engine, Piece piece, std::unique_ptr<ScoreSource> source,
                              Batch& batch) {
  const bool same_sequence = !batch.items.empty() && batch.items.back()->piece.scores == piece.scores;
  const std::size_t cached = same_sequence ? 0 : piece.scores->cached_bytes;
  batch.items.push_back(read_item(std::move(piece), *source, engine.projects()));
  batch.bytes += row_bytes(engine, *source, options_.analysis) + cached;
  batch.positions += source->length();
  const std::size_t of_engine = engine_bytes(engine, *source, options_.analysis, batch.positions);
  batch.full =
      batch.positions >= engine.batches().batch_positions() || batch.bytes + of_engine > batch_budget();
}

// Whether the piece shall be one of several that are computed with one thread each; then what it takes.
bool PieceRunner::is_short(const Piece& piece, const ScoreSource& source, std::size_t& bytes) {
  if (engines_.threads() == 1 || takes_together(engines_.whole())) return false;
  const std::int64_t length = piece.bins.size();
  if (length / kShortChunks >= engines_.whole().grid().chunk) return false;
  engines_.make_workers();
  const std::size_t share = options_.window_budget / static_cast<std::size_t>(engines_.threads());
  bytes = whole_bytes(engines_.worker(0), source, options_.analysis) + piece.scores->cached_bytes;
  return bytes <= share;
}

void PieceRunner::add_to_batch(Piece piece, std::unique_ptr<ScoreSource> source, std::size_t bytes) {
  PiecePlan plan = plan_piece(engines_.worker(0), *source, options_.analysis, bytes);
  std::unique_ptr<Item> item = read_item(std::move(piece), *source, false);
  item->plan = std::move(plan);
  batch_.positions += item->piece.bins.size();
  batch_.bytes += bytes;
  batch_.items.push_back(std::move(item));
}

// `to_project`: features in place of the scores that heads make of them.
std::unique_ptr<PieceRunner::Item> PieceRunner::read_item(Piece piece, ScoreSource& source, bool to_project) {
  auto item = std::make_unique<Item>();
  const std::int64_t length = piece.bins.size();
  item->scores = timed(report_.read, [&] {
    return to_project ? source.read_for_projection(0, length, item->buffers)
                      : source.read(0, length, item->buffers);
  });
  item->piece = std::move(piece);
  return item;
}

void PieceRunner::run_batch() {
  Batch batch = std::exchange(batch_, {});
  if (batch.items.empty()) return;
  if (takes_together(engines_.whole())) {
    compute_together(engines_.whole(), batch, engines_.threads());
  } else if (batch.items.size() == 1) {  // alone: all threads
    compute_item(*batch.items[0], engines_.whole());
  } else {
    parallel_for(engines_.threads(), batch.items.size(),
                 [&](std::size_t i, int worker) { compute_item(*batch.items[i], engines_.worker(worker)); });
  }
  wait_written();
  for (const std::unique_ptr<Item>& item : batch.items) {
    write_item(*item);
    advance(item->piece.bins.size() * options_.analysis.passes());
  }
}

void PieceRunner::compute_together(Engine& engine, Batch& batch, int threads) {
  std::vector<ScoreWindow> scores;
  for (const std::unique_ptr<Item>& item : batch.items) scores.push_back(item->scores);
  const IndexedPosteriorSink keep = [&](std::size_t i, const PosteriorBlock& block) {
    batch.items[i]->block.emplace(block);
  };
  std::vector<PieceResult> results = analyse_together(engine, scores, options_.analysis, keep, threads);
  for (std::size_t i = 0; i < results.size(); ++i) batch.items[i]->result = std::move(results[i]);
}

void PieceRunner::compute_item(Item& item, Engine& engine) {
  MemoryScoreSource source(item.scores, engine.model().num_labels);
  const BlockSink keep = [&](const PathView&, const PosteriorBlock& block) { item.block.emplace(block); };
  item.result =
      analyse_piece(engine, source, options_.analysis, item.plan, identity_of(item.piece), keep, {});
}

void PieceRunner::write_item(Item& item) {
  if (!item.result.feasible()) return refuse_infeasible(item.piece);
  timed(report_.write, [&] {
    outputs_.begin_piece(item.piece.location, item.result.path(), item.block.has_value());
    if (item.block) outputs_.add_block(item.block->view());
    outputs_.end_piece();
    if (item.result.draws) outputs_.write_draws(item.piece.location, item.result.draws->draws);
  });
  record(item.piece, item.result);
}

void PieceRunner::record(const Piece& piece, const PieceResult& result) {
  const std::lock_guard lock(shared_);
  SequenceReport& sequence = report_.sequences()[piece.sequence];
  if (result.posteriors) sequence.add(*result.posteriors, piece.bins.size());
  if (result.shares) sequence.add(*result.shares);
  if (result.draws) sequence.add(*result.draws);
  if (!result.viterbi) return;
  sequence.add(*result.viterbi);
  const ChainModel& model = engines_.whole().model();
  segments_ += result.viterbi->segments.size();
  if (model.max_duration == 1) return;
  SegmentList::Reader reader(result.viterbi->segments);
  for (Segment segment; reader.next(segment);)
    if (segment.end - segment.begin == model.max_duration &&
        model.duration_score(model.max_duration + 1, segment.label) == kNegativeInfinity)
      ++segments_at_cap_;
}

void PieceRunner::refuse_infeasible(const Piece& piece) {
  std::string what = "no segmentation of " + std::to_string(piece.bins.size()) + " bins has a finite score";
  const std::int64_t shortest = shortest_duration(engines_.whole().model());
  if (shortest == 0) {
    what += "; every duration is forbidden";
  } else if (shortest > piece.bins.size()) {
    what += "; the shortest allowed duration is " + std::to_string(shortest);
  }
  const std::lock_guard lock(shared_);
  if (options_.infeasible == InfeasiblePolicy::kError)
    throw InputError({"", piece.place(), what, "use --infeasible skip to leave such pieces out"});
  report_.warn({"infeasible", piece.place() + ": " + what});
  report_.sequences()[piece.sequence].add_infeasible(
      options_.analysis.viterbi, options_.analysis.posteriors || options_.analysis.draws > 0);
}

PieceIdentity PieceRunner::identity_of(const Piece& piece) const {
  return {pieces_.sequence_title(piece.sequence), piece.bins.begin};
}

void PieceRunner::advance(std::int64_t positions) {
  if (progress_ != nullptr) progress_->advance(positions);
}

}  // namespace semicrf
