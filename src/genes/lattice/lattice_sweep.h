// One direction of the recursion over a lattice: forward or backward messages, window by window.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/chain_model.h"
#include "genes/lattice/lattice.h"
#include "genes/lattice/open_segments.h"

namespace semicrf {

// Which segments can end and begin at a boundary with certain signals. In the backward direction segments
// are gone through from their last boundary: what begins there ends here, and the other way round.
struct LatticeStep {
  struct Ending {
    int label = 0;
    int signal = -1;
    int score = -1;  // index of the signal's among those of the event; -1: it has none, and scores 0
  };
  struct Beginning {
    int label = 0;
    int signal = -1;
    int score = -1;  // likewise
    std::size_t first_edge = 0, last_edge = 0;
    // The first beginning whose edges come from the same endings with the same scores but for a difference:
    // the sum over them is `more` above the one there.
    std::size_t like = 0;
    double more = 0;
  };
  struct Edge {
    std::size_t ending = 0;  // index in `endings`
    double score = 0;
    std::size_t index = 0;  // in Lattice::edges
  };
  std::vector<Ending> endings;        // by label
  std::vector<Beginning> beginnings;  // by label
  std::vector<Edge> edges;            // by beginning
};

// The steps of a direction, made as they are met. For one thread.
class LatticeSteps {
 public:
  LatticeSteps(const Lattice& lattice, Direction direction) : lattice_(&lattice), direction_(direction) {}
  LatticeSteps(const LatticeSteps&) = delete;
  LatticeSteps& operator=(const LatticeSteps&) = delete;
  LatticeSteps(LatticeSteps&&) = default;
  LatticeSteps& operator=(LatticeSteps&&) = default;
  // Stays where it is as long as this lives.
  const LatticeStep& at(std::uint64_t signals) {
    Recent& recent = recent_[(signals * 0x9E3779B97F4A7C15U) >> 56];
    if (recent.step == nullptr || recent.signals != signals) recent = {signals, &find(signals)};
    return *recent.step;
  }

 private:
  struct Recent {
    std::uint64_t signals = 0;
    const LatticeStep* step = nullptr;  // in `known_`
  };
  const LatticeStep& find(std::uint64_t signals);

  const Lattice* lattice_;
  Direction direction_;
  std::unordered_map<std::uint64_t, LatticeStep> known_;
  std::vector<Recent> recent_{256};
};

// The messages at the events of a window that have a step, in the order of the sweep. Values of a node are
// finite or -inf.
struct LatticeNodes {
  struct Event {
    std::int64_t boundary = 0;
    const LatticeStep* step = nullptr;
    std::size_t window_event = 0;  // in LatticeWindow::events
    std::size_t first_ending = 0, first_beginning = 0;
  };
  std::vector<Event> events;
  std::vector<double> endings;          // the segments that end there, without the score of the signal
  std::vector<std::int64_t> starts;     // max semiring: the best segment's other boundary
  std::vector<double> duration_scores;  // log semiring: mean score of the duration
  std::vector<double> beginnings;       // log semiring: what begins there, with the score of the signal
  std::vector<int> sources;             // max semiring: the label before it
  const std::vector<std::int64_t>* only = nullptr;  // the boundaries that are wanted, ascending; null: all
  bool wants(std::int64_t boundary) const;
  void clear();
};

// The last message of a sweep.
struct LatticeEnd {
  double value = kNegativeInfinity;  // log Z, or the score of the best path
  std::vector<double> endings;       // (C) in the max semiring and the log semiring, without `final`
  std::vector<std::int64_t> starts;  // (C)
  std::vector<double> duration_scores;
  int best_label = -1;  // max semiring; of equals the first
};

// For each label the first one whose segments begin where those of this label begin, with the same values:
// for edges, signals, columns and laws alike. They may differ in how they end, and in the residue.
std::vector<int> labels_that_begin_alike(const Lattice& lattice, Direction direction);

// A segment of a label that has begun at a boundary and may go on.
struct OpenSegment {
  std::int64_t boundary = 0;
  int label = 0;
};

// Copies are states to go on from. The lattice must outlive it.
class LatticeSweep {
 public:
  LatticeSweep(const Lattice& lattice, Direction direction, LatticeSemiring semiring, std::int64_t length);

  // Windows in the order of the direction, each once, the first at the edge of the sequence. `steps`: of the
  // lattice and the direction. `nodes`: null, or where messages go, after what is there.
  void pass(const LatticeWindow& window, LatticeSteps& steps, LatticeNodes* nodes);
  // Between windows: those that may end at `boundary`, where the next one begins, or beyond. Max semiring.
  std::vector<OpenSegment> open_segments(std::int64_t boundary) const;
  // After the last window.
  LatticeEnd end();

 private:
  // Barriers that are met at the same distance from their places.
  struct BarrierTurn {
    struct Forgets {
      int label = 0;
      std::int64_t offset = 0;  // from the place: what began there or before, in the direction, is gone
    };
    std::int64_t offset = 0;  // from the place: before what ends there
    std::vector<std::vector<Forgets>> of_kind;
    std::size_t next = 0;  // in the places of the window
    std::int64_t met = 0;  // the boundary at which that place is met
  };
  // What does not change while the sweep goes on.
  struct Fixed {
    std::vector<LinearLaw> linear_laws;  // by law; empty in the max semiring
    std::vector<DurationRule> rules;     // by label
    std::vector<int> starts_of;  // by label: whose open segments it shares, its own or those of one before
  };
  // What comes before a segment, without the score of the signal where it begins.
  struct Begun {
    double value = kNegativeInfinity;
    int source = -1;  // max semiring: the label before it
  };
  void prepare_barriers();
  void begin();
  void meet(const LatticeWindow& window, const LatticeStep& step, std::size_t event, LatticeNodes* nodes);
  void add(const LatticeWindow& window, std::int64_t position);
  void aim(const LatticeWindow& window, BarrierTurn& turn) const;
  void forget_at(const LatticeWindow& window, std::int64_t boundary, BarrierTurn& turn);
  std::int64_t along(std::int64_t boundary) const {
    return direction_ == Direction::kForward ? boundary : length_ - boundary;
  }
  Begun sum_of_edges(const LatticeStep& step, const LatticeStep::Beginning& beginning) const;
  bool is_first(int label) const { return fixed_->starts_of[label] == label; }
  OpenSegments& open_of(int label) { return open_[fixed_->starts_of[label]]; }
  const OpenSegments& open_of(int label) const { return open_[fixed_->starts_of[label]]; }
  double content_of(int label) const {
    const int column = lattice_->labels[label].column;
    return column < 0 ? 0 : content_[column];
  }

  const Lattice* lattice_;
  Direction direction_;
  LatticeSemiring semiring_;
  std::int64_t length_;
  bool begun_ = false;
  std::shared_ptr<const Fixed> fixed_;
  std::vector<OpenSegments> open_;  // (C), those that are shared once
  std::vector<double> content_;     // (columns)
  // Scratch of meet().
  std::vector<double> endings_;
  std::vector<Begun> beginnings_;
  std::vector<BarrierTurn> turns_;
};

}  // namespace semicrf
