#include "genes/text/masked_sequence.h"

#include <algorithm>

namespace semicrf {

std::vector<std::pair<std::int64_t, std::int64_t>> masked_stretches(std::string_view sequence) {
  std::vector<std::pair<std::int64_t, std::int64_t>> masked;
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  for (auto from = sequence.begin(); from != sequence.end();) {
    from = std::find_if(from, sequence.end(), is_lower);
    const auto to = std::find_if_not(from, sequence.end(), is_lower);
    if (from != to) masked.emplace_back(from - sequence.begin(), to - sequence.begin());
    from = to;
  }
  return masked;
}

MaskedSequence::MaskedSequence(const GeneModel& model, const GeneLattice& lattice,
                               const LatticeSource& source,
                               const std::vector<std::pair<std::int64_t, std::int64_t>>& masked,
                               double penalty)
    : source_(&source),
      masked_(&masked),
      columns_(lattice.columns.size()),
      penalty_(static_cast<float>(penalty)) {
  for (std::size_t c = 0; c < columns_; ++c)
    if (model.contents[lattice.columns[c].model].codons) coding_.push_back(c);
}

void MaskedSequence::read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const {
  source_->read(begin, end, window);
  auto stretch = std::partition_point(masked_->begin(), masked_->end(),
                                      [begin](const auto& one) { return one.second <= begin; });
  for (; stretch != masked_->end() && stretch->first < end; ++stretch)
    for (std::int64_t t = std::max(begin, stretch->first); t < std::min(end, stretch->second); ++t)
      for (const std::size_t c : coding_) window.content[(t - begin) * columns_ + c] -= penalty_;
}

}  // namespace semicrf
