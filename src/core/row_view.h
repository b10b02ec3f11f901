// Rows of equal width that lie one after the other: (T, C) scores and messages, (K, C) durations, (C, F)
// weights.
#pragma once

#include <cassert>
#include <concepts>
#include <cstdint>
#include <span>

namespace semicrf {

// Looks at numbers that someone else owns, and does not know how many rows there are. Any whole number is an
// index, so that differences of positions and sizes need no cast. RowView(array, width) of a vector, a span
// or a pointer.
template <class Value>
class RowView {
 public:
  RowView(Value* first, std::integral auto width) : first_(first), width_(index(width)) {
    assert(width_ >= 0);
  }
  template <class Array>
  RowView(Array& array, std::integral auto width) : RowView(array.data(), width) {}

  Value& operator()(std::integral auto row, std::integral auto column) const {
    assert(index(row) >= 0 && index(column) >= 0 && index(column) < width_);
    return first_[index(row) * width_ + index(column)];
  }
  std::span<Value> row(std::integral auto row) const {
    assert(index(row) >= 0);
    return {first_ + index(row) * width_, static_cast<std::size_t>(width_)};
  }

 private:
  static constexpr std::int64_t index(std::integral auto number) { return static_cast<std::int64_t>(number); }

  Value* first_;
  std::int64_t width_;
};
template <class Value>
RowView(Value*, std::integral auto) -> RowView<Value>;
template <class Array>
RowView(Array& array, std::integral auto) -> RowView<std::remove_pointer_t<decltype(array.data())>>;

}  // namespace semicrf
