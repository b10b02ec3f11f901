// Compiled without contraction of a*b+c, so that every machine rounds alike.
#include "inputs/rows/random_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include "core/error.h"
#include "inputs/rows/row_reader.h"
#include "io/text/provenance_header.h"
#include "model/scores/feature_transform.h"

namespace semicrf {

namespace {

constexpr int kRounds = 10;
constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

double uniform(std::uint32_t upper, std::uint32_t lower) {
  const std::uint64_t bits = std::uint64_t{upper} << 32 | lower;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// ln x for normal x > 0: x = m 2^e with m within [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m-1)/(m+1)).
double natural_log(double x) {
  constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 33 bits: its multiples by exponents are exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kRootHalf = 0x1.6a09e667f3bcdp-1;
  constexpr int kTerms = 12;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kRootHalf) {
    mantissa *= 2;
    --exponent;
  }
  const double ratio = (mantissa - 1) / (mantissa + 1);
  const double square = ratio * ratio;
  double series = 0;
  for (int n = kTerms; n >= 1; --n) series = (series + 1.0 / (2 * n + 1)) * square;
  return exponent * kLn2High + (exponent * kLn2Low + 2 * ratio * (1 + series));
}

// cos and sin of 2 pi u for u in [0, 1): Taylor series within an eighth of a turn of the nearest quarter.
std::array<double, 2> cosine_and_sine(double u) {
  constexpr double kHalfPi = 0x1.921fb54442d18p+0;
  constexpr int kTerms = 9;
  const double quarters = std::floor(4 * u + 0.5);
  const double angle = (4 * u - quarters) * kHalfPi;
  const double square = angle * angle;
  double cosine = 0;
  double sine = 0;
  for (int n = kTerms; n >= 1; --n) {
    cosine = (cosine + 1) * (-square / ((2 * n - 1) * (2 * n)));
    sine = (sine + 1) * (-square / ((2 * n) * (2 * n + 1)));
  }
  cosine += 1;
  sine = (sine + 1) * angle;
  switch (static_cast<int>(quarters) % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::uint64_t key) {
  std::uint32_t key0 = low(key);
  std::uint32_t key1 = high(key);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {high(product1) ^ counter[1] ^ key0, low(product1), high(product0) ^ counter[3] ^ key1,
               low(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

std::uint64_t sequence_key(std::uint64_t seed, std::string_view name) {
  const std::string digest = sha256_hex(fmt::format("{}:{}", seed, name));
  return std::stoull(digest.substr(0, 16), nullptr, 16);
}

std::array<double, 2> RandomStream::uniforms(std::uint64_t index) const {
  const auto bits = philox4x32({low(index), high(index), low(purpose_), high(purpose_)}, key_);
  return {uniform(bits[1], bits[0]), uniform(bits[3], bits[2])};
}

std::array<double, 2> RandomStream::normals(std::uint64_t index) const {
  const auto [first, second] = uniforms(index);
  const double radius = std::sqrt(-2 * natural_log(1 - first));
  const auto [cosine, sine] = cosine_and_sine(second);
  return {radius * cosine, radius * sine};
}

// Rows of random numbers as inputs.

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
    buffer.f32.resize((end - begin) * columns());
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
      throw InputError({"", fmt::format("row {}", begin + static_cast<std::int64_t>(*bad / columns())),
                        transform_problem(track, values[*bad]),
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
  const std::uint64_t columns = rows.columns;
  std::uint64_t index = begin * columns;
  const std::uint64_t stop = end * columns;
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
