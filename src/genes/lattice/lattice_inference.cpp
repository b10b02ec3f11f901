#include "genes/lattice/lattice_inference.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "core/threads/parallel.h"

namespace semicrf {
namespace {

// Where a sequence is divided.
struct Windows {
  std::int64_t length = 0, size = 0;

  std::size_t count() const { return lattice_windows(length, size); }
  std::int64_t begin(std::size_t i) const { return static_cast<std::int64_t>(i) * size; }
  std::int64_t end(std::size_t i) const { return std::min(length, begin(i) + size); }
  std::size_t holding(std::int64_t boundary) const { return static_cast<std::size_t>(boundary / size); }
};

// A sweep over everything, and the states it was in before each window.
struct Checkpoints {
  std::vector<std::optional<LatticeSweep>> before;  // by window
  LatticeEnd end;
};

// `before`: null, or where the states before each window go.
LatticeEnd sweep_all(const Lattice& lattice, const LatticeSource& source, const Windows& windows,
                     Direction direction, LatticeSemiring semiring, LatticeSteps& steps, LatticeNodes* nodes,
                     std::vector<std::optional<LatticeSweep>>* before) {
  LatticeSweep sweep(lattice, direction, semiring, windows.length);
  LatticeWindow window;
  for (std::size_t n = 0; n < windows.count(); ++n) {
    const std::size_t i = direction == Direction::kForward ? n : windows.count() - 1 - n;
    if (before != nullptr) (*before)[i] = sweep;
    source.read(windows.begin(i), windows.end(i), window);
    sweep.pass(window, steps, nodes);
  }
  return sweep.end();
}

Checkpoints sweep_through(const Lattice& lattice, const LatticeSource& source, const Windows& windows,
                          Direction direction, LatticeSemiring semiring) {
  Checkpoints kept;
  kept.before.resize(windows.count());
  LatticeSteps steps(lattice, direction);
  kept.end = sweep_all(lattice, source, windows, direction, semiring, steps, nullptr, &kept.before);
  return kept;
}

// Follows the best path through one window after the other, from the right.
class PathTracer {
 public:
  PathTracer(const LatticeEnd& end, std::int64_t length)
      : label_(end.best_label), boundary_(length), start_(end.starts[end.best_label]) {}

  // The boundary whose message is wanted next; 0: the path is complete.
  std::int64_t wanted() const { return start_; }
  // Goes on as long as what is wanted is among these nodes of [begin, ...).
  void follow(const LatticeNodes& nodes, std::int64_t begin) {
    while (start_ > 0 && start_ >= begin) {
      const auto event = std::lower_bound(
          nodes.events.begin(), nodes.events.end(), start_,
          [](const LatticeNodes::Event& a, std::int64_t boundary) { return a.boundary < boundary; });
      if (event == nodes.events.end() || event->boundary != start_)
        throw std::logic_error("a path left its nodes");
      finish_segment();
      const auto& beginnings = event->step->beginnings;
      std::size_t i = 0;
      while (beginnings[i].label != label_) ++i;
      label_ = nodes.sources[event->first_beginning + i];
      const auto& endings = event->step->endings;
      i = 0;
      while (endings[i].label != label_) ++i;
      boundary_ = event->boundary;
      start_ = nodes.starts[event->first_ending + i];
    }
  }
  std::vector<LatticeSegment> take() {
    finish_segment();
    std::reverse(reversed_.begin(), reversed_.end());
    return std::move(reversed_);
  }

 private:
  void finish_segment() { reversed_.push_back({start_, boundary_, label_}); }

  int label_;
  std::int64_t boundary_, start_;  // its segment so far known
  std::vector<LatticeSegment> reversed_;
};

// Without states at edges there is nothing to compute twice.
LatticeMarginals visit_one_window(
    const Lattice& lattice, const LatticeSource& source,
    const std::function<void(std::size_t, double, const LatticeMessages&)>& visit) {
  LatticeWindow window;
  source.read(0, source.length(), window);
  LatticeSweep forward(lattice, Direction::kForward, LatticeSemiring::kLog, source.length());
  LatticeSweep backward(lattice, Direction::kBackward, LatticeSemiring::kLog, source.length());
  LatticeSteps forward_steps(lattice, Direction::kForward), backward_steps(lattice, Direction::kBackward);
  LatticeNodes nodes[2];
  forward.pass(window, forward_steps, &nodes[0]);
  backward.pass(window, backward_steps, &nodes[1]);
  LatticeMarginals marginals{0, 0, forward.end(), backward.end()};
  marginals.log_z = marginals.forward_end.value;
  marginals.log_z_backward = marginals.backward_end.value;
  if (marginals.log_z > kNegativeInfinity) visit(0, marginals.log_z, {&window, &nodes[0], &nodes[1]});
  return marginals;
}

}  // namespace

std::size_t lattice_windows(std::int64_t length, std::int64_t window) {
  return static_cast<std::size_t>((length + window - 1) / window);
}

LatticePath best_path(const Lattice& lattice, const LatticeSource& source, int threads, std::int64_t window) {
  const Windows windows{source.length(), window};
  Checkpoints kept = sweep_through(lattice, source, windows, Direction::kForward, LatticeSemiring::kMax);
  LatticePath path;
  path.score = kept.end.value;
  if (kept.end.best_label < 0) return path;
  PathTracer tracer(kept.end, windows.length);
  // Some windows ahead, side by side: a path may jump over those that one long segment covers.
  std::vector<LatticeNodes> nodes(static_cast<std::size_t>(std::max(1, threads)));
  std::vector<LatticeSteps> steps;
  for (std::size_t n = 0; n < nodes.size(); ++n) steps.emplace_back(lattice, Direction::kForward);
  std::vector<LatticeWindow> read(nodes.size());
  while (tracer.wanted() > 0) {
    const std::size_t last = windows.holding(tracer.wanted());
    const std::size_t count = std::min(last + 1, nodes.size());
    parallel_for(threads, count, [&](std::size_t n, int) {
      const std::size_t i = last - n;
      source.read(windows.begin(i), windows.end(i), read[n]);
      nodes[n].clear();
      kept.before[i]->pass(read[n], steps[n], &nodes[n]);
      kept.before[i].reset();
    });
    for (std::size_t n = 0; n < count; ++n) tracer.follow(nodes[n], windows.begin(last - n));
  }
  path.segments = tracer.take();
  return path;
}

MessagesAt messages_at(const Lattice& lattice, const LatticeSource& source,
                       const std::vector<std::int64_t>& boundaries, int threads, std::int64_t window) {
  const Windows windows{source.length(), window};
  MessagesAt found{kNegativeInfinity,
                   kNegativeInfinity,
                   LatticeSteps(lattice, Direction::kForward),
                   LatticeSteps(lattice, Direction::kBackward),
                   {},
                   {}};
  found.forward.only = found.backward.only = &boundaries;
  parallel_for(threads, 2, [&](std::size_t i, int) {
    if (i == 0)
      found.log_z = sweep_all(lattice, source, windows, Direction::kForward, LatticeSemiring::kLog,
                              found.forward_steps, &found.forward, nullptr)
                        .value;
    else
      found.log_z_backward = sweep_all(lattice, source, windows, Direction::kBackward, LatticeSemiring::kLog,
                                       found.backward_steps, &found.backward, nullptr)
                                 .value;
  });
  found.forward.only = found.backward.only = nullptr;
  return found;
}

LatticeMarginals visit_marginals(
    const Lattice& lattice, const LatticeSource& source, int threads,
    const std::function<void(std::size_t, double, const LatticeMessages&)>& visit, std::int64_t window) {
  const Windows windows{source.length(), window};
  if (windows.count() == 1) return visit_one_window(lattice, source, visit);
  Checkpoints sweeps[2];
  parallel_for(threads, 2, [&](std::size_t i, int) {
    sweeps[i] = sweep_through(lattice, source, windows, i == 0 ? Direction::kForward : Direction::kBackward,
                              LatticeSemiring::kLog);
  });
  LatticeMarginals marginals{sweeps[0].end.value, sweeps[1].end.value, sweeps[0].end, sweeps[1].end};
  if (marginals.log_z == kNegativeInfinity) return marginals;
  parallel_for(threads, windows.count(), [&](std::size_t i, int) {
    LatticeWindow read;
    source.read(windows.begin(i), windows.end(i), read);
    LatticeNodes nodes[2];
    LatticeSteps forward(lattice, Direction::kForward), backward(lattice, Direction::kBackward);
    sweeps[0].before[i]->pass(read, forward, &nodes[0]);
    sweeps[1].before[i]->pass(read, backward, &nodes[1]);
    sweeps[0].before[i].reset(), sweeps[1].before[i].reset();
    visit(i, marginals.log_z, {&read, &nodes[0], &nodes[1]});
  });
  return marginals;
}

}  // namespace semicrf
