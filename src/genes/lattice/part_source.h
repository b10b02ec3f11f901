// A part of a sequence as a sequence of its own.
#pragma once

#include <cstdint>

#include "genes/lattice/lattice.h"

namespace semicrf {

class PartSource : public LatticeSource {
 public:
  // Boundaries [begin, end] of the source, which must outlive it.
  PartSource(const LatticeSource& source, std::int64_t begin, std::int64_t end)
      : source_(&source), begin_(begin), end_(end) {}
  std::int64_t length() const override { return end_ - begin_; }
  void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const override {
    source_->read(begin_ + begin, begin_ + end, window);
    window.begin = begin, window.end = end;
    for (LatticeWindow::Event& event : window.events) event.boundary -= begin_;
    for (LatticeWindow::Place& place : window.places) place.at -= begin_;
  }

 private:
  const LatticeSource* source_;
  std::int64_t begin_, end_;
};

}  // namespace semicrf
