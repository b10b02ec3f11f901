#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reads/bin_values.h"

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
    const std::size_t size = wide(std::min(grid_.tile_bins(), grid_.bins(chromosome) - first));
    std::vector<std::int64_t> counts(size), control(control_ ? size : 0);
    counts_->read(chromosome, tile, counts);
    if (control_) control_->read(chromosome, tile, control);
    values.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t bin = first + static_cast<std::int64_t>(i), bases = grid_.bases_of(chromosome, bin);
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

}  // namespace semicrf
