// What tracks add to the columns of content: sums of weighted values, made once for all columns that share
// them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "genes/gene_model.h"
#include "genes/tracks/track_values.h"

namespace semicrf {

class ContentTerms {
 public:
  ContentTerms(const GeneModel& model, const GeneLattice& lattice);
  // Adds the terms at bases [begin, end), which `tracks` holds, to `content`, a row of columns for each base.
  void add(const TrackWindow& tracks, std::int64_t begin, std::int64_t end, float* content) const;

 private:
  // Sums that are computed together, in one register.
  static constexpr std::size_t kLanes = 4;
  using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

  std::size_t tracks_, columns_, blocks_ = 0;
  // (blocks, strands, tracks): the weights of a track in the sums of a block.
  std::vector<Lanes> weights_;
  // Columns that have terms, and which sum is theirs by base modulo 3.
  struct Target {
    std::size_t column = 0;
    std::array<std::size_t, 3> sum{};
  };
  std::vector<Target> targets_;
};

}  // namespace semicrf
