#include "genes/sequence_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/counts.h"
#include "core/sizes.h"

namespace semicrf {
namespace {

// The strand whose track a term reads for a label on `strand`.
char strand_of(const TrackTerm& term, char strand) {
  return (strand == '+') == term.other_strand ? '-' : '+';
}

}  // namespace

std::vector<int> spliced(const std::vector<std::uint8_t>& bases, const std::vector<CodingExon>& exons,
                         char strand) {
  std::vector<int> joined;
  for (const CodingExon& exon : exons)
    for (std::int64_t t = exon.begin; t < exon.end; ++t) joined.push_back(bases[t]);
  if (strand == '-') {
    std::reverse(joined.begin(), joined.end());
    std::transform(joined.begin(), joined.end(), joined.begin(), complement);
  }
  return joined;
}

SequenceSource::SequenceSource(const GeneModel& model, const GeneLattice& lattice,
                               const std::vector<std::uint8_t>& bases, std::int64_t begin, std::int64_t end,
                               const TrackValues* tracks)
    : model_(&model),
      lattice_(&lattice),
      bases_(&bases),
      sites_(model, lattice, bases),
      begin_(begin),
      end_(end),
      tracks_(tracks),
      content_terms_(model, lattice) {
  if (tracks == nullptr && !model.tracks.empty()) throw std::logic_error("a gene model with tracks has none");
  for (const SignalModel& signal : model.signals)
    for (const TrackTerm& term : signal.terms)
      margin_ = std::max<std::int64_t>(margin_, std::abs(term.at) + 1);
  prepare_content();
  prepare_signals();
}

void SequenceSource::prepare_signals() {
  for (const SignalModel& signal : model_->signals) {
    PreparedSignal made;
    for (const auto& row : signal.log_odds) {
      made.log_odds.push_back({});
      for (std::size_t b = 0; b < 4; ++b) made.log_odds.back()[b] = row[b];
    }
    for (const auto& row : signal.motif) {
      made.motif.push_back({1, 1, 1, 1, 1});  // an unknown base says nothing
      for (std::size_t b = 0; b < 4; ++b) made.motif.back()[b] = std::exp(static_cast<double>(row[b]));
    }
    for (const TrackTerm& term : signal.terms) {
      auto row = std::find_if(made.rows.begin(), made.rows.end(), [&](const TermRow& one) {
        return one.at == term.at && one.other_strand == term.other_strand;
      });
      if (row == made.rows.end())
        row = made.rows.insert(row, {term.at, term.other_strand, std::vector<double>(model_->tracks.size())});
      row->weights[term.track[0]] += term.weight;
    }
    signals_.push_back(std::move(made));
  }
}

double SequenceSource::log_odds(const StrandedModel& signal, std::int64_t boundary,
                                std::vector<MotifOdds>& motifs) const {
  const auto& table = signals_[signal.model].log_odds;
  const std::int64_t first = model_->signals[signal.model].first, step = signal.strand == '+' ? 1 : -1;
  const auto width = std::ssize(table);
  std::int64_t at = signal.strand == '+' ? boundary + first : boundary - 1 - first;
  double sum = 0;
  if (std::min(at, at + step * width) < 0 || std::max(at, at + step * width) >= std::ssize(*bases_)) {
    for (std::int64_t i = 0; i < width; ++i)
      sum += table[i][sites_.along(boundary, first + i, signal.strand)];
  } else if (signal.strand == '+') {
    for (const auto& row : table) sum += row[(*bases_)[at++]];
  } else {
    for (const auto& row : table) sum += row[complement((*bases_)[at--])];
  }
  return sum + motif_odds(signal, boundary, motifs);
}

// The logarithm of the mean odds over the places where the motif may lie.
double SequenceSource::motif_odds(const StrandedModel& signal, std::int64_t boundary,
                                  std::vector<MotifOdds>& motifs) const {
  const SignalModel& model = model_->signals[signal.model];
  if (model.motif.empty()) return 0;
  const bool plus = signal.strand == '+';
  auto made = std::find_if(motifs.begin(), motifs.end(), [&](const MotifOdds& one) {
    return one.model == signal.model && one.strand == signal.strand;
  });
  if (made == motifs.end()) made = motifs.insert(made, {signal.model, signal.strand, boundary, {}});
  const std::int64_t places = model.motif_to - model.motif_from;
  // Those of boundaries before this one may not be made any more; there are none, boundaries ascend.
  const std::int64_t first = plus ? boundary + model.motif_from : boundary - model.motif_to;
  if (made->odds.empty()) made->first = first;
  const auto& rows = signals_[signal.model].motif;
  const auto width = std::ssize(rows);
  for (std::int64_t at = made->first + std::ssize(made->odds); at < first + places; ++at) {
    double product = 1;
    for (std::int64_t i = 0; i < width; ++i)
      product *= rows[i][plus ? sites_.base(at + i) : complement(sites_.base(at - i))];
    made->odds.push_back(product);
  }
  const double* const odds = made->odds.data() + (first - made->first);
  double sums[4] = {0, 0, 0, 0};
  std::int64_t at = 0;
  for (; at + 4 <= places; at += 4)
    for (std::int64_t n = 0; n < 4; ++n) sums[n] += odds[at + n];
  for (; at < places; ++at) sums[0] += odds[at];
  const double mean = ((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<double>(places);
  return std::log(kMissingMotif + (1 - kMissingMotif) * mean);
}

void SequenceSource::read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const {
  window.begin = begin, window.end = end;
  TrackWindow track_window;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      track_window = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  load_tracks(begin, end, track_window);
  fill_content(begin, end, track_window, window);
  const SignalSites::Reader sites(sites_, begin_ + begin, begin_ + end);
  find_events(sites, track_window, window);
  find_stops(sites, window);
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(track_window));
}

TrackWindow SequenceSource::tracks(std::int64_t begin, std::int64_t end) const {
  TrackWindow window;
  load_tracks(begin, end, window);
  return window;
}

void SequenceSource::load_tracks(std::int64_t begin, std::int64_t end, TrackWindow& window) const {
  window.load(tracks_, model_->tracks.size(), std::ssize(*bases_), begin_ + begin, begin_ + end, margin_);
}

double SequenceSource::term_at(const TrackTerm& term, char strand, std::int64_t boundary,
                               const TrackWindow& tracks) const {
  const std::int64_t base = begin_ + boundary;
  const float* values =
      tracks.at(strand_of(term, strand), strand == '+' ? base + term.at : base - 1 - term.at);
  return values == nullptr ? 0 : values[term.track[0]];
}

double SequenceSource::sum_of_terms(const StrandedModel& signal, std::int64_t boundary,
                                    const TrackWindow& tracks) const {
  const std::int64_t base = begin_ + boundary;
  const bool plus = signal.strand == '+';
  double sum = 0;
  for (const TermRow& row : signals_[signal.model].rows) {
    const float* values =
        tracks.at(plus == row.other_strand ? '-' : '+', plus ? base + row.at : base - 1 - row.at);
    if (values == nullptr) continue;
    const std::size_t count = row.weights.size();
    double sums[4] = {0, 0, 0, 0};  // so that an addition need not wait for the one before it
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4)
      for (std::size_t n = 0; n < 4; ++n) sums[n] += row.weights[i + n] * values[i + n];
    for (; i < count; ++i) sums[0] += row.weights[i] * values[i];
    sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  return sum;
}

double SequenceSource::term_at(const TrackTerm& term, const StrandedModel& column, std::int64_t position,
                               const TrackWindow& tracks) const {
  const std::int64_t base = begin_ + position;
  const int codon = codon_position(column, base);
  return tracks.at(strand_of(term, column.strand), base)[term.track[codon]];
}

void SequenceSource::prepare_content() {
  for (const ContentModel& model : model_->contents) {
    const auto weight = static_cast<float>(model.weight), bias = static_cast<float>(model.bias);
    content_scores_.emplace_back();
    for (const std::vector<float>& table : model.tables) {
      content_scores_.back().emplace_back();
      for (const float log_odds : table) content_scores_.back().back().push_back(weight * log_odds + bias);
    }
  }
  for (std::size_t c = 0; c < lattice_->columns.size(); ++c) {
    const StrandedModel& column = lattice_->columns[c];
    const ContentModel& model = model_->contents[column.model];
    auto there = std::find_if(orders_.begin(), orders_.end(),
                              [&](const ContentOrder& one) { return one.order == model.order; });
    if (there == orders_.end()) there = orders_.insert(there, {model.order, {}});
    ContentColumn made{c, column.strand == '+', static_cast<float>(model.bias), {}};
    for (int base = 0; base < kCodon; ++base)
      made.scores[base] = content_scores_[column.model][codon_position(column, base)].data();
    there->columns.push_back(made);
  }
}

void SequenceSource::fill_content(std::int64_t begin, std::int64_t end, const TrackWindow& tracks,
                                  LatticeWindow& window) const {
  const std::size_t columns = lattice_->columns.size();
  window.content.resize((end - begin) * columns);
  const std::int64_t from = begin_ + begin, to = begin_ + end;
  for (const ContentOrder& one : orders_) {
    const int order = one.order, top = 2 * order;
    // The words of the bases from `order` before a position to it, along +, and from it to `order` behind it,
    // along -, and where the last base was that is not known.
    std::size_t plus = 0, minus = 0;
    const std::size_t words = std::size_t{1} << (top + 2);
    std::int64_t unknown_before = from - order - 1, unknown_behind = from - 1;
    const auto take_plus = [&](std::int64_t t) {
      const int code = sites_.base(t);
      if (code == kUnknownBase) unknown_before = t;
      plus = (plus * 4 + (code == kUnknownBase ? 0 : code)) % words;
    };
    const auto take_minus = [&](std::int64_t t) {
      const int code = sites_.base(t);
      if (code == kUnknownBase) unknown_behind = t;
      minus = minus / 4 + (code == kUnknownBase ? 0 : wide(complement(code)) << top);
    };
    for (std::int64_t t = from - order; t < from; ++t) take_plus(t);
    for (std::int64_t t = from; t < from + order; ++t) take_minus(t);
    float* row = window.content.data();
    std::size_t base = from % kCodon;
    for (std::int64_t t = from; t < to; ++t, row += columns) {
      take_plus(t);
      take_minus(t + order);
      const bool plus_known = unknown_before < t - order, minus_known = unknown_behind < t;
      for (const ContentColumn& column : one.columns) {
        const bool known = column.plus ? plus_known : minus_known;
        row[column.column] = known ? column.scores[base][column.plus ? plus : minus] : column.unknown;
      }
      base = base == kCodon - 1 ? 0 : base + 1;
    }
  }
  if (!model_->tracks.empty()) content_terms_.add(tracks, from, to, window.content.data());
}

void SequenceSource::find_events(const SignalSites::Reader& sites, const TrackWindow& tracks,
                                 LatticeWindow& window) const {
  window.events.clear(), window.scores.clear();
  std::vector<MotifOdds> motifs;
  for (std::int64_t t = window.begin; t < window.end; ++t) {
    const std::int64_t boundary = begin_ + t;
    const std::uint64_t signals = sites.at(boundary);
    if (signals == 0 && !lattice_->every_boundary) continue;
    window.events.push_back({t, signals, window.scores.size()});
    const StrandedModel* scored = nullptr;  // frames and split codons do not change a score
    double score = 0;
    for (std::uint64_t left = signals; left != 0; left &= left - 1) {
      const StrandedModel& signal = lattice_->signals[std::countr_zero(left)];
      if (scored == nullptr || scored->model != signal.model || scored->strand != signal.strand) {
        score = model_->signals[signal.model].weight * log_odds(signal, boundary, motifs) +
                sum_of_terms(signal, t, tracks);
        scored = &signal;
      }
      window.scores.push_back(static_cast<float>(score));
    }
  }
}

void SequenceSource::find_stops(const SignalSites::Reader& sites, LatticeWindow& window) const {
  window.places.clear();
  for (std::int64_t t = window.begin - kBarrierReach; t < window.end + kBarrierReach; ++t) {
    const std::int64_t at = begin_ + t;
    const bool plus = sites.is_stop(at, '+'), minus = sites.is_stop(at, '-');
    if (!plus && !minus) continue;
    for (int k = 0; k < count_of(lattice_->stops); ++k) {
      const StrandedModel& stop = lattice_->stops[k];
      if (stop.frame == modulo_codon(at) && (stop.strand == '+' ? plus : minus))
        window.places.push_back({t, k});
    }
  }
}

}  // namespace semicrf
