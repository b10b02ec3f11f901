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

// Adds `share` times what a signal has at an event to `sum`.
void add_signal_features(const GeneModel& model, const GeneLattice& lattice, const SequenceSource& source,
                         const LatticeWindow& window, const TrackWindow& tracks,
                         const LatticeWindow::Event& event, int signal, double share, GeneFeatures& sum) {
  const StrandedModel& stranded = lattice.signals[signal];
  const SignalModel& of = model.signals[stranded.model];
  double odds = window.score(event, signal);
  for (std::size_t j = 0; j < of.terms.size(); ++j) {
    const double value = source.term_at(of.terms[j], stranded.strand, event.boundary, tracks);
    odds -= of.terms[j].weight * value;
    sum.signal_terms[stranded.model][j] += share * value;
  }
  sum.signals[stranded.model] += share * odds / of.weight;
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
    sum_.transitions[lattice_.transition_of_edge[edge - edges.begin()]] += 1;
    const auto& labels = lattice_.lattice.labels;
    return add_signal(right.begin, labels[left.label].end_signal) &&
           add_signal(right.begin, labels[right.label].start_signal);
  }
  const GeneFeatures& sum() const { return sum_; }

 private:
  bool add_duration(const LatticeSegment& segment, const LatticeLabel& label) {
    const double score =
        duration_score(lattice_.lattice, label, segment.begin, segment.end, source_.length());
    sum_.lengths[label.law] += score / model_.lengths[label.law].weight;
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
    const std::size_t columns = lattice_.lattice.columns;
    for (std::size_t i = label.column; i < window_.content.size(); i += columns)
      content += window_.content[i];
    const StrandedModel& column = lattice_.columns[label.column];
    const ContentModel& of = model_.contents[column.model];
    const auto bases = static_cast<double>(segment.end - segment.begin);
    content -= of.bias * bases;
    sum_.content[column.model] += content / of.weight;
    sum_.bases[column.model] += bases;
  }
  bool add_signal(std::int64_t boundary, int signal) {
    if (signal < 0) return true;
    source_.read(boundary, boundary + 1, window_);
    for (const LatticeWindow::Event& event : window_.events)
      if (event.boundary == boundary && (event.signals >> signal & 1) != 0) {
        const int index = lattice_.signals[signal].model;
        sum_.signals[index] += window_.score(event, signal) / model_.signals[index].weight;
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
  WindowExpectations(const GeneModel& model, const GeneLattice& lattice, const SequenceSource& source,
                     double log_z, const LatticeMessages& messages)
      : model_(model),
        lattice_(lattice),
        source_(source),
        log_z_(log_z),
        messages_(messages),
        tracks_(source.tracks(messages.window->begin, messages.window->end)),
        occupancy_(messages.window->content.size()),
        sum_(model) {}

  GeneFeatures compute() {
    for (std::size_t i = 0; i < messages_.forward->events.size(); ++i) add_event(i);
    add_content();
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
      const auto& [label, signal, score] = there.step->endings[n];
      const double p = std::exp(forward.endings[there.first_ending + n] +
                                backward.beginnings[mirrored.first_beginning + n] - log_z_);
      if (p == 0) continue;
      add_edge_of_segment(label, signal, event, p, 1);
      sum_.lengths[labels[label].law] += p * forward.duration_scores[there.first_ending + n];
    }
    for (std::size_t n = 0; n < there.step->beginnings.size(); ++n) {
      const LatticeStep::Beginning& begins = there.step->beginnings[n];
      const double ahead = backward.endings[mirrored.first_ending + n];
      const double p = std::exp(forward.beginnings[there.first_beginning + n] + ahead - log_z_);
      if (p == 0) continue;
      add_edge_of_segment(begins.label, begins.signal, event, p, -1);
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

  // A column is in use from where a segment begins to where it ends.
  void add_edge_of_segment(int label, int signal, const LatticeWindow::Event& event, double p, int side) {
    if (signal >= 0)
      add_signal_features(model_, lattice_, source_, *messages_.window, tracks_, event, signal, p, sum_);
    const int column = lattice_.lattice.labels[label].column;
    if (column < 0) return;
    const std::int64_t at = event.boundary - messages_.window->begin;
    occupancy_[at * lattice_.lattice.columns + column] -= side * p;
  }

  // P(a column is in use) at every position, times what the column has there.
  void add_content() {
    const std::size_t columns = lattice_.lattice.columns;
    const std::int64_t begin = messages_.window->begin, end = messages_.window->end;
    for (std::size_t c = 0; c < columns; ++c) {
      const StrandedModel& column = lattice_.columns[c];
      const ContentModel& of = model_.contents[column.model];
      std::vector<double> terms(of.terms.size());
      double p = 0, bases = 0, content = 0;
      for (std::int64_t t = begin; t < end; ++t) {
        const std::size_t i = (t - begin) * columns + c;
        p += occupancy_[i];
        bases += p;
        content += p * messages_.window->content[i];
        for (std::size_t j = 0; j < terms.size(); ++j)
          terms[j] += p * source_.term_at(of.terms[j], column, t, tracks_);
      }
      content -= of.bias * bases;
      for (std::size_t j = 0; j < terms.size(); ++j) {
        content -= of.terms[j].weight * terms[j];
        sum_.content_terms[column.model][j] += terms[j];
      }
      sum_.content[column.model] += content / of.weight;
      sum_.bases[column.model] += bases;
    }
  }

  const GeneModel& model_;
  const GeneLattice& lattice_;
  const SequenceSource& source_;
  double log_z_;
  LatticeMessages messages_;
  TrackWindow tracks_;
  std::vector<double> occupancy_;  // (positions, columns): how it changes there
  GeneFeatures sum_;
};

}  // namespace

GeneFeatures::GeneFeatures(const GeneModel& model)
    : content(model.contents.size()),
      bases(model.contents.size()),
      signals(model.signals.size()),
      lengths(model.lengths.size()),
      transitions(model.transitions.size()) {
  for (const ContentModel& one : model.contents) content_terms.emplace_back(one.terms.size());
  for (const SignalModel& one : model.signals) signal_terms.emplace_back(one.terms.size());
}

double score_of(const GeneModel& model, const GeneFeatures& features) {
  const auto weight = [](const auto& one) { return one.weight; };
  double terms = 0;
  for (std::size_t i = 0; i < model.contents.size(); ++i)
    terms += product(features.content_terms[i], model.contents[i].terms, weight);
  for (std::size_t i = 0; i < model.signals.size(); ++i)
    terms += product(features.signal_terms[i], model.signals[i].terms, weight);
  return terms + product(features.content, model.contents, weight) +
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
                                       const LatticeSource& source, const SequenceSource& sequence) {
  ExpectedGeneFeatures expected{0, GeneFeatures(model)};
  const LatticeMarginals marginals = visit_marginals(
      lattice.lattice, source, 1,
      [&](std::size_t, double log_z, const LatticeMessages& messages) {
        expected.features = WindowExpectations(model, lattice, sequence, log_z, messages).compute();
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
