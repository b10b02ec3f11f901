#include "io/arrays/npy_reader.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "support/catch.h"
#include "support/files/npy_fixture.h"
#include "support/scratch_file.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

std::vector<double> counting(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i) / 4 - 3);
  return values;
}

std::string error_of(const ByteVector& bytes) {
  const ScratchFile scratch(bytes);
  try {
    const NpyArray array = NpyArray::open(scratch.path());
    std::vector<float> row(static_cast<std::size_t>(array.columns()));
    array.read_rows(array.rows() - 1, array.rows(), row.data());
  } catch (const InputError& error) {
    return std::string(error.what()).substr(scratch.path().size());
  }
  return "";
}

std::string dtype_error(const std::string& descr) {
  return error_of(npy_bytes(npy_dictionary(descr, false, "(2, 2)"), ByteVector(64)));
}

std::string shape_error(const std::string& shape, std::size_t bytes) {
  return error_of(npy_bytes(npy_dictionary("'<f4'", false, shape), ByteVector(bytes)));
}

std::string text_error(const std::string& dictionary) {
  return error_of(npy_bytes(dictionary, ByteVector(16)));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <typename Real>
std::string value_error(const std::vector<Real>& values, ValueRule rule) {
  try {
    check_values(std::span<const Real>(values), 3, 100, rule, "x.npy");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("NPY: every layout gives the same rows") {
  const std::size_t rows = 13, columns = 5;
  const std::vector<double> values = counting(rows * columns);
  for (const int bytes : {4, 8}) {
    for (const bool big_endian : {false, true}) {
      for (const bool fortran : {false, true}) {
        for (const int version : {1, 2, 3}) {
          const ScratchFile scratch(npy_array(values, rows, columns, {bytes, big_endian, fortran, version}));
          const NpyArray array = NpyArray::open(scratch.path());
          REQUIRE(array.rows() == 13);
          REQUIRE(array.columns() == 5);
          std::vector<float> singles(4 * columns);
          std::vector<double> doubles(4 * columns);
          array.read_rows(7, 11, singles.data());
          array.read_rows(7, 11, doubles.data());
          for (std::size_t i = 0; i < singles.size(); ++i) {
            REQUIRE(doubles[i] == values[7 * columns + i]);
            REQUIRE(static_cast<double>(singles[i]) == doubles[i]);
          }
          array.read_rows(13, 13, singles.data());
          CHECK_THROWS_AS(array.read_rows(7, 14, singles.data()), std::logic_error);
          const bool in_place = !big_endian && !fortran;
          CHECK((array.data_f32() != nullptr) == (in_place && bytes == 4));
          CHECK((array.data_f64() != nullptr) == (in_place && bytes == 8));
          if (array.data_f32() != nullptr) CHECK(static_cast<double>(array.data_f32()[64]) == values[64]);
          if (array.data_f64() != nullptr) CHECK(array.data_f64()[64] == values[64]);
        }
      }
    }
  }
}

TEST_CASE("NPY: half precision, normal, subnormal and special") {
  ByteWriter data;
  for (const int bits : {0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x83ff, 0x8000, 0x7c00, 0xfc00, 0x7e00}) {
    data.u16(static_cast<std::uint16_t>(bits));
  }
  const ScratchFile scratch(npy_bytes(npy_dictionary("'<f2'", false, "(10,)"), data.take()));
  const NpyArray array = NpyArray::open(scratch.path());
  CHECK(array.columns() == 1);
  std::vector<double> out(10);
  array.read_rows(0, 10, out.data());
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> expected{1, -2, 65504, 0x1p-14, 0x1p-24, -1023 * 0x1p-24, 0, infinity, -infinity};
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(out[i] == expected[i]);
  CHECK(std::signbit(out[6]));
  CHECK(std::isnan(out[9]));
}

TEST_CASE("NPY: one dimension, Python 2 integers, odd spacing and quotes") {
  CHECK(shape_error("(4,)", 16).empty());
  CHECK(shape_error("(4)", 16).empty());
  CHECK(shape_error("(2L, 2L)", 16).empty());
  CHECK(text_error("{\"shape\":(2,2),\"fortran_order\":True,\"descr\":\"<f4\"}").empty());
  const ScratchFile scratch(npy_bytes(npy_dictionary("'<f4'", true, "(4,)"), ByteVector(16)));
  CHECK(NpyArray::open(scratch.path()).data_f32() != nullptr);
}

TEST_CASE("NPY: other dtypes are refused by name") {
  CHECK(contains(dtype_error("'|O'"), "dtype '|O' (Python objects)"));
  CHECK(contains(dtype_error("'<c8'"), "(complex numbers)"));
  CHECK(contains(dtype_error("'<i8'"), "(integers)"));
  CHECK(contains(dtype_error("'|u1'"), "(unsigned integers)"));
  CHECK(contains(dtype_error("'|b1'"), "(booleans)"));
  CHECK(contains(dtype_error("'<U5'"), "(strings)"));
  CHECK(contains(dtype_error("'<M8[ns]'"), "(dates)"));
  CHECK(contains(dtype_error("'<f16'"), "(floating-point numbers of this size)"));
  CHECK(contains(dtype_error("[('a', '<f4'), ('b]', '<i2', (3,))]"), "(a structured type)"));
  CHECK(contains(dtype_error("'|f4'"), "without byte order"));
  CHECK(contains(dtype_error("''"), "an unknown type"));
}

TEST_CASE("NPY: shapes that cannot be, sizes that do not fit") {
  CHECK(contains(shape_error("()", 4), "shape () is not one- or two-dimensional"));
  CHECK(contains(shape_error("(2, 2, 1)", 16), "shape (2, 2, 1) is not one- or two-dimensional"));
  CHECK(contains(shape_error("(0, 4)", 0), "has no positions"));
  CHECK(contains(shape_error("(4, 0)", 0), "has no columns"));
  CHECK(contains(shape_error("(4, 4)", 63), "has 191 bytes, but shape (4, 4) needs 192"));
  CHECK(contains(shape_error("(4, 4)", 65), "needs 192"));
  CHECK(contains(shape_error("(4611686018427387904, 4)", 0), "needs more than 2^64"));
  CHECK(contains(shape_error("(9223372036854775807, 9223372036854775807)", 0), "needs more than 2^64"));
  CHECK(contains(shape_error("(4611686018427387904, 1)", 0), "needs more than 2^64"));
  CHECK(contains(shape_error("(99999999999999999999, 1)", 0), "larger than 2^63 - 1"));
  CHECK(contains(shape_error("(-1, 4)", 0), "expected a dimension"));
}

TEST_CASE("NPY: malformed headers give the byte") {
  CHECK(contains(text_error("{'descr': '<f4', 'fortran_order': False}"), "is missing"));
  CHECK(contains(text_error("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'x': 1}"),
                 "unknown key 'x'"));
  CHECK(contains(text_error("{'descr': '<f4', 'descr': '<f4'}"), "occurs twice"));
  CHECK(contains(text_error("{'descr': '<f4', 'fortran_order': 0, 'shape': (4,)}"), "must be True or False"));
  CHECK(contains(text_error("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x"),
                 "text after the dictionary"));
  CHECK(contains(text_error("{'descr': '<f4"), "unterminated string"));
  CHECK(contains(text_error("{'descr': [('a'"), "unterminated type"));
  CHECK(contains(text_error("{'descr': '<f\\x34'}"), "escape in a string"));
  CHECK(contains(text_error("(1, 2)"), ":10: malformed NPY header: expected '{'"));
  ByteVector version = npy_array({1, 2}, 1, 2);
  version[6] = 4;
  CHECK(contains(error_of(version), ":6: NPY version 4"));
  ByteVector length = npy_array({1, 2}, 1, 2, {4, false, false, 2});
  patch(length, 8, std::uint32_t{0x7fffffff});
  CHECK(contains(error_of(length), "a header of 2147483647 bytes"));
  patch(length, 8, std::uint32_t{70000});
  CHECK(contains(error_of(length), "runs past the end of the file"));
}

TEST_CASE("NPY: a double that single precision cannot hold is refused, infinities pass") {
  std::vector<double> values(6, 1.0);
  values[4] = -1e300;
  const ScratchFile scratch(npy_array(values, 3, 2, {8}));
  const NpyArray array = NpyArray::open(scratch.path());
  std::vector<float> out(6);
  array.read_rows(0, 2, out.data());
  try {
    array.read_rows(0, 3, out.data());
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(contains(error.what(), "row 2, column 0"));
  }
  values[4] = -std::numeric_limits<double>::infinity();
  const ScratchFile other(npy_array(values, 3, 2, {8}));
  NpyArray::open(other.path()).read_rows(0, 3, out.data());
  CHECK(std::isinf(out[4]));
}

TEST_CASE("NPY: a change of size is noticed") {
  const ByteVector bytes = npy_array({1, 2}, 1, 2);
  const ScratchFile scratch(bytes);
  const NpyArray array = NpyArray::open(scratch.path());
  array.require_unchanged();
  scratch.write(ByteVector(bytes.begin(), bytes.end() - 1));
  CHECK_THROWS_AS(array.require_unchanged(), ReadError);
}

TEMPLATE_TEST_CASE("values: each rule refuses its own, naming row and column", "", float, double) {
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  std::vector<TestType> values(30000, std::numeric_limits<TestType>::max());
  values[20000] = nan;  // row 100 + 6666, column 2
  CHECK(value_error(values, ValueRule::kTrack).empty());
  CHECK(contains(value_error(values, ValueRule::kScores), "x.npy:row 6766, column 2: the value is NaN"));
  CHECK(contains(value_error(values, ValueRule::kFinite), "row 6766, column 2: the value is NaN"));
  values[20000] = -infinity;
  CHECK(value_error(values, ValueRule::kScores).empty());
  CHECK(contains(value_error(values, ValueRule::kTrack), "the value is -Inf"));
  CHECK(contains(value_error(values, ValueRule::kFinite), "the value is -Inf"));
  values[20000] = infinity;
  for (const ValueRule rule : {ValueRule::kScores, ValueRule::kTrack, ValueRule::kFinite}) {
    CHECK(contains(value_error(values, rule), "row 6766, column 2: the value is +Inf"));
  }
}

TEST_CASE("NPY: truncated anywhere, or with random flips, an error or a sound read") {
  const unsigned seed = 4242;
  INFO("seed " << seed);
  const ByteVector sound = npy_array(counting(12), 4, 3);
  for (std::size_t length = 0; length < sound.size(); ++length) {
    CHECK(error_of(ByteVector(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(length))) != "");
  }
  std::mt19937 random(seed);
  const char likely[] = "{}()[]'\",:<>0123456789TF \n\\";
  for (int round = 0; round < 4000; ++round) {
    ByteVector bytes = sound;
    for (int i = 0; i < 1 + round % 3; ++i) {
      const std::size_t at = 6 + random() % (bytes.size() - 6);
      bytes[at] = round % 2 == 0 ? static_cast<std::uint8_t>(random())
                                 : static_cast<std::uint8_t>(likely[random() % 27]);
    }
    error_of(bytes);
  }
}
