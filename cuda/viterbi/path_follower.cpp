#include "cuda/viterbi/path_follower.h"

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

}  // namespace semicrf::cuda
