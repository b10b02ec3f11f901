// Driving an engine through a case, window by window.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "parity/engine_parity.h"

namespace semicrf::testing {
namespace {

// A window's scores in buffers of exactly their size, so that a sanitizer sees every read beyond them.
class OwnedWindow {
 public:
  OwnedWindow(const ModelCase& sample, std::int64_t begin, std::int64_t end)
      : emissions_(slice(sample, sample.emissions, begin, end)),
        starts_(slice(sample, sample.start_scores, begin, end)),
        ends_(slice(sample, sample.end_scores, begin, end)),
        window_(sample.window(begin, end)) {
    window_.emissions = emissions_.view(0);
    window_.start_scores = starts_.view(0);
    window_.end_scores = ends_.view(0);
  }
  OwnedWindow(const OwnedWindow&) = delete;
  OwnedWindow& operator=(const OwnedWindow&) = delete;
  const ScoreWindow& view() const { return window_; }

 private:
  static ScoreTable slice(const ModelCase& sample, const ScoreTable& table, std::int64_t begin,
                          std::int64_t end) {
    ScoreTable part;
    const auto first = begin * sample.model.num_labels;
    const auto last = end * sample.model.num_labels;
    if (!table.f32.empty()) part.f32.assign(table.f32.begin() + first, table.f32.begin() + last);
    if (!table.f64.empty()) part.f64.assign(table.f64.begin() + first, table.f64.begin() + last);
    return part;
  }

  ScoreTable emissions_, starts_, ends_;
  ScoreWindow window_;
};

struct Arrays {
  std::vector<double> boundary, labels, starts, ends;
  Arrays(std::size_t positions, std::size_t num_labels)
      : boundary(positions, -1.0),
        labels(positions * num_labels, -1.0),
        starts(positions * num_labels, -1.0),
        ends(positions * num_labels, -1.0) {}
  PosteriorArrays pointers() { return {boundary.data(), labels.data(), starts.data(), ends.data()}; }
};

void copy_to(const std::vector<double>& part, std::vector<double>& whole, std::int64_t first) {
  std::copy(part.begin(), part.end(), whole.begin() + first);
}

// One window of a posterior run.
struct PosteriorStep {
  PositionRange range;
  PosteriorWindow result;
};

class PosteriorRun {
 public:
  PosteriorRun(Engine& engine, const ModelCase& sample)
      : engine_(engine),
        sample_(sample),
        labels_(static_cast<std::size_t>(sample.model.num_labels)),
        arrays_(static_cast<std::size_t>(sample.length), labels_) {}

  PosteriorCase run(const std::vector<std::int64_t>& edges) {
    for (std::size_t w = 0; w + 1 < edges.size(); ++w) {
      steps_.push_back({{edges[w], edges[w + 1]}, {}});
      compute(w, nullptr);
    }
    PosteriorCase out;
    for (std::size_t w = steps_.size() - 1; w-- > 0;) {
      // The neighbour's state is proven by now: it ends at T, or was verified or redone before.
      const BoundaryState& truth = steps_[w + 1].result.left_backward;
      if (!agreement(truth, steps_[w].result.right_warmed, engine_.info().grid.tolerance,
                     engine_.precision())) {
        compute(w, &truth);
        ++out.redone_windows;
      }
    }
    out.log_partition = log_sum(steps_.back().result.right_forward);
    for (const PosteriorStep& step : steps_) {
      out.chunks.insert(out.chunks.end(), step.result.chunks.begin(), step.result.chunks.end());
    }
    out.boundary = std::move(arrays_.boundary);
    out.labels = std::move(arrays_.labels);
    out.starts = std::move(arrays_.starts);
    out.ends = std::move(arrays_.ends);
    return out;
  }

 private:
  void compute(std::size_t w, const BoundaryState* right) {
    PosteriorStep& step = steps_[w];
    const std::int64_t warmup = engine_.info().grid.warmup;
    const OwnedWindow scores(sample_, std::max<std::int64_t>(0, step.range.begin - warmup),
                             std::min(sample_.length, step.range.end + warmup));
    Arrays part(static_cast<std::size_t>(step.range.size()), labels_);
    const BoundaryState* left = w > 0 ? &steps_[w - 1].result.right_forward : nullptr;
    step.result = engine_.posteriors(scores.view(), step.range, left, right, part.pointers());
    const std::int64_t first = step.range.begin * sample_.model.num_labels;
    copy_to(part.boundary, arrays_.boundary, step.range.begin);
    copy_to(part.labels, arrays_.labels, first);
    copy_to(part.starts, arrays_.starts, first);
    copy_to(part.ends, arrays_.ends, first);
  }

  Engine& engine_;
  const ModelCase& sample_;
  const std::size_t labels_;
  Arrays arrays_;
  std::vector<PosteriorStep> steps_;
};

ViterbiWindow viterbi_window(Engine& engine, const OwnedWindow& scores, PositionRange range,
                             const std::vector<BoundaryState>& states, bool keep_messages) {
  const BoundaryState* left = range.begin > 0 ? &states.back() : nullptr;
  return engine.viterbi(scores.view(), range, left, keep_messages);
}

}  // namespace

std::vector<std::int64_t> window_edges(const Engine& engine, std::int64_t length, std::int64_t chunks) {
  std::vector<std::int64_t> edges{0};
  const std::int64_t step = chunks > 0 ? chunks * engine.grid(length).chunk : length;
  while (length - edges.back() > step) edges.push_back(edges.back() + step);
  edges.push_back(length);
  return edges;
}

DecodedCase decode_case(Engine& engine, const ModelCase& sample, const std::vector<std::int64_t>& edges) {
  DecodedCase out;
  const auto owned = [&](PositionRange range) {
    return OwnedWindow(sample, std::max<std::int64_t>(0, range.begin - engine.info().grid.warmup), range.end);
  };
  std::vector<BoundaryState> states;  // the true state at each window's right edge
  for (std::size_t w = 0; w + 1 < edges.size(); ++w) {
    const PositionRange range{edges[w], edges[w + 1]};
    ViterbiWindow window = viterbi_window(engine, owned(range), range, states, false);
    states.push_back(std::move(window.right));
    out.chunks.insert(out.chunks.end(), window.chunks.begin(), window.chunks.end());
  }
  TraceCursor cursor{TraceCursor::Phase::kFindStart, sample.length, 0, 0};
  out.score = best_final_score(states.back(), &cursor.label);
  if (out.score == kNegativeInfinity) return out;
  for (std::size_t w = edges.size() - 1; w-- > 0;) {
    const PositionRange range{edges[w], edges[w + 1]};
    states.resize(w);
    const OwnedWindow scores = owned(range);
    const ViterbiWindow window = viterbi_window(engine, scores, range, states, true);
    follow(*window.messages, cursor, out.path);
  }
  if (cursor.phase != TraceCursor::Phase::kDone) {
    throw std::logic_error("the traceback did not reach the start of: " + sample.description);
  }
  std::reverse(out.path.begin(), out.path.end());
  return out;
}

PosteriorCase posterior_case(Engine& engine, const ModelCase& sample,
                             const std::vector<std::int64_t>& edges) {
  return PosteriorRun(engine, sample).run(edges);
}

ExpectedCase expected_case(Engine& reference, const ModelCase& sample) {
  const std::vector<std::int64_t> whole{0, sample.length};
  return {decode_case(reference, sample, whole), posterior_case(reference, sample, whole)};
}

}  // namespace semicrf::testing
