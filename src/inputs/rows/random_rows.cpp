// Rows of random numbers as inputs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "inputs/rows/row_reader.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

// The raw value whose feature is `feature`, as near as a float comes and within what the transform takes.
float raw_value(const Track& track, double feature) {
  const double value = track.center + track.scale * feature;
  const double limit = std::numeric_limits<float>::max();
  const auto rounded = [&](double raw) { return static_cast<float>(std::clamp(raw, -limit, limit)); };
  switch (track.transform) {
    case Transform::kLog1p:
      return std::max(rounded(std::expm1(value)), std::nextafter(-1.0f, 0.0f));
    case Transform::kBinarize:  // 1 where the feature asked for is not negative
      return rounded(track.threshold + feature);
    case Transform::kAsinh:
      return rounded(std::sinh(value));
    default:
      return rounded(value);
  }
}

class RandomRowReader : public RowReader {
 public:
  RandomRowReader(RandomRows rows, Precision precision)
      : rows_(std::move(rows)), wide_(precision == Precision::kDouble) {}

  std::int64_t rows() const override { return rows_.rows; }
  std::size_t columns() const override { return rows_.columns; }
  std::size_t bytes_per_row() const override {
    return columns() * (wide_ ? sizeof(double) + sizeof(float) : sizeof(float));
  }
  bool can_miss() const override { return false; }

  ScoreArray read(std::int64_t begin, std::int64_t end, RowBuffer& buffer) override {
    buffer.missing.clear();
    buffer.f32.resize(static_cast<std::size_t>(end - begin) * columns());
    fill_random_rows(rows_, begin, end, buffer.f32.data());
    ScoreArray array;
    if (wide_) {
      buffer.f64.assign(buffer.f32.begin(), buffer.f32.end());
      array.f64 = transformed(buffer.f64, begin);
    } else {
      array.f32 = transformed(buffer.f32, begin);
    }
    return array;
  }

 private:
  template <class Value>
  const Value* transformed(std::vector<Value>& values, std::int64_t begin) const {
    if (rows_.tracks.empty()) return values.data();
    if (const auto bad = transform_rows(rows_.tracks, values.data(), values.size() / columns())) {
      const Track& track = rows_.tracks[*bad % columns()];
      throw InputError({"", "row " + std::to_string(begin + static_cast<std::int64_t>(*bad / columns())),
                        transform_problem(track, static_cast<double>(values[*bad])),
                        "no raw value of this track gives an N(0,1) feature; change its center and scale"});
    }
    return values.data();
  }

  RandomRows rows_;
  bool wide_;
};

}  // namespace

void fill_random_rows(const RandomRows& rows, std::int64_t begin, std::int64_t end, float* out) {
  const RandomStream stream(rows.key, kEmissionPurpose);
  const auto columns = static_cast<std::uint64_t>(rows.columns);
  std::uint64_t index = static_cast<std::uint64_t>(begin) * columns;
  const std::uint64_t stop = static_cast<std::uint64_t>(end) * columns;
  std::size_t column = 0;
  while (index < stop) {
    const std::array<double, 2> pair = stream.normals(index / 2);
    for (std::uint64_t half = index % 2; half < 2 && index < stop; ++half, ++index) {
      *out++ =
          rows.tracks.empty() ? static_cast<float>(pair[half]) : raw_value(rows.tracks[column], pair[half]);
      column = column + 1 == rows.columns ? 0 : column + 1;
    }
  }
}

std::unique_ptr<RowReader> make_random_rows(RandomRows rows, Precision precision) {
  return std::make_unique<RandomRowReader>(std::move(rows), precision);
}

}  // namespace semicrf
