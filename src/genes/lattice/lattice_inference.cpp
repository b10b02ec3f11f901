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
};

// A sweep over everything, and the states it was in before each window.
struct Checkpoints {
  std::vector<std::optional<LatticeSweep>> before;  // by window
  LatticeEnd end;
};

// `before`: null, or where the states before each window go.
LatticeEnd sweep_all(const Lattice& lattice, const LatticeSource& source, const Windows& windows,
                     Direction direction, LatticeSemiring semiring, LatticeSteps& steps, LatticeNodes* nodes,
                     std::vector<std::optional<LatticeSweep>>* before = nullptr) {
  LatticeSweep sweep(lattice, direction, semiring, windows.length);
  for (std::size_t n = 0; n < windows.count(); ++n) {
    const std::size_t i = direction == Direction::kForward ? n : windows.count() - 1 - n;
    if (before != nullptr) (*before)[i] = sweep;
    sweep.pass(*source.window(windows.begin(i), windows.end(i)), steps, nodes);
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

// `after_window`: called with the segments of the path that are decided.
LatticePath sweep_for_path(const Lattice& lattice, const LatticeSource& source, const Windows& windows,
                           const auto& after_window) {
  LatticeSweep sweep(lattice, Direction::kForward, LatticeSemiring::kMax, windows.length);
  LatticeSteps steps(lattice, Direction::kForward);
  OnlineTraceback traceback(source, steps, windows.size);
  for (std::size_t i = 0; i < windows.count(); ++i) {
    traceback.pass(sweep, *source.window(windows.begin(i), windows.end(i)));
    after_window(traceback.decided());
  }
  const LatticeEnd end = sweep.end();
  LatticePath path;
  path.score = end.value;
  if (end.best_label >= 0)
    path.segments = traceback.finish(end.starts[end.best_label], end.best_label, windows.length);
  return path;
}

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
  return (length + window - 1) / window;
}

LatticePath best_path(const Lattice& lattice, const LatticeSource& source, std::int64_t window) {
  return sweep_for_path(lattice, source, {source.length(), window}, [](const auto&) {});
}

LatticeDecoding decode_lattice(const Lattice& lattice, const LatticeSource& source, int threads,
                               std::int64_t window, const Lattice* of_path) {
  const Windows windows{source.length(), window};
  LatticeDecoding out{{},
                      {0,
                       0,
                       LatticeSteps(lattice, Direction::kForward),
                       LatticeSteps(lattice, Direction::kBackward),
                       {},
                       {}}};
  PathMessages& messages = out.messages;
  std::vector<std::int64_t> boundaries;  // the path's, as far as it is decided
  messages.forward.only = messages.backward.only = &boundaries;
  LatticeSweep forward(lattice, Direction::kForward, LatticeSemiring::kLog, windows.length);
  std::size_t passed = 0;  // windows that `forward` went through
  const auto forward_until = [&](std::int64_t boundary) {
    for (; passed < windows.count() && windows.end(passed) <= boundary; ++passed)
      forward.pass(*source.window(windows.begin(passed), windows.end(passed)), messages.forward_steps,
                   &messages.forward);
  };
  out.path = sweep_for_path(of_path == nullptr ? lattice : *of_path, source, windows,
                            [&](const std::vector<LatticeSegment>& decided) {
                              if (threads > 1) return;
                              while (boundaries.size() < decided.size())
                                boundaries.push_back(decided[boundaries.size()].end);
                              if (!decided.empty()) forward_until(decided.back().end);
                            });
  for (std::size_t i = boundaries.size() + 1; i < out.path.segments.size(); ++i)
    boundaries.push_back(out.path.segments[i].begin);
  parallel_for(threads, 2, [&](std::size_t i, int) {
    if (i == 0) {
      forward_until(windows.length);
      messages.log_z = forward.end().value;
    } else {
      messages.log_z_backward = sweep_all(lattice, source, windows, Direction::kBackward,
                                          LatticeSemiring::kLog, messages.backward_steps, &messages.backward)
                                    .value;
    }
  });
  messages.forward.only = messages.backward.only = nullptr;
  return out;
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
