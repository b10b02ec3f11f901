#include "genes/lattice/recent_windows.h"

#include <algorithm>

namespace semicrf {

void RecentWindows::read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const {
  std::shared_ptr<const LatticeWindow> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const auto& one) { return one->begin == begin && one->end == end; });
    if (found != kept_.end()) {
      known = *found;
      std::rotate(found, found + 1, kept_.end());
    }
  }
  if (known) {
    window = *known;
    return;
  }
  source_->read(begin, end, window);
  known = std::make_shared<const LatticeWindow>(window);
  const std::lock_guard lock(mutex_);
  if (kept_.size() == most_) kept_.erase(kept_.begin());
  kept_.push_back(std::move(known));
}

}  // namespace semicrf
