#include "genes/lattice/known_boundaries.h"

#include <algorithm>
#include <bit>

namespace semicrf {

Lattice constrained_lattice(const Lattice& lattice) {
  Lattice constrained = lattice;
  for (LatticeLabel& label : constrained.labels) label.barriers.push_back({lattice.barriers, -1, 1});
  constrained.barriers += 1;
  return constrained;
}

KnownBoundarySource::KnownBoundarySource(int kind, const LatticeSource& source, const KnownBoundaries& known)
    : kind_(kind), source_(&source), known_(&known) {}

void KnownBoundarySource::read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const {
  source_->read(begin, end, window);
  keep_events(window);
  add_places(window);
}

void KnownBoundarySource::keep_events(LatticeWindow& window) const {
  const auto& known = known_->boundaries;
  const auto& closed = known_->closed;
  auto boundary = std::lower_bound(known.begin(), known.end(), window.begin,
                                   [](const auto& one, std::int64_t at) { return one.at < at; });
  auto stretch = std::lower_bound(closed.begin(), closed.end(), window.begin,
                                  [](const auto& one, std::int64_t at) { return one.second <= at; });
  std::size_t events = 0, scores = 0;
  for (const LatticeWindow::Event& event : window.events) {
    while (boundary != known.end() && boundary->at < event.boundary) ++boundary;
    while (stretch != closed.end() && stretch->second <= event.boundary) ++stretch;
    std::uint64_t allowed = ~std::uint64_t{0};
    if (boundary != known.end() && boundary->at == event.boundary)
      allowed = boundary->signals;
    else if (stretch != closed.end() && stretch->first < event.boundary)
      continue;
    // Scores move to the front, never behind where they are read.
    LatticeWindow::Event kept{event.boundary, event.signals & allowed, scores};
    std::size_t from = event.first;
    for (std::uint64_t left = event.signals; left != 0; left &= left - 1, ++from)
      if ((left & -left & allowed) != 0) window.scores[scores++] = window.scores[from];
    window.events[events++] = kept;
  }
  window.events.resize(events);
  window.scores.resize(scores);
}

void KnownBoundarySource::add_places(LatticeWindow& window) const {
  const auto& known = known_->boundaries;
  auto boundary = std::lower_bound(known.begin(), known.end(), window.begin - kBarrierReach,
                                   [](const auto& one, std::int64_t at) { return one.at < at; });
  const std::ptrdiff_t before = std::ssize(window.places);
  for (; boundary != known.end() && boundary->at < window.end + kBarrierReach; ++boundary)
    window.places.push_back({boundary->at, kind_});
  std::inplace_merge(
      window.places.begin(), window.places.begin() + before, window.places.end(),
      [](const LatticeWindow::Place& a, const LatticeWindow::Place& b) { return a.at < b.at; });
}

}  // namespace semicrf
