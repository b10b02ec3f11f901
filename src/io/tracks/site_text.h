// Text whose lines are sites with two counts, as rows of bins: calls of methylation, reads of two alleles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/tracks/track_text.h"

namespace semicrf {

// Rows are the bins of `bin_size` bases in which a site begins. Formats say what the next site is, and what
// the sites of a bin are together.
class SiteTextReader : public TrackTextReader {
 protected:
  using Counts = std::array<std::int64_t, 2>;  // by column of the text
  struct Site {
    std::string chromosome;
    std::int64_t begin = 0;  // base, from 0
    Counts counts{};
    std::int64_t line = 0;
  };

  SiteTextReader(const TrackText& text, std::span<const std::size_t> columns, std::int64_t bin_size)
      : lines_(text.path), bin_size_(bin_size), columns_(columns.begin(), columns.end()) {}

  // Reads the next site that counts into site_; false at the end.
  virtual bool next_site() = 0;
  // Takes the counts of one more site into those of its bin, which are 0 at first.
  virtual void take(const Counts& site, Counts& bin) const = 0;

  TextLines lines_;
  Site site_;  // the last one that was read

 private:
  bool next_row(TrackRow& row) final {
    if (!has_site_ && !next_site()) return false;
    row.chromosome = site_.chromosome;
    row.begin = site_.begin / bin_size_ * bin_size_;
    row.end = row.begin + bin_size_;
    row.is_bin = true;
    if (row.line == 0) row.file = lines_.path();
    Counts counts{};
    do {
      take(site_.counts, counts);
      row.line = site_.line;
      has_site_ = next_site();
    } while (has_site_ && site_.chromosome == row.chromosome && site_.begin < row.end);
    row.values.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) row.values[i] = static_cast<float>(counts[columns_[i]]);
    return true;
  }

  std::int64_t bin_size_;
  std::vector<std::size_t> columns_;
  bool has_site_ = false;  // whether site_ is in no row yet
};

}  // namespace semicrf
