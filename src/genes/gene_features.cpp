#include "genes/gene_features.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/chain_model.h"

namespace semicrf {
namespace {

double product(const std::vector<double>& features, const auto& models, auto weight) {
  double sum = 0;
  for (std::size_t i = 0; i < features.size(); ++i) sum += features[i] * weight(models[i]);
  return sum;
}

// The score of a signal at an event, without its weight.
double raw_signal(const GeneModel& model, const GeneLattice& lattice, const LatticeWindow& window,
                  const LatticeWindow::Event& event, int signal) {
  return window.score(event, signal) /
         model.signals[lattice.signals[static_cast<std::size_t>(signal)].model].weight;
}

// Adds what one segment of a path has.
class PathScorer {
 public:
  PathScorer(const GeneModel& model, const GeneLattice& lattice, const LatticeSource& source)
      : model_(model), lattice_(lattice), source_(source), sum_(model) {}

  bool add(const LatticeSegment& segment) {
    const LatticeLabel& label = lattice_.lattice.labels[segment.label];
    if (!add_duration(segment, label)) return false;
    if (label.column < 0 && label.barriers.empty()) return true;
    source_.read(segment.begin, segment.end, window_);
    if (label.column >= 0) add_content(segment, label);
    return !is_barred(segment, label);
  }
  bool add_transition(const LatticeSegment& left, const LatticeSegment& right) {
    const auto& edges = lattice_.lattice.edges;
    const auto edge = std::find_if(edges.begin(), edges.end(), [&](const LatticeEdge& one) {
      return one.from == left.label && one.to == right.label;
    });
    if (edge == edges.end()) return false;
    sum_.transitions[lattice_.transition_of_edge[static_cast<std::size_t>(edge - edges.begin())]] += 1;
    const auto& labels = lattice_.lattice.labels;
    return add_signal(right.begin, labels[left.label].end_signal) &&
           add_signal(right.begin, labels[right.label].start_signal);
  }
  const GeneFeatures& sum() const { return sum_; }

 private:
  bool add_duration(const LatticeSegment& segment, const LatticeLabel& label) {
    const LengthModel& law = model_.lengths[label.law];
    const std::int64_t duration = segment.end - segment.begin;
    const auto longest = static_cast<std::int64_t>(law.table.size());
    if (duration % label.modulus != label.residue) return false;
    double score = kNegativeInfinity;
    if (duration <= longest) {
      score = law.table[duration - 1];
    } else if (law.log_tail > kNegativeInfinity) {
      const std::int64_t from = longest - (longest - label.residue + label.modulus) % label.modulus;
      score = law.table[from - 1] + static_cast<double>(duration - from) * law.log_tail;
    }
    sum_.lengths[label.law] += score;
    return score > kNegativeInfinity;
  }
  bool is_barred(const LatticeSegment& segment, const LatticeLabel& label) const {
    for (const LatticeWindow::Place& place : window_.places)
      for (const LatticeBarrier& barrier : label.barriers)
        if (barrier.kind == place.kind && segment.begin <= place.at + barrier.last_begin &&
            segment.end >= place.at + barrier.first_end)
          return true;
    return false;
  }
  void add_content(const LatticeSegment& segment, const LatticeLabel& label) {
    double content = 0;
    const auto columns = static_cast<std::size_t>(lattice_.lattice.columns);
    for (std::size_t i = static_cast<std::size_t>(label.column); i < window_.content.size(); i += columns)
      content += static_cast<double>(window_.content[i]);
    const int index = lattice_.columns[label.column].model;
    const ContentModel& of = model_.contents[index];
    const auto bases = static_cast<double>(segment.end - segment.begin);
    sum_.content[index] += (content - of.bias * bases) / of.weight;
    sum_.bases[index] += bases;
  }
  bool add_signal(std::int64_t boundary, int signal) {
    if (signal < 0) return true;
    source_.read(boundary, boundary + 1, window_);
    for (const LatticeWindow::Event& event : window_.events)
      if (event.boundary == boundary && (event.signals >> signal & 1) != 0) {
        sum_.signals[lattice_.signals[static_cast<std::size_t>(signal)].model] +=
            raw_signal(model_, lattice_, window_, event, signal);
        return true;
      }
    return false;
  }

  const GeneModel& model_;
  const GeneLattice& lattice_;
  const LatticeSource& source_;
  LatticeWindow window_;
  GeneFeatures sum_;
};

// Expected features of one window.
class WindowExpectations {
 public:
  WindowExpectations(const GeneModel& model, const GeneLattice& lattice, double log_z,
                     const LatticeMessages& messages)
      : model_(model), lattice_(lattice), log_z_(log_z), messages_(messages), sum_(model) {}

  GeneFeatures compute() {
    for (std::size_t i = 0; i < messages_.forward->events.size(); ++i) add_event(i);
    return std::move(sum_);
  }

 private:
  void add_event(std::size_t i) {
    const LatticeNodes &forward = *messages_.forward, &backward = *messages_.backward;
    const LatticeNodes::Event& there = forward.events[i];
    const LatticeNodes::Event& mirrored = backward.events[messages_.mirrored(i)];
    const LatticeWindow::Event& event = messages_.window->events[there.window_event];
    const auto& labels = lattice_.lattice.labels;
    for (std::size_t n = 0; n < there.step->endings.size(); ++n) {
      const auto [label, signal] = there.step->endings[n];
      const double p = std::exp(forward.endings[there.first_ending + n] +
                                backward.beginnings[mirrored.first_beginning + n] - log_z_);
      if (p == 0) continue;
      add_edge_of_segment(i, label, signal, event, p, 1);
      sum_.lengths[labels[static_cast<std::size_t>(label)].law] +=
          p * forward.duration_scores[there.first_ending + n];
    }
    for (std::size_t n = 0; n < there.step->beginnings.size(); ++n) {
      const LatticeStep::Beginning& begins = there.step->beginnings[n];
      const double ahead = backward.endings[mirrored.first_ending + n];
      const double p = std::exp(forward.beginnings[there.first_beginning + n] + ahead - log_z_);
      if (p == 0) continue;
      add_edge_of_segment(i, begins.label, begins.signal, event, p, -1);
      const double right = ahead + messages_.window->score(event, begins.signal) - log_z_;
      for (std::size_t e = begins.first_edge; e < begins.last_edge; ++e) {
        const LatticeStep::Edge& edge = there.step->edges[e];
        const LatticeStep::Ending& ends = there.step->endings[edge.ending];
        const double left =
            forward.endings[there.first_ending + edge.ending] + messages_.window->score(event, ends.signal);
        sum_.transitions[lattice_.transition_of_edge[edge.index]] += std::exp(left + edge.score + right);
      }
    }
  }

  // A segment's content is the difference of sums at its two edges, each of which is counted by itself.
  void add_edge_of_segment(std::size_t i, int label, int signal, const LatticeWindow::Event& event, double p,
                           int side) {
    if (signal >= 0)
      sum_.signals[lattice_.signals[static_cast<std::size_t>(signal)].model] +=
          p * raw_signal(model_, lattice_, *messages_.window, event, signal);
    const int column = lattice_.lattice.labels[label].column;
    if (column < 0) return;
    const int index = lattice_.columns[column].model;
    const ContentModel& of = model_.contents[index];
    const auto columns = static_cast<std::size_t>(lattice_.lattice.columns);
    const double content = messages_.forward->content[i * columns + static_cast<std::size_t>(column)];
    const auto at = static_cast<double>(event.boundary);
    sum_.content[index] += side * p * (content - of.bias * at) / of.weight;
    sum_.bases[index] += side * p * at;
  }

  const GeneModel& model_;
  const GeneLattice& lattice_;
  double log_z_;
  LatticeMessages messages_;
  GeneFeatures sum_;
};

}  // namespace

GeneFeatures::GeneFeatures(const GeneModel& model)
    : content(model.contents.size()),
      bases(model.contents.size()),
      signals(model.signals.size()),
      lengths(model.lengths.size()),
      transitions(model.transitions.size()) {}

double score_of(const GeneModel& model, const GeneFeatures& features) {
  const auto weight = [](const auto& one) { return one.weight; };
  return product(features.content, model.contents, weight) +
         product(features.bases, model.contents, [](const ContentModel& one) { return one.bias; }) +
         product(features.signals, model.signals, weight) + product(features.lengths, model.lengths, weight) +
         product(features.transitions, model.transitions,
                 [](const GeneTransition& one) { return one.score; });
}

std::optional<GeneFeatures> features_of_path(const GeneModel& model, const GeneLattice& lattice,
                                             const LatticeSource& source,
                                             const std::vector<LatticeSegment>& path) {
  PathScorer scorer(model, lattice, source);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!scorer.add(path[i])) return std::nullopt;
    if (i > 0 && !scorer.add_transition(path[i - 1], path[i])) return std::nullopt;
  }
  return scorer.sum();
}

ExpectedGeneFeatures expected_features(const GeneModel& model, const GeneLattice& lattice,
                                       const LatticeSource& source) {
  ExpectedGeneFeatures expected{0, GeneFeatures(model)};
  const LatticeMarginals marginals = visit_marginals(
      lattice.lattice, source, 1, true,
      [&](std::size_t, double log_z, const LatticeMessages& messages) {
        expected.features = WindowExpectations(model, lattice, log_z, messages).compute();
      },
      std::max<std::int64_t>(1, source.length()));
  expected.log_z = marginals.log_z;
  // The last segment ends where no event is; neither of the two has a column.
  const auto& labels = lattice.lattice.labels;
  for (std::size_t c = 0; c < labels.size(); ++c) {
    if (labels[c].final == kNegativeInfinity) continue;
    const double p = std::exp(marginals.forward_end.endings[c] + labels[c].final - marginals.log_z);
    expected.features.lengths[labels[c].law] += p * marginals.forward_end.duration_scores[c];
  }
  for (std::size_t i = 0; i < model.lengths.size(); ++i)
    expected.features.lengths[i] /= model.lengths[i].weight;
  return expected;
}

}  // namespace semicrf
