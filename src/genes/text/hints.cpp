#include "genes/text/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "genes/text/gff_lines.h"

namespace semicrf {
namespace {

std::optional<HintKind> kind_of(std::string_view kind) {
  if (kind == "intron") return HintKind::kIntron;
  if (kind == "CDS") return HintKind::kCoding;
  if (kind == "start_codon") return HintKind::kStart;
  if (kind == "stop_codon") return HintKind::kStop;
  return std::nullopt;
}

}  // namespace

GeneHints read_hints(const std::string& path) {
  GeneHints hints{path, {}};
  GffLines lines(path);
  for (GffLine line; lines.next(line);) {
    const std::optional<HintKind> kind = kind_of(line.kind);
    if (!kind) continue;
    lines.check_place(line);
    if ((*kind == HintKind::kStart || *kind == HintKind::kStop) && line.end - line.begin != kCodon)
      lines.fail(fmt::format("a {} of {} bases", line.kind, line.end - line.begin), "codons have three");
    hints.of_sequence[std::string(line.sequence)].push_back(
        {*kind, line.strand.front(), line.begin, line.end, lines.line_number()});
  }
  if (hints.of_sequence.empty())
    throw InputError({path, "", "no hints in it", "give lines of intron, CDS, start_codon or stop_codon"});
  for (auto& [name, list] : hints.of_sequence)
    std::stable_sort(list.begin(), list.end(), [](const GeneHint& a, const GeneHint& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
  return hints;
}

HintedSequence::HintedSequence(const GeneModel& model, const GeneLattice& lattice,
                               const LatticeSource& source, const GeneHints& hints, const std::string& name,
                               const HintUse& use, char strand)
    : model_(&model), lattice_(lattice), source_(&source), use_(use) {
  const auto found = hints.of_sequence.find(name);
  if (found == hints.of_sequence.end()) return;
  for (const GeneHint& hint : found->second) {
    if (strand != '.' && hint.strand != strand) continue;
    if (hint.end > source.length())
      throw InputError(hints.path, hint.line, fmt::format("ends at base {} of {}", hint.end, source.length()),
                       "give hints on this sequence");
    if (hint.kind == HintKind::kCoding) {
      coding_.push_back(hint);
      longest_coding_ = std::max(longest_coding_, hint.end - hint.begin);
      continue;
    }
    if (hint.kind == HintKind::kIntron) introns_.push_back(hint);
    add_boundaries(hint);
  }
  std::stable_sort(boundaries_.begin(), boundaries_.end(),
                   [](const Bonus& a, const Bonus& b) { return a.at < b.at; });
  if (use.constraints) {
    lattice_.lattice = constrained_lattice(lattice.lattice);
    constrain(hints.path);
    forbid_other_than_coding();
  }
}

std::uint64_t HintedSequence::signals_of(const char* name, char strand) const {
  std::uint64_t found = 0;
  for (std::size_t s = 0; s < lattice_.signals.size(); ++s) {
    const StrandedModel& signal = lattice_.signals[s];
    if (signal.strand == strand && model_->signals[signal.model].name == name) found |= std::uint64_t{1} << s;
  }
  return found;
}

void HintedSequence::add_boundaries(const GeneHint& hint) {
  const bool plus = hint.strand == '+';
  const auto add = [&](std::int64_t at, const char* name, const char* other = "") {
    boundaries_.push_back({at, signals_of(name, hint.strand) | signals_of(other, hint.strand), hint.line});
  };
  const std::int64_t first = plus ? hint.begin : hint.end, last = plus ? hint.end : hint.begin;
  if (hint.kind == HintKind::kIntron) add(first, "donor", "donor U12"), add(last, "acceptor", "acceptor U12");
  if (hint.kind == HintKind::kStart) add(first, "start");
  if (hint.kind == HintKind::kStop) add(first, "stop"), add(last, "stop end");
}

void HintedSequence::constrain(const std::string& path) {
  LatticeWindow window;
  for (const auto& [at, signals, line] : boundaries_) {
    source_->read(at, at + 1, window);
    const bool stands = at > 0 && at < source_->length() && !window.events.empty() &&
                        window.events.front().boundary == at &&
                        (window.events.front().signals & signals) != 0;
    if (!stands)
      throw InputError(path, line, fmt::format("nothing of this kind can stand at base {}", at + 1),
                       "correct the line, or use --hints-as weights");
    // What several hints name is named by all of them.
    if (!known_.boundaries.empty() && known_.boundaries.back().at == at)
      known_.boundaries.back().signals |= signals;
    else
      known_.boundaries.push_back({at, signals});
  }
  for (const GeneHint& hint : introns_) {
    if (!known_.closed.empty() && known_.closed.back() == std::pair(hint.begin, hint.end)) continue;
    if (!known_.closed.empty() && hint.begin < known_.closed.back().second)
      throw InputError(path, hint.line, "an intron that overlaps another one",
                       "leave one of them out, or use --hints-as weights");
    known_.closed.emplace_back(hint.begin, hint.end);
  }
}

// Two kinds of barriers, one for each strand: at a place that is coding there no segment may lie that is not.
void HintedSequence::forbid_other_than_coding() {
  coding_kind_ = lattice_.lattice.barriers;
  lattice_.lattice.barriers += 2;
  for (std::size_t c = 0; c < lattice_.labels.size(); ++c) {
    const GeneLabel& label = lattice_.labels[c];
    const bool coding = model_->states[label.state].coding;
    for (const char strand : {'+', '-'})
      if (!coding || (label.strand != strand && label.next_strand != strand))
        lattice_.lattice.labels[c].barriers.push_back({coding_kind_ + (strand == '+' ? 0 : 1), 0, 1});
  }
}

// Calls `visit` with the hint and its part within [begin, end).
template <class Visit>
void HintedSequence::visit_coding(std::int64_t begin, std::int64_t end, const Visit& visit) const {
  auto hint = std::lower_bound(coding_.begin(), coding_.end(), begin - longest_coding_,
                               [](const GeneHint& one, std::int64_t at) { return one.begin < at; });
  for (; hint != coding_.end() && hint->begin < end; ++hint)
    if (hint->end > begin) visit(*hint, std::max(hint->begin, begin), std::min(hint->end, end));
}

void HintedSequence::read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const {
  if (coding_kind_ < 0) {
    source_->read(begin, end, window);
    add_scores(window);
    add_content(window);
    return;
  }
  // The barrier of known boundaries stands before the two of this class.
  KnownBoundarySource(coding_kind_ - 1, *source_, known_).read(begin, end, window);
  const std::size_t before = window.places.size();
  visit_coding(begin - kBarrierReach, end + kBarrierReach,
               [&](const GeneHint& hint, std::int64_t from, std::int64_t to) {
                 for (std::int64_t t = from; t < to; ++t)
                   window.places.push_back({t, coding_kind_ + (hint.strand == '+' ? 0 : 1)});
               });
  if (window.places.size() > before)
    std::stable_sort(
        window.places.begin(), window.places.end(),
        [](const LatticeWindow::Place& a, const LatticeWindow::Place& b) { return a.at < b.at; });
}

void HintedSequence::add_scores(LatticeWindow& window) const {
  auto bonus = std::lower_bound(boundaries_.begin(), boundaries_.end(), window.begin,
                                [](const Bonus& one, std::int64_t at) { return one.at < at; });
  auto event = window.events.begin();
  for (; bonus != boundaries_.end() && bonus->at < window.end; ++bonus) {
    event =
        std::lower_bound(event, window.events.end(), bonus->at,
                         [](const LatticeWindow::Event& one, std::int64_t at) { return one.boundary < at; });
    if (event == window.events.end() || event->boundary != bonus->at) continue;
    std::size_t score = event->first;
    for (std::uint64_t left = event->signals; left != 0; left &= left - 1, ++score)
      if ((left & -left & bonus->signals) != 0) window.scores[score] += static_cast<float>(use_.weight);
  }
}

void HintedSequence::add_content(LatticeWindow& window) const {
  const std::size_t columns = lattice_.columns.size();
  visit_coding(window.begin, window.end, [&](const GeneHint& hint, std::int64_t from, std::int64_t to) {
    const auto share = static_cast<float>(use_.weight / static_cast<double>(hint.end - hint.begin));
    for (std::size_t c = 0; c < columns; ++c) {
      const StrandedModel& column = lattice_.columns[c];
      if (column.strand != hint.strand || !model_->contents[column.model].codons) continue;
      for (std::int64_t t = from; t < to; ++t) window.content[(t - window.begin) * columns + c] += share;
    }
  });
}

}  // namespace semicrf
