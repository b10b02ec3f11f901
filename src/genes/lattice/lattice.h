// A semi-Markov CRF whose segments begin and end at few positions: a grammar of genes.
//
// Every label has a duration law of its own, with a longest duration of its own; labels share columns of
// content; transitions are a list; a segment may begin or end only where a signal of the sequence allows it.
// The recursion is that of docs/algorithm.md, section 2, over those places alone (section 17). All
// scores are natural logarithms, -inf forbids.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace semicrf {

// The score of a duration: a table of 1..K, K = its size, and beyond it a geometric tail from the last entry
// that is possible.
struct LatticeLaw {
  std::vector<double> table;                                   // [k-1]
  double log_tail = -std::numeric_limits<double>::infinity();  // < 0; -inf: none
};

// The score of a duration by a table of 1..K and the tail beyond it, of those durations that leave `residue`
// when divided by `modulus`; -inf for others, and where the table has none that the tail could go on from.
inline double duration_score(const std::vector<double>& table, double log_tail, std::int64_t modulus,
                             std::int64_t residue, std::int64_t duration) {
  constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  const auto longest = std::ssize(table);
  if (duration % modulus != residue) return kImpossible;
  if (duration <= longest) return table[duration - 1];
  const std::int64_t from = longest - (longest - residue + modulus) % modulus;
  if (log_tail == kImpossible || from < 1) return kImpossible;
  return table[from - 1] + static_cast<double>(duration - from) * log_tail;
}

// The law of what is left of a segment where one end of the sequence (`ends` 1), or both, cut it off: the
// logarithm of the sum over all durations that it may have had, once for each way to lay one beyond the ends.
LatticeLaw cut_law(const LatticeLaw& law, int ends);

inline constexpr std::int64_t kBarrierReach = 4;

// No segment of the label that begins at place + last_begin or before ends at place + first_end or behind,
// for the places of a kind.
struct LatticeBarrier {
  int kind = 0;
  int last_begin = 0, first_end = 1;  // within kBarrierReach, the second 1 to 3 behind the first
  bool operator==(const LatticeBarrier&) const = default;
};

struct LatticeLabel {
  std::string name;
  int column = -1;        // its content; -1: none, every position scores 0
  int start_signal = -1;  // that must be at its first boundary; -1: none is needed
  int end_signal = -1;    // that must be at its last boundary
  std::vector<LatticeBarrier> barriers;
  int law = 0;
  int modulus = 1;  // durations are those that leave `residue` when divided by it
  int residue = 0;
  double initial =
      -std::numeric_limits<double>::infinity();  // score of beginning at 0, where no signal is needed
  double final = -std::numeric_limits<double>::infinity();  // score of ending at T, likewise
};

struct LatticeEdge {
  int from = 0, to = 0;
  double score = 0;
};

struct Lattice {
  int columns = 0;
  int signals = 0;   // at most 64
  int barriers = 0;  // kinds of their places
  std::vector<LatticeLabel> labels;
  std::vector<LatticeLaw> laws;
  std::vector<LatticeEdge> edges;
  // Whether segments go on beyond 0 and beyond T. Those there have durations by the laws below, whatever
  // their remainder.
  bool cut_begin = false, cut_end = false;
  std::vector<LatticeLaw> cut_laws, twice_cut_laws;  // by law, where segments are cut
};

// The score of the duration of a segment of a sequence of `length` positions.
double duration_score(const Lattice& lattice, const LatticeLabel& label, std::int64_t begin, std::int64_t end,
                      std::int64_t length);

// What a sequence has at the boundaries and positions of [begin, end).
struct LatticeWindow {
  struct Event {
    std::int64_t boundary = 0;
    std::uint64_t signals = 0;  // a bit for each that is there
    std::size_t first = 0;      // its first score; one follows for each bit, from the lowest
  };
  // What labels with a LatticeBarrier of its kind may not hold.
  struct Place {
    std::int64_t at = 0;
    int kind = 0;
  };

  std::int64_t begin = 0, end = 0;
  std::vector<float> content;  // (end - begin, columns) row-major, finite
  std::vector<Event> events;   // at boundaries in [begin, end), ascending
  std::vector<float> scores;   // finite
  std::vector<Place> places;   // all in [begin - kBarrierReach, end + kBarrierReach), ascending

  // The score of a signal that stands at the event; 0 for none (-1).
  double score(const Event& event, int signal) const {
    if (signal < 0) return 0;
    const std::uint64_t below = event.signals & ((std::uint64_t{1} << signal) - 1);
    return scores[event.first + std::popcount(below)];
  }
};

// Called by several threads at once.
class LatticeSource {
 public:
  virtual ~LatticeSource() = default;
  virtual std::int64_t length() const = 0;
  // `window` keeps its memory between calls.
  virtual void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const = 0;
  // What read() makes, for callers that do not change it: a source may give one window to several of them.
  virtual std::shared_ptr<const LatticeWindow> window(std::int64_t begin, std::int64_t end) const {
    auto made = std::make_shared<LatticeWindow>();
    read(begin, end, *made);
    return made;
  }
};

}  // namespace semicrf
