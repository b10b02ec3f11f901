#include "io/arrays/npy_writer.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using test::TempFolder;

std::string npy_bytes(NpyShape shape, const std::vector<double>& values) {
  const TempFolder folder;
  OutputFile output({folder / "out.npy"});
  NpyWriter writer(output, shape);
  const std::size_t half = values.size() / 2;
  writer.append(std::span(values).first(half));
  writer.append(std::span(values).subspan(half));
  writer.finish();
  output.commit();
  return test::read_file(folder / "out.npy");
}

template <typename Element>
std::vector<Element> elements_of(const std::string& bytes, std::size_t header) {
  std::vector<Element> elements((bytes.size() - header) / sizeof(Element));
  std::memcpy(elements.data(), bytes.data() + header, elements.size() * sizeof(Element));
  return elements;
}

TEST_CASE("an NPY file has the header NumPy writes and the elements in order") {
  std::vector<double> values;
  for (int i = 0; i < 6000; ++i) values.push_back(i / 3.0);
  const std::string bytes = npy_bytes({2000, 3, true}, values);
  constexpr std::size_t kHeader = 128;
  REQUIRE(bytes.size() == kHeader + values.size() * sizeof(double));
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]) == kHeader - 10);
  CHECK(bytes.substr(10, 63) == "{'descr': '<f8', 'fortran_order': False, 'shape': (2000, 3), } ");
  CHECK(bytes[kHeader - 1] == '\n');
  CHECK(elements_of<double>(bytes, kHeader) == values);
}

TEST_CASE("a one-dimensional float32 NPY file") {
  const std::string bytes = npy_bytes({3, 0, false}, {0.1, 0.2, 0.3});
  CHECK(bytes.find("'<f4', 'fortran_order': False, 'shape': (3,), }") != std::string::npos);
  CHECK(elements_of<float>(bytes, 128) == std::vector<float>{0.1f, 0.2f, 0.3f});
}

TEST_CASE("an NPY file that is not filled is a bug") {
  CHECK_THROWS_AS(npy_bytes({4, 0, false}, {1, 2, 3}), std::logic_error);
  CHECK_THROWS_AS(npy_bytes({1, 2, false}, {1, 2, 3}), std::logic_error);
}

}  // namespace
}  // namespace semicrf
