// The windows of a source that were read last, kept: sweeps follow each other, turn where they ended, and
// short sequences have few.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "genes/lattice/lattice.h"

namespace semicrf {

class RecentWindows : public LatticeSource {
 public:
  // At most `most` windows are kept. The source must outlive it.
  RecentWindows(const LatticeSource& source, std::size_t most) : source_(&source), most_(most) {}
  std::int64_t length() const override { return source_->length(); }
  void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const override {
    window = *this->window(begin, end);
  }
  std::shared_ptr<const LatticeWindow> window(std::int64_t begin, std::int64_t end) const override;

 private:
  const LatticeSource* source_;
  std::size_t most_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<LatticeWindow>> kept_;  // the last one asked for is the last
};

}  // namespace semicrf
