// Random numbers by place: the generator's published vectors, distributions, independence of streams.
#include "inputs/rows/random_stream.h"

#include <cmath>
#include <vector>

#include "support/catch.h"

using namespace semicrf;

TEST_CASE("Philox gives the vectors of its authors") {
  using Words = std::array<std::uint32_t, 4>;
  constexpr std::uint32_t kOnes = 0xffffffff;
  CHECK(philox4x32({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({kOnes, kOnes, kOnes, kOnes}, ~std::uint64_t{0}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("keys are the first bytes of a hash of seed and name") {
  CHECK(sequence_key(1, "chr1") != sequence_key(2, "chr1"));
  CHECK(sequence_key(1, "chr1") != sequence_key(1, "chr2"));
  CHECK(sequence_key(1, "1:x") != sequence_key(11, ":x"));
  CHECK(sequence_key(7, "simulated") == 0xe1c9ea9a5817e4ba);  // sha256("7:simulated")
}

TEST_CASE("normal numbers are those of the formula") {
  const RandomStream stream(12345, 3);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto [u, v] = stream.uniforms(i);
    const auto [x, y] = stream.normals(i);
    REQUIRE((u >= 0 && u < 1 && v >= 0 && v < 1));
    const double radius = std::sqrt(-2 * std::log(1 - u));
    const double angle = 2 * std::acos(-1.0) * v;
    REQUIRE(std::fabs(x - radius * std::cos(angle)) < 1e-14 * (1 + radius));
    REQUIRE(std::fabs(y - radius * std::sin(angle)) < 1e-14 * (1 + radius));
  }
}

TEST_CASE("numbers are the same to the bit everywhere") {
  using Pair = std::array<double, 2>;
  const RandomStream stream(sequence_key(1, "simulated"), kEmissionPurpose);
  CHECK(stream.normals(0) == Pair{-0x1.2039b4c109f4cp+0, -0x1.69afb3a560835p-2});
  CHECK(stream.normals(1) == Pair{-0x1.79a548279d145p-1, -0x1.48622777f7404p-5});
  CHECK(stream.normals(std::uint64_t{1} << 40) == Pair{0x1.1fb2936efee64p+0, 0x1.599cb614d4254p-1});
}

TEST_CASE("normal numbers have the moments of N(0,1), streams are not correlated") {
  constexpr int kCount = 200'000;
  const RandomStream stream(sequence_key(1, "x"), kEmissionPurpose);
  const RandomStream other(sequence_key(1, "x"), kDrawPurpose);
  std::array<double, 5> moments{};
  double with_next = 0;
  double with_other = 0;
  double before = 0;
  for (std::uint64_t i = 0; i < kCount / 2; ++i) {
    const auto foreign = other.normals(i);
    const auto own = stream.normals(i);
    for (std::size_t j = 0; j < 2; ++j) {
      for (int power = 1; power <= 4; ++power)
        moments[static_cast<std::size_t>(power)] += std::pow(own[j], power);
      with_next += own[j] * before;
      with_other += own[j] * foreign[j];
      before = own[j];
    }
  }
  const double limit = 4 / std::sqrt(static_cast<double>(kCount));  // four standard errors
  CHECK(std::fabs(moments[1] / kCount) < limit);
  CHECK(std::fabs(moments[2] / kCount - 1) < limit * std::sqrt(2.0));
  CHECK(std::fabs(moments[3] / kCount) < limit * std::sqrt(15.0));
  CHECK(std::fabs(moments[4] / kCount - 3) < limit * std::sqrt(96.0));
  CHECK(std::fabs(with_next / kCount) < limit);
  CHECK(std::fabs(with_other / kCount) < limit);
}
