#include "genes/learn/learn_genes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "core/chain_model.h"
#include "core/counts.h"
#include "core/error.h"
#include "core/threads/parallel.h"
#include "genes/gene_features.h"
#include "genes/gene_path.h"
#include "genes/lattice/known_boundaries.h"
#include "genes/learn/gene_counts.h"
#include "genes/sequence_source.h"
#include "train/fit/lbfgs_fit.h"

namespace semicrf {
namespace {

constexpr std::size_t kFewestGenes = 10;
constexpr double kPenalty = 1;  // half the square of the distance from the start, times this
constexpr double kUnitOfBias = 1e-3;
constexpr double kUnitOfContentTerm = 1e-2, kUnitOfSignalTerm = 0.3;
// The penalty of a group is its norm in these units, rounded off below this.
constexpr double kSmallestGroup = 0.1;
constexpr double kSmallestGain = 1e-6;  // what an iteration must gain, as a share of the log likelihood

// Log odds from which on what is not annotated may still be a gene: one of a transposon, or one that was
// missed. Such stretches are left out; as intergenic sequence they would speak against all genes.
constexpr double kCertainGene = 12;

// A stretch of a sequence without cuts through genes.
struct Piece {
  const AnnotatedSequence* sequence = nullptr;
  std::int64_t begin = 0, end = 0;
  std::vector<CodingTranscript> genes;
  KnownBoundaries known;
};

// What is known of a sequence where a path is: its boundaries, and the signals there. States that differ in
// nothing else (kinds of coding sequence) are all possible. `partial`: between genes nothing is known.
KnownBoundaries constraints_of(const GeneLattice& lattice, const std::vector<LatticeSegment>& path,
                               bool partial) {
  KnownBoundaries known;
  const auto bit = [](int signal) { return signal < 0 ? 0 : std::uint64_t{1} << signal; };
  const auto& labels = lattice.lattice.labels;
  for (std::size_t i = 1; i < path.size(); ++i)
    known.boundaries.push_back(
        {path[i].begin, bit(labels[path[i - 1].label].end_signal) | bit(labels[path[i].label].start_signal)});
  if (!partial) {
    known.closed.emplace_back(0, path.back().end);
    return known;
  }
  for (const LatticeSegment& segment : path) {
    if (lattice.labels[segment.label].state == 0) continue;
    if (!known.closed.empty() && known.closed.back().second == segment.begin)
      known.closed.back().second = segment.end;
    else
      known.closed.emplace_back(segment.begin, segment.end);
  }
  return known;
}

// Also where they touch.
bool overlap(const CodingTranscript& a, const CodingTranscript& b) {
  return a.transcript_begin() <= b.transcript_end() && b.transcript_begin() <= a.transcript_end();
}

// The genes with a base of intergenic sequence on each side; nothing where the grammar does not know them, as
// they lie in the sequence.
std::optional<GeneFeatures> features_of_genes(const GeneModel& model, const GeneLattice& lattice,
                                              const AnnotatedSequence& sequence,
                                              const std::vector<CodingTranscript>& genes) {
  const auto length = std::ssize(sequence.bases);
  const std::int64_t begin = genes.front().transcript_begin() - 1, end = genes.back().transcript_end() + 1;
  if (begin < 0 || end > length) return std::nullopt;
  const auto path = path_of_genes(model, lattice, sequence.bases, genes, begin, end);
  if (!path) return std::nullopt;
  return features_of_path(model, lattice,
                          SequenceSource(model, lattice, sequence.bases, begin, end, sequence.tracks.get()),
                          *path);
}

// The longest of transcripts that overlap, and of others those that the grammar knows beside these.
class TranscriptChoice {
 public:
  TranscriptChoice(const GeneModel& model, const GeneLattice& lattice, const AnnotatedSequence& sequence)
      : model_(model),
        lattice_(lattice),
        sequence_(sequence),
        has_untranslated_(std::any_of(model.states.begin(), model.states.end(),
                                      [](const GeneState& state) { return state.untranslated; })) {}

  std::vector<CodingTranscript> choose(std::vector<CodingTranscript> transcripts, std::int64_t* overlapping) {
    std::stable_sort(
        transcripts.begin(), transcripts.end(),
        [](const CodingTranscript& a, const CodingTranscript& b) { return a.bases() > b.bases(); });
    for (CodingTranscript& one : transcripts) {
      if (!has_untranslated_ ||
          (!one.untranslated.empty() && !features_of_genes(model_, lattice_, sequence_, {one})))
        one.untranslated.clear();
      bool kept = fits(one);
      if (!kept && has_untranslated_) drop_untranslated(one), kept = fits(one);
      if (!kept)
        *overlapping += 1;
      else
        kept_.emplace(one.begin(), std::move(one));
    }
    std::vector<CodingTranscript> chosen;
    for (auto& [begin, one] : kept_) chosen.push_back(std::move(one));
    return chosen;
  }

 private:
  bool fits(const CodingTranscript& one) const {
    // Those kept are in the same order by begin and by end.
    auto next = kept_.upper_bound(one.begin());
    auto first = next;
    while (first != kept_.begin() && overlap(std::prev(first)->second, one)) --first;
    auto last = next;
    while (last != kept_.end() && overlap(last->second, one)) ++last;
    if (first == last) return true;
    if (std::distance(first, next) > 1 || std::distance(next, last) > 1) return false;
    std::vector<CodingTranscript> together;
    for (auto other = first; other != next; ++other) together.push_back(other->second);
    together.push_back(one);
    for (auto other = next; other != last; ++other) together.push_back(other->second);
    return std::none_of(together.begin(), together.end(),
                        [](const CodingTranscript& gene) { return gene.id.empty(); }) &&
           features_of_genes(model_, lattice_, sequence_, together) && fits_outside(first, last, together);
  }
  // Untranslated regions of neighbours often overlap: the transcript and those that it meets lose theirs.
  void drop_untranslated(CodingTranscript& one) {
    const CodingTranscript whole = one;
    one.untranslated.clear();
    for (auto& [begin, other] : kept_)
      if (overlap(other, whole) && (other.end() < one.begin() || one.end() < other.begin()))
        other.untranslated.clear();
  }
  // What the outer ones share with others stays apart from the new one.
  bool fits_outside(auto first, auto last, const std::vector<CodingTranscript>& together) const {
    std::vector<CodingTranscript> wider = together;
    if (first != kept_.begin() && overlap(std::prev(first)->second, first->second))
      wider.insert(wider.begin(), std::prev(first)->second);
    if (last != kept_.end() && overlap(std::prev(last)->second, last->second)) wider.push_back(last->second);
    return wider.size() == together.size() || features_of_genes(model_, lattice_, sequence_, wider);
  }

  const GeneModel& model_;
  const GeneLattice& lattice_;
  const AnnotatedSequence& sequence_;
  bool has_untranslated_;  // the grammar
  std::multimap<std::int64_t, CodingTranscript> kept_;
};

// Divides a sequence at what the grammar does not know.
class PieceMaker {
 public:
  PieceMaker(const GeneModel& model, const GeneLattice& lattice, const std::string& annotation, bool partial,
             LearnGenesResult& result)
      : model_(model), lattice_(lattice), annotation_(annotation), partial_(partial), result_(result) {}

  // `unknown`: stretches that may be genes or not. They do not count as intergenic sequence, and are left out
  // where the annotation is complete.
  CountedSequence add(const AnnotatedSequence& sequence, const std::vector<CodingTranscript>& unknown,
                      std::vector<Piece>& pieces) {
    CountedSequence counted{&sequence.bases, {}, {}};
    const auto length = std::ssize(sequence.bases);
    for (const CodingTranscript& one : sequence.transcripts) {
      counted.masked.push_back({one.transcript_begin(), std::min(one.transcript_end(), length)});
      if (one.transcript_end() > length)
        throw InputError(
            {annotation_, sequence.name,
             fmt::format("transcript {} ends at base {} of {}", one.id, one.transcript_end(), length),
             "give the sequence that the annotation is of"});
    }
    for (const CodingTranscript& one : unknown) counted.masked.push_back({one.begin(), one.end()});
    std::vector<CodingTranscript> all = sequence.transcripts;
    if (!partial_) all.insert(all.end(), unknown.begin(), unknown.end());
    Piece piece{&sequence, 0, 0, {}, {}};
    std::int64_t reached = 0;  // the end of the last transcript
    for (CodingTranscript& one :
         TranscriptChoice(model_, lattice_, sequence).choose(std::move(all), &result_.overlapping)) {
      const std::int64_t middle = (reached + one.transcript_begin()) / 2;
      // A base of intergenic sequence is left on each side of a gene that was skipped.
      if (skipping_) piece.begin = std::min(middle, one.transcript_begin() - 1), skipping_ = false;
      const std::int64_t last_end = std::exchange(reached, one.transcript_end());
      if (!one.id.empty() && features_of_genes(model_, lattice_, sequence, {one})) {
        counted.genes.push_back(one);
        piece.genes.push_back(std::move(one));
        continue;
      }
      if (!one.id.empty()) result_.impossible.push_back(one.id);
      finish(piece, std::max(middle, last_end + 1), pieces);
      skipping_ = true;
    }
    if (!skipping_) finish(piece, length, pieces);
    skipping_ = false;
    return counted;
  }

 private:
  void finish(Piece& piece, std::int64_t end, std::vector<Piece>& pieces) {
    piece.end = end;
    if (piece.begin < piece.end && !piece.genes.empty()) {
      auto path = path_of_genes(model_, lattice_, piece.sequence->bases, piece.genes, piece.begin, piece.end);
      if (path) {
        piece.known = constraints_of(lattice_, *path, partial_);
        pieces.push_back(piece);
      }
    }
    piece.genes.clear();
  }

  const GeneModel& model_;
  const GeneLattice& lattice_;
  const std::string& annotation_;
  bool partial_;
  LearnGenesResult& result_;
  bool skipping_ = false;  // from a gene that is not possible on
};

// Stretches of a piece that the counted model takes for genes with certainty and that overlap none.
std::vector<CodingTranscript> genes_beside(const GeneModel& model, const GeneLattice& lattice,
                                           const Piece& piece) {
  const SequenceSource source(model, lattice, piece.sequence->bases, piece.begin, piece.end,
                              piece.sequence->tracks.get());
  const LatticePath path = best_path(lattice.lattice, source);
  std::vector<CodingTranscript> found;
  for (const PathGene& gene : genes_of_path(model, lattice, path.segments, piece.begin)) {
    const CodingTranscript one{"", "", gene.strand, gene.exons, gene.untranslated};
    const bool overlaps = std::any_of(piece.genes.begin(), piece.genes.end(),
                                      [&](const CodingTranscript& known) { return overlap(one, known); });
    if (overlaps || one.transcript_begin() < piece.begin + 1 || one.transcript_end() >= piece.end) continue;
    const auto features = features_of_genes(model, lattice, *piece.sequence, {one});
    if (features && score_of(model, *features) > kCertainGene) found.push_back(one);
  }
  return found;
}

// The numbers that are fitted: logarithms of weights, which stay positive, biases of content and scores of
// transitions.
struct Parameter {
  double* value = nullptr;
  bool is_weight = false;
  double unit = 1;  // what the optimiser takes for one: about the error that a number is known with
  int group = -1;   // weights of one track in one content or signal, with a penalty of their own
};

std::vector<Parameter> parameters_of(GeneModel& model) {
  std::vector<Parameter> parameters;
  for (ContentModel& one : model.contents)
    parameters.push_back({&one.weight, true}), parameters.push_back({&one.bias, false, kUnitOfBias});
  for (SignalModel& one : model.signals) parameters.push_back({&one.weight, true});
  for (LengthModel& one : model.lengths) parameters.push_back({&one.weight, true});
  for (GeneTransition& one : model.transitions) parameters.push_back({&one.score, false});
  int groups = 0;
  const auto add = [&](std::vector<TrackTerm>& terms, double unit) {
    for (TrackTerm& term : terms) parameters.push_back({&term.weight, false, unit, groups + term.track[0]});
    groups += count_of(model.tracks);
  };
  for (ContentModel& one : model.contents) add(one.terms, kUnitOfContentTerm);
  for (SignalModel& one : model.signals) add(one.terms, kUnitOfSignalTerm);
  return parameters;
}

// Derivatives of the score by the numbers of parameters_of(), in their order.
std::vector<double> derivatives(const GeneFeatures& features) {
  std::vector<double> all;
  for (std::size_t i = 0; i < features.content.size(); ++i)
    all.push_back(features.content[i]), all.push_back(features.bases[i]);
  for (const auto* list : {&features.signals, &features.lengths, &features.transitions})
    all.insert(all.end(), list->begin(), list->end());
  for (const auto* models : {&features.content_terms, &features.signal_terms})
    for (const std::vector<double>& list : *models) all.insert(all.end(), list.begin(), list.end());
  return all;
}

class WeightFit {
 public:
  WeightFit(GeneModel& model, const std::vector<Piece>& pieces, const LearnGenesOptions& options)
      : model_(model), pieces_(pieces), options_(options), parameters_(parameters_of(model)) {
    for (const Parameter& one : parameters_)
      start_.push_back((one.is_weight ? std::log(*one.value) : *one.value) / one.unit);
  }

  void fit(LearnGenesResult& result, const std::function<void(int, double)>& report) {
    double last = std::numeric_limits<double>::infinity();
    MinimiseCalls calls;
    calls.evaluate = [&](std::span<const double> x, std::span<double> gradient) {
      return evaluate(x, gradient);
    };
    calls.iteration = [&](std::span<const double>, double value, double) {
      result.iterations += 1;
      result.log_likelihood = log_likelihood_;
      report(result.iterations, log_likelihood_);
      const bool gains = value <= last - kSmallestGain * std::abs(value);
      last = value;
      return !gains || result.iterations >= options_.iterations;
    };
    minimise(start_, calls);
  }

 private:
  void set(std::span<const double> x) {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      *parameters_[i].value = parameters_[i].is_weight ? std::exp(x[i]) : x[i] * parameters_[i].unit;
  }

  // Minus the log likelihood, with the penalty.
  double evaluate(std::span<const double> x, std::span<double> gradient) {
    set(x);
    const GeneLattice lattice = compile(model_, "");
    GeneLattice constrained = lattice;
    constrained.lattice = constrained_lattice(lattice.lattice);
    std::vector<double> values(pieces_.size());
    std::vector<std::vector<double>> slopes(pieces_.size());
    parallel_for(options_.threads, pieces_.size(), [&](std::size_t i, int) {
      const Piece& piece = pieces_[i];
      const SequenceSource source(model_, lattice, piece.sequence->bases, piece.begin, piece.end,
                                  piece.sequence->tracks.get());
      const KnownBoundarySource known(lattice.lattice.barriers, source, piece.known);
      const ExpectedGeneFeatures truth = expected_features(model_, constrained, known, source);
      if (truth.log_z == kNegativeInfinity) throw std::logic_error("annotated genes are not possible");
      const ExpectedGeneFeatures expected = expected_features(model_, lattice, source, source);
      values[i] = truth.log_z - expected.log_z;
      slopes[i] = derivatives(truth.features);
      const std::vector<double> under_model = derivatives(expected.features);
      for (std::size_t p = 0; p < slopes[i].size(); ++p) slopes[i][p] -= under_model[p];
    });
    log_likelihood_ = std::accumulate(values.begin(), values.end(), 0.0);
    double value = -log_likelihood_;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      double slope = 0;
      for (const std::vector<double>& one : slopes) slope += one[p];
      const double unit = parameters_[p].unit;
      gradient[p] = -unit * slope * (parameters_[p].is_weight ? *parameters_[p].value : 1);
    }
    return value + add_penalties(x, gradient);
  }

  // Half the squared distance from the start, and for groups of tracks their norm (group lasso).
  double add_penalties(std::span<const double> x, std::span<double> gradient) const {
    double penalty = 0;
    const std::vector<double> norms = group_norms(x);
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const Parameter& one = parameters_[p];
      if (one.group >= 0) {
        gradient[p] += options_.group_penalty * x[p] / norms[one.group];
        continue;
      }
      const double away = (x[p] - start_[p]) * one.unit;
      gradient[p] += kPenalty * one.unit * away;
      penalty += 0.5 * kPenalty * away * away;
    }
    return penalty + options_.group_penalty * std::accumulate(norms.begin(), norms.end(), 0.0);
  }

  // The norm of each group in units, rounded off at 0 so that it has a derivative there.
  std::vector<double> group_norms(std::span<const double> x) const {
    std::vector<double> norms;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (parameters_[p].group < 0) continue;
      const std::size_t group = parameters_[p].group;
      if (group >= norms.size()) norms.resize(group + 1, kSmallestGroup * kSmallestGroup);
      norms[group] += x[p] * x[p];
    }
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
  }

  GeneModel& model_;
  const std::vector<Piece>& pieces_;
  const LearnGenesOptions& options_;
  std::vector<Parameter> parameters_;
  std::vector<double> start_;
  double log_likelihood_ = 0;
};

// Every track for every content and signal, with a weight of 0.
void add_tracks(const std::vector<TrackModel>& tracks, GeneModel& model) {
  model.tracks = tracks;
  const auto add = [](std::vector<TrackTerm>& terms, int track, bool other_strand, int at) {
    terms.push_back({{track, track, track}, other_strand, at, 0});
  };
  for (int i = 0; i < count_of(tracks); ++i) {
    for (ContentModel& one : model.contents)
      for (const bool other_strand : {false, true}) add(one.terms, i, other_strand, 0);
    for (SignalModel& one : model.signals)
      for (const int at : {-1, 0}) add(one.terms, i, false, at);
  }
}

// Pieces and what is counted of them, into `model`.
std::vector<Piece> divide(const std::vector<AnnotatedSequence>& sequences,
                          const std::map<const AnnotatedSequence*, std::vector<CodingTranscript>>& unknown,
                          const std::string& annotation, const LearnGenesOptions& options, GeneModel& model,
                          const GeneLattice& lattice, LearnGenesResult& result) {
  std::vector<Piece> pieces;
  std::vector<CountedSequence> counted;
  const GeneModel grammar = model;
  PieceMaker maker(grammar, lattice, annotation, options.partial, result);
  for (const AnnotatedSequence& sequence : sequences) {
    const auto found = unknown.find(&sequence);
    counted.push_back(maker.add(
        sequence, found == unknown.end() ? std::vector<CodingTranscript>{} : found->second, pieces));
  }
  count_genes(counted, options.order, model);
  return pieces;
}

}  // namespace

LearnGenesResult learn_genes(const std::vector<AnnotatedSequence>& sequences, const std::string& annotation,
                             const LearnGenesOptions& options,
                             const std::function<void(int, double)>& report) {
  LearnGenesResult result;
  GeneModel& model = result.model;
  model = gene_grammar(options.grammar, options.parts, options.genetic_code);
  const GeneLattice lattice = compile(model, "");
  std::vector<Piece> pieces = divide(sequences, {}, annotation, options, model, lattice, result);
  std::map<const AnnotatedSequence*, std::vector<CodingTranscript>> unknown;
  const GeneLattice counted = compile(model, "");
  std::vector<std::vector<CodingTranscript>> beside(pieces.size());
  parallel_for(options.threads, pieces.size(),
               [&](std::size_t i, int) { beside[i] = genes_beside(model, counted, pieces[i]); });
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    result.unknown += std::ssize(beside[i]);
    std::vector<CodingTranscript>& list = unknown[pieces[i].sequence];
    list.insert(list.end(), beside[i].begin(), beside[i].end());
  }
  result.overlapping = 0, result.impossible.clear();
  pieces = divide(sequences, unknown, annotation, options, model, lattice, result);
  for (const Piece& piece : pieces) {
    result.genes += std::ssize(piece.genes);
    result.bases += piece.end - piece.begin;
  }
  if (static_cast<std::size_t>(result.genes) < kFewestGenes)
    throw InputError({annotation, "", fmt::format("{} genes that can be learned from", result.genes),
                      "give more sequences, or another --grammar"});
  add_tracks(options.tracks, model);
  // The longest first, so that threads end together.
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.end - a.begin > b.end - b.begin; });
  if (options.iterations > 0) WeightFit(model, pieces, options).fit(result, report);
  return result;
}

}  // namespace semicrf
