#include "report/genes/trained_lengths.h"

#include <algorithm>
#include <cmath>

namespace semicrf {

TrainedLengths::TrainedLengths(const LengthModel& law, std::int64_t stop)
    : stop_(stop), log_tail_(law.log_tail), sums_{0} {
  for (const double score : law.table) sums_.push_back(sums_.back() + std::exp(score));
  const bool has_tail = log_tail_ < 0 && std::isfinite(log_tail_) && !law.table.empty();
  if (has_tail) tail_ = std::exp(law.table.back() + log_tail_) / -std::expm1(log_tail_);
  all_ = sums_.back() + tail_;
  if (!std::isfinite(all_)) all_ = 0;
}

double TrainedLengths::below(std::int64_t length) const {
  const std::int64_t k = length - stop_ - 1;  // the longest that is shorter
  const auto longest = std::ssize(sums_) - 1;
  if (k <= 0) return 0;
  if (k <= longest) return sums_[k];
  return sums_.back() + (tail_ > 0 ? tail_ * -std::expm1(static_cast<double>(k - longest) * log_tail_) : 0);
}

double TrainedLengths::share(std::int64_t begin, std::int64_t end) const {
  return (below(end) - below(begin)) / all_;
}

std::int64_t TrainedLengths::quantile(double share) const {
  const double wanted = share * all_;
  const auto found = std::ranges::lower_bound(sums_, wanted);
  if (found != sums_.end()) return stop_ + std::max<std::int64_t>(1, found - sums_.begin());
  const double rest = (all_ - wanted) / tail_;  // share of the tail that is longer
  return stop_ + std::ssize(sums_) - 1 + static_cast<std::int64_t>(std::ceil(std::log(rest) / log_tail_));
}

}  // namespace semicrf
