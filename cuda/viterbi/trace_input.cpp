#include "cuda/viterbi/trace_input.h"

#include <algorithm>

#include "core/sizes.h"

namespace semicrf::cuda {

namespace {

bool same_state(const TraceState& a, const TraceState& b) {
  return a.boundary == b.boundary && a.phase == b.phase && a.label == b.label &&
         (a.phase != TracePhase::kInTail || a.segment_end == b.segment_end);
}

}  // namespace

template <class Real>
void PathFollower<Real>::begin() {
  pieces_.clear();
  paths_.clear();
  path_of_.clear();
  room_ = 0;
}

// The first piece begins where the path does, the others from a guess.
template <class Real>
void PathFollower<Real>::add(const TraceState& start, std::int64_t end, bool blocked, const TraceCut& cut) {
  const std::int64_t right_end = std::max(start.boundary, end + 1);
  const std::int64_t count = ceil_div(right_end - end, cut.piece);
  paths_.push_back({pieces_.size(), end, blocked});
  for (std::int64_t i = 0; i < count; ++i) {
    TracePiece piece{};
    piece.left = end + (count - 1 - i) * cut.piece;
    piece.right = std::min(piece.left + cut.piece, right_end);
    piece.out = room_;
    piece.result = static_cast<int>(pieces_.size());
    piece.guess = i > 0 ? 1 : 0;
    piece.start =
        i > 0 ? TraceState{std::min(piece.right + cut.halo, right_end), 0, TracePhase::kFindStart, 0} : start;
    room_ += most_records(piece.right - piece.left);
    pieces_.push_back(piece);
    path_of_.push_back(paths_.size() - 1);
  }
}

// Sends all pieces on their way.
template <class Real>
auto PathFollower<Real>::send_out() -> std::vector<Batch> {
  TraceBuffers& b = *buffers_;
  b.results.reserve(pieces_.size());
  b.records.reserve(wide(room_));
  b.path.reserve(wide(room_));
  b.tasks.reserve(pieces_.size());
  b.pieces.reserve(pieces_.size());
  std::copy(pieces_.begin(), pieces_.end(), b.pieces.get());
  parameters_.pieces = b.pieces.get();
  parameters_.records = b.records.get();
  parameters_.results = b.results.get();
  b.ready.record(stream_);
  const std::size_t count = trace_batches(pieces_.size());
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < count; ++i) {
    const Batch batch{pieces_.size() * i / count, pieces_.size() * (i + 1) / count};
    const cudaStream_t stream = b.following[i].get();
    b.ready.make_wait(stream);
    trace_pieces(parameters_, static_cast<int>(batch.first), static_cast<int>(batch.last - batch.first),
                 stream);
    b.followed[i].record(stream);
    batches.push_back(batch);
  }
  return batches;
}

// Where paths are known, batch after batch, they are put in order and copied while later pieces are still
// followed. Where pieces must be followed again, all the others are settled together: then most of the time
// is rounds, and there are fewer.
template <class Real>
void PathFollower<Real>::follow(const TraceParameters<Real>& parameters, TraceRecord* host) {
  total_ = 0;
  records_of_.assign(paths_.size(), 0);
  over_ = false;
  if (pieces_.empty()) return;
  parameters_ = parameters;
  const std::vector<Batch> batches = send_out();
  bool together = false;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    Batch batch = batches[i];
    buffers_->followed[i].wait();
    if (together) {
      batch.last = batches.back().last;
      while (i + 1 < batches.size()) buffers_->followed[++i].wait();
    }
    together = settle(batch, i);
    gather(batch, host);
  }
}

// Pieces whose right neighbour left the path elsewhere than they took it up: a segment may pass over all of
// them; they may have been right before a neighbour was changed; else they are followed again, together, but
// for those whose neighbour is followed again itself. And so on. Where a path ends its other pieces are
// emptied. Returns whether any was followed again.
template <class Real>
bool PathFollower<Real>::settle(const Batch& batch, std::size_t index) {
  TraceResult* const results = buffers_->results.get();
  const std::vector<TraceResult> guessed(results + batch.first, results + batch.last);
  std::vector<char> followed_again(guessed.size(), 0), beyond(guessed.size(), 0);
  const bool over_before = over_;
  bool any_again = false;
  for (;;) {
    std::vector<TracePiece> again;
    over_ = over_before;
    bool neighbour_stays = true;
    for (std::size_t i = batch.first; i < batch.last; ++i) {
      const std::size_t own = i - batch.first;
      const Path& path = paths_[path_of_[i]];
      const bool begins = i == path.first_piece;
      over_ = over_ && !begins;
      beyond[own] = over_ ? 1 : 0;
      if (over_) continue;
      bool stays = begins || !neighbour_stays || same_state(results[i].entry, results[i - 1].exit);
      if (!stays) {
        const TraceState& truth = results[i - 1].exit;
        stays = true;
        if (followed_again[own] == 0 && same_state(guessed[own].entry, truth)) {
          results[i] = guessed[own];
        } else if (truth.phase == TracePhase::kFindSource && truth.boundary <= pieces_[i].left &&
                   !(path.blocked && pieces_[i].left == path.end)) {
          results[i] = {truth, truth, 0, 0};
        } else {
          stays = false;
          followed_again[own] = 1;
          pieces_[i].start = truth;
          pieces_[i].guess = 0;
          again.push_back(pieces_[i]);
        }
      }
      neighbour_stays = stays;
      last_state_ = results[i].exit;
      over_ = results[i].blocked != 0 || results[i].exit.phase == TracePhase::kDone;
    }
    if (again.empty()) break;
    any_again = true;
    follow_again(again, index);
  }
  for (std::size_t own = 0; own < beyond.size(); ++own)
    if (beyond[own] != 0) results[batch.first + own].records = 0;
  return any_again;
}

template <class Real>
void PathFollower<Real>::follow_again(const std::vector<TracePiece>& again, std::size_t index) {
  TraceBuffers& b = *buffers_;
  const cudaStream_t stream = b.following[index].get();
  b.again.reserve(again.size());
  std::copy(again.begin(), again.end(), b.again.get());
  TraceParameters<Real> p = parameters_;
  p.pieces = b.again.get();
  trace_pieces(p, 0, static_cast<int>(again.size()), stream);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
}

// The records of a batch after those of the batches before.
template <class Real>
void PathFollower<Real>::gather(const Batch& batch, TraceRecord* host) {
  TraceBuffers& b = *buffers_;
  const std::int64_t before = total_;
  for (std::size_t i = batch.first; i < batch.last; ++i) {
    const std::int64_t count = b.results.get()[i].records;
    b.tasks.get()[i] = {pieces_[i].out, total_, count};
    records_of_[path_of_[i]] += count;
    total_ += count;
  }
  if (total_ == before) return;
  const cudaStream_t stream = b.down.get();
  const std::size_t count = batch.last - batch.first;
  gather_records(b.records.get(), b.tasks.get() + batch.first, static_cast<int>(count), b.path.get(), stream);
  if (host != nullptr) b.path.download(host + before, wide(before), wide(total_ - before), stream);
}

template class PathFollower<float>;
template class PathFollower<double>;

namespace {

std::size_t shared_limit() { return wide(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)); }

// What the values of every run are relative to, without the position shifts since the first position of its
// sequence or window, which are left out of all values.
std::vector<BlockOrigin> run_origins(const std::vector<RunOutcome>& outcomes) {
  std::vector<BlockOrigin> runs;
  int sequence = -1;
  double mass = 0;
  for (const RunOutcome& outcome : outcomes) {
    if (outcome.sequence != sequence) mass = 0;
    sequence = outcome.sequence;
    runs.push_back({outcome.whole + outcome.report.mass_before - mass, outcome.offset});
    mass += outcome.report.mass_inside;
  }
  return runs;
}

}  // namespace

template <class Real>
TraceInput<Real>::TraceInput(const Sweep& sweep, const PassInput& input,
                             std::shared_ptr<const MessageBuffers<Real>> messages,
                             std::shared_ptr<TracePlaces> places, std::shared_ptr<TraceBuffers> buffers,
                             const BoundaryState* left, cudaStream_t stream)
    : tables_(sweep.chain().view()),
      scores_(input.scores),
      messages_(std::move(messages)),
      places_(std::move(places)),
      buffers_(std::move(buffers)),
      range_(input.layout.tokens),
      run_(input.layout.sequences.front().cut.run),
      several_(!input.layout.alone()),
      stream_(stream) {
  const std::size_t blocks = messages_->blocks();
  places_->blocks.reserve(blocks);
  places_->links.reserve(blocks);
  places_->far_key.reserve(blocks * wide(tables_.labels));
  place(sweep.outcomes(), left);
}

template <class Real>
void TraceInput<Real>::place(const std::vector<RunOutcome>& outcomes, const BoundaryState* left) {
  std::vector<BlockOrigin> origins = run_origins(outcomes);
  if (several_) {  // block by block, with the sequence it is of
    std::vector<BlockOrigin> of_blocks;
    std::vector<int> sequence_of;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const std::size_t blocks = message_blocks(outcomes[i].range.size());
      of_blocks.insert(of_blocks.end(), blocks, origins[i]);
      sequence_of.insert(sequence_of.end(), blocks, outcomes[i].sequence);
    }
    origins = std::move(of_blocks);
    places_->sequence_of.upload(sequence_of, stream_);
  }
  places_->runs.upload(origins, stream_);
  has_left_ = left != nullptr;
  if (left != nullptr) {
    left_ = {left->whole, left->offset};
    places_->left_entries.upload(entries_of(*left), stream_);
  }
  place_blocks(parameters(), stream_);
  if (!several_) SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

template <class Real>
bool TraceInput<Real>::cut_right_edge(PositionRange range) {
  const std::size_t first = wide((range.begin - range_.begin) / kBlock);
  auto messages = std::make_shared<MessageBuffers<Real>>();
  messages->reserve(range, {tables_.labels, tables_.tail != 0, true, false});
  if (!messages->copy_blocks(*messages_, first, stream_)) return false;
  auto places = std::make_shared<TracePlaces>();
  const std::size_t blocks = messages->blocks();
  const std::size_t labels = wide(tables_.labels);
  places->blocks.copy(places_->blocks, first, blocks, stream_);
  places->links.copy(places_->links, first, blocks, stream_);
  places->far_key.copy(places_->far_key, first * labels, blocks * labels, stream_);
  messages_ = std::move(messages);
  places_ = std::move(places);
  range_ = range;
  has_left_ = false;
  return true;
}

template <class Real>
TraceParameters<Real> TraceInput<Real>::parameters() const {
  TraceParameters<Real> p{};
  p.tables = tables_;
  p.shape = trace_shape(tables_.labels, tables_.duration, tables_.tail != 0, sizeof(Real), shared_limit());
  p.sequence = scores_->view();
  p.batch = several_ ? scores_->on_device() : nullptr;
  p.sequence_of = several_ ? places_->sequence_of.get() : nullptr;
  p.store = messages_->view();
  p.left_state = has_left_ ? places_->left_entries.get() : nullptr;
  p.left = left_;
  p.runs = places_->runs.get();
  p.blocks = places_->blocks.get();
  p.links = places_->links.get();
  p.far_key = places_->far_key.get();
  p.range_begin = range_.begin;
  p.range_end = range_.end;
  p.run = several_ ? kBlock : run_;
  return p;
}

template class TraceInput<float>;
template class TraceInput<double>;

}  // namespace semicrf::cuda
