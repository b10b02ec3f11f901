#include "genes/tracks/content_terms.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace semicrf {
namespace {

bool knows_codons(const ContentModel& model) {
  return std::any_of(model.terms.begin(), model.terms.end(), [](const TrackTerm& term) {
    return term.track[0] != term.track[1] || term.track[0] != term.track[2];
  });
}

}  // namespace

ContentTerms::ContentTerms(const GeneModel& model, const GeneLattice& lattice)
    : tracks_(model.tracks.size()), columns_(lattice.columns.size()) {
  std::map<std::tuple<int, char, int>, std::size_t> sums;  // model, strand, place in the codon
  for (std::size_t c = 0; c < lattice.columns.size(); ++c) {
    const StrandedModel& column = lattice.columns[c];
    const ContentModel& content = model.contents[column.model];
    if (content.terms.empty()) continue;
    const bool by_codon = knows_codons(content);
    Target target{c, {}};
    for (int base = 0; base < kCodon; ++base) {
      const int place = by_codon ? codon_position(column, base) : 0;
      target.sum[base] = sums.try_emplace({column.model, column.strand, place}, sums.size()).first->second;
    }
    targets_.push_back(target);
  }
  blocks_ = (sums.size() + kLanes - 1) / kLanes;
  weights_.resize(blocks_ * 2 * tracks_);
  for (const auto& [key, sum] : sums) {
    const auto& [content, strand, place] = key;
    for (const TrackTerm& term : model.contents[content].terms) {
      const std::size_t other = (strand == '+') == term.other_strand ? 1 : 0;
      const std::size_t track = term.track[place];
      weights_[(sum / kLanes * 2 + other) * tracks_ + track][sum % kLanes] += static_cast<float>(term.weight);
    }
  }
}

void ContentTerms::add(const TrackWindow& tracks, std::int64_t begin, std::int64_t end,
                       float* content) const {
  if (targets_.empty() || begin == end) return;
  const float *plus = tracks.at('+', begin), *minus = tracks.at('-', begin);
  std::vector<float> sums(blocks_ * kLanes);
  std::size_t base = begin % kCodon;
  for (std::int64_t t = begin; t < end; ++t) {
    const Lanes* weights = weights_.data();
    for (std::size_t block = 0; block < blocks_; ++block) {
      // Two sums: an addition need not wait for the one before it.
      Lanes sum{}, other{};
      for (std::size_t i = 0; i < tracks_; ++i, ++weights) {
        sum += weights[0] * plus[i];
        other += weights[tracks_] * minus[i];
      }
      weights += tracks_;
      sum += other;
      std::memcpy(sums.data() + block * kLanes, &sum, sizeof sum);
    }
    for (const Target& target : targets_) content[target.column] += sums[target.sum[base]];
    base = base == 2 ? 0 : base + 1;
    plus += tracks_, minus += tracks_, content += columns_;
  }
}

}  // namespace semicrf
