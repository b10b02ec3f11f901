#include "reads/bin_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace semicrf {

namespace {

class ScaledValues : public BinValues {
 public:
  ScaledValues(const ReadGrid& grid, CountedPart part, const ExcludedBases& excluded,
               std::shared_ptr<const CountStore> counts, std::shared_ptr<const CountStore> control,
               const ValueOptions& options)
      : grid_(grid),
        part_(part),
        excluded_(excluded),
        counts_(std::move(counts)),
        control_(std::move(control)),
        use_(options.control) {
    constexpr double kMillion = 1e6;
    const auto reads = static_cast<double>(counts_->reads());
    const double control_reads = control_ ? static_cast<double>(control_->reads()) : reads;
    const bool cpm = options.scale == CountScale::kCpm;
    const double common = cpm ? kMillion : std::min(reads, control_reads);
    if ((cpm || control_) && reads > 0) factor_ = common / reads;
    if (control_reads > 0) control_factor_ = common / control_reads;
  }

  std::int64_t bins(std::size_t chromosome) const override {
    return counts_->has(chromosome) || (control_ && control_->has(chromosome)) ? grid_.bins(chromosome) : 0;
  }

  void read(std::size_t chromosome, std::int64_t tile, std::vector<float>& values) const override {
    const std::int64_t first = tile * grid_.tile_bins();
    const std::int64_t size = std::min(grid_.tile_bins(), grid_.bins(chromosome) - first);
    std::vector<std::int64_t> counts(size), control(control_ ? size : 0);
    counts_->read(chromosome, tile, counts);
    if (control_) control_->read(chromosome, tile, control);
    values.resize(size);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t bin = first + i, bases = grid_.bases_of(chromosome, bin);
      const double unit = part_ == CountedPart::kDepth ? static_cast<double>(bases) : 1.0;
      const double count = static_cast<double>(counts[i]) / unit * factor_;
      const double value =
          control_ ? against(count, static_cast<double>(control[i]) / unit * control_factor_) : count;
      const bool out = !grid_.wanted.has(chromosome, bin) ||
                       excluded_.any(chromosome, bin * grid_.bin, bin * grid_.bin + bases);
      values[i] = out ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value);
    }
  }

 private:
  double against(double count, double control) const {
    if (use_ == ControlUse::kDifference) return count - control;
    const double ratio = (count + 1) / (control + 1);
    return use_ == ControlUse::kRatio ? ratio : std::log2(ratio);
  }

  const ReadGrid& grid_;
  CountedPart part_;
  const ExcludedBases& excluded_;
  std::shared_ptr<const CountStore> counts_, control_;
  ControlUse use_;
  double factor_ = 1, control_factor_ = 1;
};

}  // namespace

std::unique_ptr<BinValues> scaled_values(const ReadGrid& grid, CountedPart part,
                                         const ExcludedBases& excluded,
                                         std::shared_ptr<const CountStore> counts,
                                         std::shared_ptr<const CountStore> control,
                                         const ValueOptions& options) {
  return std::make_unique<ScaledValues>(grid, part, excluded, std::move(counts), std::move(control), options);
}

namespace {

// Bins [begin, end) of a chromosome, of as many tiles as they lie on; bins that it lacks are 0.
void read_bins(const ReadGrid& grid, const CountStore* store, std::size_t chromosome, std::int64_t begin,
               std::int64_t end, std::vector<std::int64_t>& counts) {
  counts.assign(end - begin, 0);
  if (store == nullptr || !store->has(chromosome)) return;
  const std::int64_t tile_bins = grid.tile_bins();
  std::vector<std::int64_t> tile;
  for (std::int64_t at = begin / tile_bins; at * tile_bins < end; ++at) {
    const std::int64_t first = at * tile_bins;
    tile.resize(std::min(tile_bins, grid.bins(chromosome) - first));
    store->read(chromosome, at, tile);
    const std::int64_t from = std::max(begin, first), to = std::min(end, first + std::ssize(tile));
    std::copy(tile.begin() + (from - first), tile.begin() + (to - first), counts.begin() + (from - begin));
  }
}

// What the tracks of a cell type share.
struct Cell {
  const ReadGrid& grid;
  BinariseOptions options;
  std::vector<std::shared_ptr<const CountStore>> counts, controls;
  bool has_control = false;
  std::vector<char> present;  // by chromosome

  // Bins that are not cut.
  std::int64_t bins(std::size_t chromosome) const { return grid.chromosomes[chromosome].length / grid.bin; }

  // The bins of a tile that are not cut.
  std::pair<std::int64_t, std::int64_t> range(std::size_t chromosome, std::int64_t tile) const {
    const std::int64_t begin = tile * grid.tile_bins();
    return {begin, std::max(begin, std::min(begin + grid.tile_bins(), bins(chromosome)))};
  }

  // Sums of the control over the bins around each, with pseudocounts.
  void read_control(std::size_t track, std::size_t chromosome, std::int64_t begin, std::int64_t end,
                    std::vector<std::int64_t>& sums) const {
    const std::int64_t first = std::max<std::int64_t>(0, begin - options.flank);
    const std::int64_t last = std::min(bins(chromosome), end + options.flank);
    std::vector<std::int64_t> counts_around;
    read_bins(grid, controls[track].get(), chromosome, first, last, counts_around);
    sums.assign(end - begin, 0);
    std::int64_t sum = 0, from = first, to = first;
    for (std::int64_t bin = begin; bin < end; ++bin) {
      for (; to < std::min(last, bin + options.flank + 1); ++to) sum += counts_around[to - first];
      for (; from < bin - options.flank; ++from) sum -= counts_around[from - first];
      sums[bin - begin] = sum + options.pseudocount * (to - from);
    }
  }

  bool has_read(const CountStore* store, std::size_t chromosome) const {
    if (store == nullptr || !store->has(chromosome)) return false;
    std::vector<std::int64_t> tile;
    for (std::int64_t at = 0; at < grid.tiles(chromosome); ++at) {
      const auto [begin, end] = range(chromosome, at);
      read_bins(grid, store, chromosome, begin, end, tile);
      if (std::ranges::any_of(tile, [](std::int64_t count) { return count > 0; })) return true;
    }
    return false;
  }

  void find_present() {
    const auto any = [&](const auto& stores, std::size_t chromosome) {
      return std::ranges::any_of(stores,
                                 [&](const auto& store) { return has_read(store.get(), chromosome); });
    };
    for (std::size_t i = 0; i < grid.chromosomes.size(); ++i)
      present.push_back(any(counts, i) && (!has_control || any(controls, i)) ? 1 : 0);
  }
};

class BinarisedValues : public BinValues {
 public:
  BinarisedValues(std::shared_ptr<const Cell> cell, std::size_t track)
      : cell_(std::move(cell)), track_(track) {
    double reads = 0, background = 0;
    std::int64_t bins_in_all = 0;
    std::vector<std::int64_t> tile;
    const auto add = [&](double& sum) {
      for (const std::int64_t count : tile) sum += static_cast<double>(count);
    };
    for_each_tile([&](std::size_t chromosome, std::int64_t begin, std::int64_t end) {
      read_bins(cell_->grid, cell_->counts[track_].get(), chromosome, begin, end, tile);
      add(reads);
      bins_in_all += end - begin;
      if (!cell_->has_control) return;
      cell_->read_control(track_, chromosome, begin, end, tile);
      add(background);
      for (const std::int64_t value : tile) thresholds_.try_emplace(value, 0);
    });
    if (bins_in_all == 0) return;
    if (!cell_->has_control) {
      threshold_ = binary_threshold(reads / static_cast<double>(bins_in_all), cell_->options);
      return;
    }
    const double ratio = reads / background;
    for (auto& [value, threshold] : thresholds_)
      threshold = value == 0 ? std::max<std::int64_t>(1, std::llround(std::ceil(cell_->options.least)))
                             : binary_threshold(ratio * static_cast<double>(value), cell_->options);
  }

  std::int64_t bins(std::size_t chromosome) const override {
    return cell_->present[chromosome] != 0 ? cell_->bins(chromosome) : 0;
  }

  void read(std::size_t chromosome, std::int64_t tile, std::vector<float>& values) const override {
    const auto [begin, end] = cell_->range(chromosome, tile);
    std::vector<std::int64_t> counts, control;
    read_bins(cell_->grid, cell_->counts[track_].get(), chromosome, begin, end, counts);
    if (cell_->has_control) cell_->read_control(track_, chromosome, begin, end, control);
    values.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::int64_t threshold = cell_->has_control ? thresholds_.at(control[i]) : threshold_;
      values[i] = counts[i] >= threshold ? 1.0F : 0.0F;
    }
  }

 private:
  template <class Visit>
  void for_each_tile(const Visit& visit) const {
    for (std::size_t i = 0; i < cell_->present.size(); ++i)
      for (std::int64_t tile = 0; cell_->present[i] != 0 && tile < cell_->grid.tiles(i); ++tile) {
        const auto [begin, end] = cell_->range(i, tile);
        if (begin < end) visit(i, begin, end);
      }
  }

  std::shared_ptr<const Cell> cell_;
  std::size_t track_;
  std::int64_t threshold_ = 1;
  std::map<std::int64_t, std::int64_t> thresholds_;  // by the value of the control
};

}  // namespace

std::int64_t binary_threshold(double expected, const BinariseOptions& options) {
  double below = 0, log_factorial = 0;  // P(fewer reads)
  std::int64_t count = 0;
  while (below <= 1 - options.tail) {
    below += std::exp(std::log(expected) * static_cast<double>(count) - expected - log_factorial);
    ++count;
    log_factorial += std::log(count);
  }
  if (!options.beyond) --count;
  const auto up = [](double value) { return std::llround(std::ceil(value)); };
  return std::max<std::int64_t>({up(options.fold * expected), count, 1, up(options.least)});
}

std::vector<std::unique_ptr<BinValues>> binarised_values(
    const ReadGrid& grid, const std::vector<std::shared_ptr<const CountStore>>& counts,
    const std::vector<std::shared_ptr<const CountStore>>& controls, const BinariseOptions& options) {
  const auto cell = std::make_shared<Cell>(Cell{grid, options, counts, controls, false, {}});
  cell->has_control = std::ranges::any_of(controls, [](const auto& control) { return control != nullptr; });
  cell->find_present();
  std::vector<std::unique_ptr<BinValues>> values;
  for (std::size_t i = 0; i < counts.size(); ++i)
    values.push_back(std::make_unique<BinarisedValues>(cell, i));
  return values;
}

}  // namespace semicrf
