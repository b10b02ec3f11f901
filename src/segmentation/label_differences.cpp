#include "segmentation/label_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "core/counts.h"
#include "core/error.h"

namespace semicrf {

double difference_probability(std::span<const double> posteriors, std::size_t labels) {
  double differs = 1;
  for (std::size_t c = 0; c < labels; ++c) {
    double all = 1;
    for (std::size_t at = c; at < posteriors.size(); at += labels) all *= posteriors[at];
    differs -= all;
  }
  return std::clamp(differs, 0.0, 1.0);
}

std::vector<std::uint32_t> likeliest_difference(std::span<const double> posteriors, std::size_t labels) {
  // The most probable label of each condition; where these are all the same, one of them has its second one:
  // that which loses least by it.
  struct BestTwo {
    std::uint32_t first = 0, second = 0;
    double ratio = 0;  // P of the second over P of the first
  };
  std::vector<BestTwo> best;
  for (std::size_t begin = 0; begin < posteriors.size(); begin += labels) {
    const std::span<const double> own = posteriors.subspan(begin, labels);
    BestTwo& one = best.emplace_back(BestTwo{own[1] > own[0] ? 1U : 0U, own[1] > own[0] ? 0U : 1U, 0});
    for (std::uint32_t c = 2; c < labels; ++c) {
      if (own[c] > own[one.first]) {
        one.second = one.first;
        one.first = c;
      } else if (own[c] > own[one.second]) {
        one.second = c;
      }
    }
    one.ratio = own[one.first] > 0 ? own[one.second] / own[one.first] : 0;
  }
  std::vector<std::uint32_t> found;
  for (const BestTwo& one : best) found.push_back(one.first);
  if (std::ranges::adjacent_find(found, std::not_equal_to<>()) != found.end()) return found;
  const auto changed = std::ranges::max_element(best, {}, &BestTwo::ratio);
  found[changed - best.begin()] = changed->second;
  return found;
}

void DifferenceCurve::add(double p, std::int64_t bases) {
  Count& count = cells_[probability_cell(p)];
  count.bases += bases;
  count.same += (1 - p) * static_cast<double>(bases);
}

std::vector<DifferenceCurve::Count> DifferenceCurve::sums() const {
  std::vector<Count> sums = cells_;
  for (std::size_t cell = sums.size() - 1; cell-- > 0;) {
    sums[cell].bases += sums[cell + 1].bases;
    sums[cell].same += sums[cell + 1].same;
  }
  return sums;
}

std::vector<std::vector<char>> mixed_groups(std::size_t first, std::size_t second) {
  const std::size_t all = first + second;
  if (all == 2) return {};
  if (all > kMostReplicates)
    throw UsageError(fmt::format("{} replicates, more than {}", all, kMostReplicates), "give fewer");
  // So many of each condition change their group; with equal sizes and half of them each grouping comes a
  // second time with the groups in the other order.
  const std::size_t exchanged = std::max<std::size_t>(1, (2 * first * second + all) / (2 * all));
  const bool mirrored = first == second && 2 * exchanged == first;
  std::vector<std::vector<char>> found;
  for (std::uint32_t bits = 0; bits < std::uint32_t{1} << all; ++bits) {
    const std::uint32_t of_first = bits & ((std::uint32_t{1} << first) - 1);
    if (static_cast<std::size_t>(std::popcount(bits)) != first ||
        static_cast<std::size_t>(std::popcount(of_first)) != first - exchanged)
      continue;
    if (mirrored && (bits & 1) == 0) continue;
    std::vector<char>& group = found.emplace_back(all);
    for (std::size_t run = 0; run < all; ++run) group[run] = (bits >> run & 1) != 0;
  }
  if (found.size() <= kMostRelabellings) return found;
  std::vector<std::vector<char>> some;
  for (std::size_t i = 0; i < kMostRelabellings; ++i)
    some.push_back(found[i * found.size() / kMostRelabellings]);
  return some;
}

std::vector<DifferenceCurves::Point> DifferenceCurves::points() const {
  const std::vector<DifferenceCurve::Count> found = conditions.sums(), null = mixed.sums();
  std::vector<Point> points;
  for (std::size_t cell = 0; cell < found.size(); ++cell) {
    if (conditions.in(cell).bases == 0) continue;
    Point& point = points.emplace_back();
    const auto bases = static_cast<double>(found[cell].bases);
    point.cell = cell;
    point.bases = found[cell].bases;
    point.same_share = found[cell].same / bases;
    if (relabellings == 0) continue;
    point.null_bases = ratio(null[cell].bases, relabellings);
    point.null_share = std::min(1.0, point.null_bases / bases);
  }
  return points;
}

std::optional<std::size_t> lowest_cell(const DifferenceCurves& curves, double rate) {
  for (const DifferenceCurves::Point& point : curves.points())
    if (point.same_share + point.null_share.value_or(0) <= rate) return point.cell;
  return std::nullopt;
}

}  // namespace semicrf
