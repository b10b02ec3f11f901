#include "io/arrays/npy_writer.h"

#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

namespace semicrf {
namespace {

// Magic, version 1.0, length of the dictionary, dictionary padded so that the data start at a multiple of 64
// bytes.
std::string npy_header(const NpyShape& shape) {
  std::string dictionary = "{'descr': '";
  dictionary += std::endian::native == std::endian::little ? '<' : '>';
  dictionary += shape.float64 ? "f8" : "f4";
  dictionary += "', 'fortran_order': False, 'shape': (";
  dictionary += std::to_string(shape.rows);
  dictionary += ',';
  if (shape.columns > 0) {
    dictionary += ' ';
    dictionary += std::to_string(shape.columns);
  }
  dictionary += "), }";

  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlignment = 64;
  const std::size_t unpadded = kPrefix + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

template <typename Element>
void append_as(OutputFile& output, std::span<const double> values) {
  constexpr std::size_t kBatch = OutputFile::kMaxReserve / sizeof(Element);
  while (!values.empty()) {
    const auto batch = values.first(std::min(values.size(), kBatch));
    char* out = output.reserve(batch.size() * sizeof(Element));
    for (const double value : batch) {
      const auto element = static_cast<Element>(value);
      std::memcpy(out, &element, sizeof element);
      out += sizeof element;
    }
    output.advance(batch.size() * sizeof(Element));
    values = values.subspan(batch.size());
  }
}

std::int64_t elements_of(const NpyShape& shape) {
  return shape.columns > 0 ? shape.rows * shape.columns : shape.rows;
}

template <typename Element>
void append_bytes(std::string& bytes, std::span<const double> values) {
  for (const double value : values) {
    const auto element = static_cast<Element>(value);
    bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
  }
}

}  // namespace

std::string npy_bytes(const NpyShape& shape, std::span<const double> values) {
  if (elements_of(shape) != static_cast<std::int64_t>(values.size()))
    throw std::logic_error("npy_bytes: the elements do not fill the shape");
  std::string bytes = npy_header(shape);
  bytes.reserve(bytes.size() + values.size() * (shape.float64 ? sizeof(double) : sizeof(float)));
  if (shape.float64) {
    append_bytes<double>(bytes, values);
  } else {
    append_bytes<float>(bytes, values);
  }
  return bytes;
}

NpyWriter::NpyWriter(OutputFile& output, NpyShape shape)
    : output_(output), float64_(shape.float64), missing_elements_(elements_of(shape)) {
  output_.write(npy_header(shape));
}

void NpyWriter::append(std::span<const double> values) {
  missing_elements_ -= static_cast<std::int64_t>(values.size());
  if (float64_) {
    append_as<double>(output_, values);
  } else {
    append_as<float>(output_, values);
  }
}

void NpyWriter::finish() {
  if (missing_elements_ != 0) throw std::logic_error("NpyWriter: the elements do not fill the shape");
}

}  // namespace semicrf
