// Features of input tracks with squares, indicators and absences behind.
#include <algorithm>

#include "core/threads/parallel.h"
#include "inputs/rows/row_reader.h"

namespace semicrf {
namespace {

class DerivedRowReader : public RowReader {
 public:
  DerivedRowReader(std::unique_ptr<RowReader> rows, DerivedColumns derived, int threads)
      : rows_(std::move(rows)), derived_(std::move(derived)), threads_(threads) {}

  std::int64_t rows() const override { return rows_->rows(); }
  std::size_t columns() const override { return rows_->columns() + derived_.columns(); }
  // Those of the input tracks are in memory at the same time.
  std::size_t bytes_per_row() const override { return rows_->bytes_per_row() + value_bytes(); }
  std::size_t value_bytes() const override { return rows_->value_bytes() / rows_->columns() * columns(); }
  bool can_miss() const override { return rows_->can_miss(); }
  void count_into(std::shared_ptr<MissingCounter> counter) override { rows_->count_into(std::move(counter)); }

  ScoreArray read(std::int64_t begin, std::int64_t end, RowBuffer& buffer) override {
    const ScoreArray tracks = rows_->read(begin, end, inputs_);
    buffer.missing = inputs_.missing;
    const auto n = static_cast<std::size_t>(end - begin);
    if (tracks.f64 != nullptr) return {nullptr, fill(tracks.f64, n, buffer.f64)};
    return {fill(tracks.f32, n, buffer.f32), nullptr};
  }

 private:
  template <class Value>
  const Value* fill(const Value* from, std::size_t n, std::vector<Value>& to) const {
    constexpr std::size_t kTaskRows = std::size_t{1} << 14;
    const std::size_t inputs = rows_->columns();
    to.resize(n * columns());
    parallel_for(threads_, (n + kTaskRows - 1) / kTaskRows, [&](std::size_t task, int) {
      for (std::size_t i = task * kTaskRows; i < std::min(n, (task + 1) * kTaskRows); ++i)
        derive_row(derived_, inputs, from + i * inputs, to.data() + i * columns());
    });
    return to.data();
  }

  std::unique_ptr<RowReader> rows_;
  DerivedColumns derived_;
  int threads_;
  RowBuffer inputs_;
};

}  // namespace

std::unique_ptr<RowReader> make_derived_rows(std::unique_ptr<RowReader> rows, DerivedColumns derived,
                                             int threads) {
  if (derived.empty()) return rows;
  return std::make_unique<DerivedRowReader>(std::move(rows), std::move(derived), threads);
}

}  // namespace semicrf
