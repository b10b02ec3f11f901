#include "genes/signal_sites.h"

#include <algorithm>
#include <bit>

namespace semicrf {
namespace {

constexpr auto make_codes() {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(kUnknownBase);
  constexpr std::string_view kBases = "ACGT", kSmall = "acgt";
  for (std::uint8_t i = 0; i < 4; ++i) codes[kBases[i]] = codes[kSmall[i]] = i;
  codes['U'] = codes['u'] = 3;
  return codes;
}
constexpr std::array<std::uint8_t, 256> kCodes = make_codes();

std::vector<std::vector<int>> codes_of(const std::vector<std::string>& words) {
  std::vector<std::vector<int>> codes;
  for (const std::string& word : words) {
    codes.emplace_back();
    for (const unsigned char letter : word) codes.back().push_back(kCodes[letter]);
  }
  return codes;
}

// What the bases before an intron are of the codon that it splits.
SplitCodon split_codon(int before_last, int last, std::int64_t open) {
  constexpr int kA = 0, kG = 2, kT = 3;
  if (open == 1 && last == kT) return SplitCodon::kT;
  if (open == 2 && before_last == kT && last == kA) return SplitCodon::kTA;
  if (open == 2 && before_last == kT && last == kG) return SplitCodon::kTG;
  return SplitCodon::kOther;
}

}  // namespace

std::vector<std::uint8_t> base_codes(std::string_view sequence) {
  std::vector<std::uint8_t> codes(sequence.size());
  std::transform(sequence.begin(), sequence.end(), codes.begin(), [](unsigned char c) { return kCodes[c]; });
  return codes;
}

SignalSites::SignalSites(const GeneModel& model, const GeneLattice& lattice,
                         const std::vector<std::uint8_t>& bases)
    : model_(&model), lattice_(&lattice), bases_(&bases), codons_(model.genetic_code) {
  for (const SignalModel& signal : model.signals)
    words_.push_back({codes_of(signal.consensus), codes_of(signal.excluded)});
  prepare_triples();
}

void SignalSites::prepare_triples() {
  for (int triple = 0; triple < kUnknownTriple; ++triple) {
    const int a = triple / 16, b = triple / 4 % 4, c = triple % 4;
    stops_[triple] =
        static_cast<std::uint8_t>((is_stop_codon(a, b, c) ? 1 : 0) +
                                  (is_stop_codon(complement(c), complement(b), complement(a)) ? 2 : 0));
  }
  for (std::size_t s = 0; s < lattice_->signals.size(); ++s) {
    const StrandedModel& signal = lattice_->signals[s];
    const std::uint64_t bit = std::uint64_t{1} << s;
    const auto& [words, excluded] = words_[signal.model];
    if (words.front().size() > 3) {
      slow_ |= bit;
      continue;
    }
    if (!excluded.empty() || signal.side.split != SplitCodon::kAny) conditional_ |= bit;
    const bool plus = signal.strand == '+';
    const std::int64_t offset = model_->signals[signal.model].consensus_at;
    const std::int64_t shift = plus ? offset : -offset - 3;
    auto there =
        std::find_if(triples_.begin(), triples_.end(), [&](const auto& one) { return one.shift == shift; });
    if (there == triples_.end()) there = triples_.insert(there, {shift, {}});
    reach_ = std::max(reach_, std::abs(shift));
    for (int triple = 0; triple < 64; ++triple) {
      const int bases[] = {triple / 16, triple / 4 % 4, triple % 4};
      const bool stands = std::any_of(words.begin(), words.end(), [&](const std::vector<int>& word) {
        for (std::size_t i = 0; i < word.size(); ++i)
          if (word[i] != (plus ? bases[i] : complement(bases[2 - i]))) return false;
        return true;
      });
      for (int frame = 0; stands && frame < 3; ++frame)
        if (signal.side.split != SplitCodon::kAny || signal.frame < 0 || signal.frame == frame)
          there->signals[frame][triple] |= bit;
    }
  }
}

bool SignalSites::has_word(const StrandedModel& signal, const std::vector<std::vector<int>>& words,
                           std::int64_t boundary) const {
  const std::int64_t from = model_->signals[signal.model].consensus_at;
  return std::any_of(words.begin(), words.end(), [&](const std::vector<int>& word) {
    for (std::int64_t i = 0; i < std::ssize(word); ++i)
      if (along(boundary, from + i, signal.strand) != word[i]) return false;
    return true;
  });
}

// Whether the codon is a stop codon with the bases behind the intron.
bool SignalSites::becomes_stop(SplitCodon split, int next, int second) const {
  constexpr int kA = 0, kG = 2, kT = 3;
  switch (split) {
    case SplitCodon::kT:
      return is_stop_codon(kT, next, second);
    case SplitCodon::kTA:
      return is_stop_codon(kT, kA, next);
    case SplitCodon::kTG:
      return is_stop_codon(kT, kG, next);
    default:
      return false;
  }
}

bool SignalSites::fits_codon(const StrandedModel& signal, std::int64_t boundary) const {
  const SplitSide& side = signal.side;
  if (side.split == SplitCodon::kAny) return true;
  const auto base = [&](std::int64_t offset) { return along(boundary, offset, signal.strand); };
  if (side.behind) return becomes_stop(side.split, base(0), base(1)) == side.stop;
  const std::int64_t away = signal.strand == '+' ? boundary - signal.frame : signal.frame - boundary;
  return split_codon(base(-2), base(-1), (away % kCodon + kCodon) % kCodon) == side.split;
}

bool SignalSites::stands_at(const StrandedModel& signal, std::int64_t boundary) const {
  const bool framed = signal.frame >= 0 && signal.side.split == SplitCodon::kAny;
  const auto& [words, excluded] = words_[signal.model];
  return (!framed || boundary % kCodon == signal.frame) && has_word(signal, words, boundary) &&
         !has_word(signal, excluded, boundary) && fits_codon(signal, boundary);
}

SignalSites::Reader::Reader(const SignalSites& sites, std::int64_t begin, std::int64_t end)
    : sites_(sites), first_(begin - sites.reach_), triples_(end - begin + 2 * sites.reach_) {
  int known = 0, triple = 0;
  for (std::int64_t t = first_ + std::ssize(triples_) + 1; t >= first_; --t) {
    const int code = sites.base(t);
    known = code == kUnknownBase ? 0 : known + 1;
    triple = code == kUnknownBase ? 0 : triple / 4 + code * 16;
    const std::int64_t at = t - first_;
    if (at < std::ssize(triples_))
      triples_[at] = known >= 3 ? static_cast<std::uint8_t>(triple) : kUnknownTriple;
  }
}

// By the words of three bases, and one by one where these have unknown bases or do not decide.
std::uint64_t SignalSites::Reader::at(std::int64_t boundary) const {
  const std::size_t frame = boundary % kCodon;
  const std::uint8_t* const triples = triples_.data() + (boundary - first_);
  std::uint64_t found = 0;
  unsigned seen = 0;
  for (const TripleSignals& one : sites_.triples_) {
    const std::uint8_t triple = triples[one.shift];
    found |= one.signals[frame][triple];
    seen |= triple;
  }
  std::uint64_t unsure = (seen & kUnknownTriple) != 0 ? ~std::uint64_t{0} : sites_.slow_;
  unsure |= found & sites_.conditional_;
  found &= ~sites_.conditional_;
  if (unsure == 0) return found;
  const std::size_t count = sites_.lattice_->signals.size();
  if (count < 64) unsure &= (std::uint64_t{1} << count) - 1;
  for (; unsure != 0; unsure &= unsure - 1) {
    const int s = std::countr_zero(unsure);
    if (sites_.stands_at(sites_.lattice_->signals[s], boundary)) found |= std::uint64_t{1} << s;
  }
  return found;
}

}  // namespace semicrf
