#include "cuda/engine/spread_engine.h"

#include <algorithm>
#include <exception>
#include <future>
#include <utility>

#include "core/sizes.h"
#include "core/threads/parallel.h"

namespace semicrf::cuda {
namespace {

// Positions [begin, end) of a window.
ScoreWindow stretch_of(const ScoreWindow& window, PositionRange stretch, std::size_t labels) {
  const auto from = [](ScoreArray array, std::size_t entries) {
    if (array.f32 != nullptr) array.f32 += entries;
    if (array.f64 != nullptr) array.f64 += entries;
    return array;
  };
  ScoreWindow part = window;
  const std::size_t skipped = wide(stretch.begin - window.begin) * labels;
  part.begin = stretch.begin;
  part.end = stretch.end;
  part.emissions = from(window.emissions, skipped);
  part.start_scores = from(window.start_scores, skipped);
  part.end_scores = from(window.end_scores, skipped);
  part.sequence = 0;  // no GPU holds all of it
  FeatureRows& features = part.features;
  if (features.empty()) return part;
  int first = 0, last = 0;
  for (const HeadTable* head : {features.emission, features.start, features.finish}) {
    if (head == nullptr) continue;
    first = std::min(first, head->first);
    last = std::max(last, head->last);
  }
  features.begin = std::max(window.features.begin, stretch.begin + first);
  features.end = std::min(window.features.end, stretch.end + last);
  features.rows = from(features.rows, wide(features.begin - window.features.begin) * wide(features.tracks));
  return part;
}

// Parts of a window, from right to left.
class SpreadMessages final : public ViterbiMessages {
 public:
  struct Part {
    int device;
    std::unique_ptr<ViterbiMessages> messages;
  };
  explicit SpreadMessages(std::vector<Part> parts) : parts_(std::move(parts)), left_(parts_.size()) {}
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override {
    while (left_ > 0) {
      const Part& part = parts_[left_ - 1];
      SEMICRF_CUDA_CHECK(cudaSetDevice(part.device));
      if (part.messages->trace(cursor, reversed)) return true;
      --left_;
      if (left_ > 0 && cursor.phase != TraceCursor::Phase::kDone) return true;
      if (cursor.phase == TraceCursor::Phase::kDone) left_ = 0;
    }
    return false;
  }

 private:
  std::vector<Part> parts_;  // left to right
  std::size_t left_;         // parts that the path was not followed through
};

template <class Real>
EngineInfo describe(const std::vector<std::unique_ptr<CudaEngine<Real>>>& engines) {
  EngineInfo info = engines.front()->info();
  info.description += ", windows shared with";
  for (std::size_t i = 1; i < engines.size(); ++i)
    info.description += (i == 1 ? " cuda:" : ", cuda:") + std::to_string(engines[i]->device());
  return info;
}

template <class Window>
void append_chunks(std::vector<ChunkReport>& to, const Window& part) {
  to.insert(to.end(), part.chunks.begin(), part.chunks.end());
}

PosteriorArrays rows_from(const PosteriorArrays& out, std::size_t row, std::size_t labels) {
  PosteriorArrays rows = out;
  if (rows.boundary != nullptr) rows.boundary += row;
  for (const auto array : {&PosteriorArrays::labels, &PosteriorArrays::starts, &PosteriorArrays::ends})
    if (rows.*array != nullptr) rows.*array += row * labels;
  return rows;
}

}  // namespace

template <class Real>
SpreadEngine<Real>::SpreadEngine(std::vector<std::unique_ptr<CudaEngine<Real>>> engines,
                                 std::int64_t fewest_chunks)
    : Engine(describe(engines), this, *engines.front()),
      engines_(std::move(engines)),
      fewest_chunks_(fewest_chunks) {}

template <class Real>
std::int64_t SpreadEngine<Real>::part_length(std::int64_t positions, std::int64_t length) const {
  const std::int64_t chunk = grid(length).chunk;
  if (model().cut.any()) return ceil_div(positions, chunk) * chunk;
  const std::int64_t equal = ceil_div(positions, static_cast<std::int64_t>(engines_.size()));
  return ceil_div(std::max(equal, std::min(positions, fewest_chunks_ * chunk)), chunk) * chunk;
}

// All parts take memory of the host at the same time.
template <class Real>
std::size_t SpreadEngine<Real>::viterbi_bytes(std::int64_t positions, bool keep_messages) const {
  const std::int64_t part = part_length(positions, positions);
  return engines_.size() * first().viterbi_bytes(part, keep_messages);
}
template <class Real>
std::size_t SpreadEngine<Real>::posterior_bytes(std::int64_t positions, bool counts) const {
  const std::int64_t part = part_length(positions, positions);
  return engines_.size() * first().posterior_bytes(part, counts);
}
template <class Real>
std::size_t SpreadEngine<Real>::device_memory() const {
  std::size_t least = SIZE_MAX;
  for (const auto& engine : engines_) least = std::min(least, engine->device_memory());
  return least;
}
// As a sequence of its own, since nothing but the part is copied to its GPU.
template <class Real>
WindowShape SpreadEngine<Real>::largest_part(const WindowShape& shape) const {
  WindowShape part = shape;
  part.positions = std::min(shape.positions, part_length(shape.positions, shape.length));
  part.read = std::min(shape.read, part.positions + 2 * info().grid.warmup);
  part.length = part.read;
  return part;
}
template <class Real>
std::size_t SpreadEngine<Real>::viterbi_device_bytes(const WindowShape& shape) const {
  return first().viterbi_device_bytes(largest_part(shape));
}
template <class Real>
std::size_t SpreadEngine<Real>::posterior_device_bytes(const WindowShape& shape, bool counts) const {
  return first().posterior_device_bytes(counts ? shape : largest_part(shape), counts);
}

template <class Real>
std::vector<typename SpreadEngine<Real>::Part> SpreadEngine<Real>::parts_of(const ScoreWindow& scores,
                                                                            PositionRange range) const {
  const std::int64_t length = part_length(range.size(), scores.length);
  const std::int64_t halo = info().grid.warmup;
  std::vector<Part> parts;
  for (std::int64_t begin = range.begin; begin < range.end; begin += length) {
    const PositionRange own{begin, std::min(begin + length, range.end)};
    const PositionRange read{std::max(scores.begin, own.begin - halo), std::min(scores.end, own.end + halo)};
    parts.push_back({own, stretch_of(scores, read, wide(model().num_labels))});
  }
  return parts;
}

// compute(i, left) for every part, each on its engine and in a thread of its own. `left` gives the true state
// at the part's left edge, as soon as the part before it has it in `right_of` of its window.
template <class Real>
template <class Window, class Compute>
std::vector<Window> SpreadEngine<Real>::compute_all(std::size_t parts, BoundaryState Window::*right_of,
                                                    Compute compute) {
  std::vector<std::promise<BoundaryState>> rights(parts);
  const auto run = [&](std::size_t i) {
    try {
      Window window = compute(i, [&rights, i] { return rights[i - 1].get_future().get(); });
      rights[i].set_value(window.*right_of);
      return window;
    } catch (...) {
      rights[i].set_exception(std::current_exception());
      throw;
    }
  };
  std::vector<std::future<Window>> others;
  // A part waits for the state that the one before it finds: without a thread it comes after that one.
  for (std::size_t i = 1; i < parts; ++i) others.push_back(do_beside_or_later([&run, i] { return run(i); }));
  // Every part is asked for, whatever became of those before it: one may wait for another that has no thread.
  std::vector<Window> windows(parts);
  std::exception_ptr error;
  for (std::size_t i = 0; i < parts; ++i) {
    try {
      windows[i] = i == 0 ? run(0) : others[i - 1].get();
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  return windows;
}

template <class Real>
ViterbiWindow SpreadEngine<Real>::viterbi(const ScoreWindow& scores, PositionRange range,
                                          const BoundaryState* left, bool keep_messages) {
  const std::vector<Part> parts = parts_of(scores, range);
  if (parts.size() == 1) return first().viterbi(scores, range, left, keep_messages);
  const auto compute = [&](std::size_t i, const StateOnLeft& true_left) {
    const auto& [own, own_scores] = parts[i];
    return i == 0 ? first().viterbi(own_scores, own, left, keep_messages)
                  : engines_[i]->viterbi_beside(own_scores, own, true_left, keep_messages);
  };
  std::vector<ViterbiWindow> windows = compute_all(parts.size(), &ViterbiWindow::right, compute);
  ViterbiWindow result;
  std::vector<SpreadMessages::Part> messages;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    append_chunks(result.chunks, windows[i]);
    messages.push_back({engines_[i]->device(), std::move(windows[i].messages)});
  }
  result.right = std::move(windows.back().right);
  if (keep_messages) result.messages = std::make_unique<SpreadMessages>(std::move(messages));
  return result;
}

template <class Real>
PosteriorWindow SpreadEngine<Real>::posteriors(const ScoreWindow& scores, PositionRange range,
                                               const BoundaryState* left, const BoundaryState* right,
                                               const PosteriorArrays& out) {
  const std::vector<Part> parts = parts_of(scores, range);
  if (parts.size() == 1 || out.counts != nullptr || out.features != nullptr)
    return first().posteriors(scores, range, left, right, out);
  const std::size_t last = parts.size() - 1;
  const auto rows_of = [&](std::size_t i) {
    return rows_from(out, wide(parts[i].range.begin - range.begin), wide(model().num_labels));
  };
  const auto compute = [&](std::size_t i, const StateOnLeft& true_left) {
    const auto& [own, own_scores] = parts[i];
    const BoundaryState* const own_right = i == last ? right : nullptr;
    return i == 0 ? first().posteriors(own_scores, own, left, own_right, rows_of(i))
                  : engines_[i]->posteriors_beside(own_scores, own, true_left, own_right, rows_of(i));
  };
  std::vector<PosteriorWindow> windows = compute_all(parts.size(), &PosteriorWindow::right_forward, compute);
  const std::vector<int> twins = edge_twins(model(), Direction::kBackward);
  for (std::size_t i = last; i-- > 0;) {
    const BoundaryState& truth = windows[i + 1].left_backward;
    if (agreement(truth, windows[i].right_warmed, info().grid.tolerance, precision(), twins)) continue;
    windows[i] = engines_[i]->posteriors(parts[i].scores, parts[i].range,
                                         i == 0 ? left : &windows[i - 1].right_forward, &truth, rows_of(i));
    windows[i].chunks.back().repaired = true;
  }
  PosteriorWindow result;
  for (const PosteriorWindow& window : windows) append_chunks(result.chunks, window);
  result.right_forward = std::move(windows[last].right_forward);
  result.right_warmed = std::move(windows[last].right_warmed);
  result.left_backward = std::move(windows[0].left_backward);
  return result;
}

template class SpreadEngine<float>;
template class SpreadEngine<double>;

}  // namespace semicrf::cuda
