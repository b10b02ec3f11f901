#include "genes/lattice/recent_windows.h"

#include <algorithm>

namespace semicrf {

std::shared_ptr<const LatticeWindow> RecentWindows::window(std::int64_t begin, std::int64_t end) const {
  std::shared_ptr<LatticeWindow> made;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const auto& one) { return one->begin == begin && one->end == end; });
    if (found != kept_.end()) {
      std::rotate(found, found + 1, kept_.end());
      return kept_.back();
    }
    if (kept_.size() == most_) {
      made = std::move(kept_.front());
      kept_.erase(kept_.begin());
    }
  }
  // Memory of the oldest, unless somebody still has it.
  if (made == nullptr || made.use_count() > 1) made = std::make_shared<LatticeWindow>();
  source_->read(begin, end, *made);
  const std::lock_guard lock(mutex_);
  if (kept_.size() == most_) kept_.erase(kept_.begin());
  kept_.push_back(made);
  return made;
}

}  // namespace semicrf
