// Rows of equal width that lie one after the other: (T, C) scores and messages, (K, C) durations, (C, F)
// weights.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>

namespace semicrf {

// Looks at numbers that someone else owns, and does not know how many rows there are. Indices are signed, so
// that differences of positions need no cast. RowView(array, width) of a vector, a span or a pointer.
template <class Value>
class RowView {
 public:
  RowView(Value* first, std::int64_t width) : first_(first), width_(width) { assert(width > 0); }
  template <class Array>
  RowView(Array& array, std::int64_t width) : RowView(array.data(), width) {}

  std::int64_t width() const { return width_; }
  Value& operator()(std::int64_t row, std::int64_t column) const {
    assert(row >= 0 && column >= 0 && column < width_);
    return first_[row * width_ + column];
  }
  std::span<Value> row(std::int64_t row) const {
    assert(row >= 0);
    return {first_ + row * width_, static_cast<std::size_t>(width_)};
  }

 private:
  Value* first_;
  std::int64_t width_;
};
template <class Value>
RowView(Value*, std::int64_t) -> RowView<Value>;
template <class Array>
RowView(Array& array, std::int64_t) -> RowView<std::remove_pointer_t<decltype(array.data())>>;

}  // namespace semicrf
