#include "io/arrays/npy_writer.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/error.h"

namespace semicrf {
namespace {

// Magic, version 1.0, length of the dictionary, dictionary padded so that the data start at a multiple of 64
// bytes.
std::string npy_header(const NpyShape& shape) {
  std::string dictionary = "{'descr': '";
  dictionary += std::endian::native == std::endian::little ? '<' : '>';
  dictionary += shape.float64 ? "f8" : "f4";
  dictionary += "', 'fortran_order': False, 'shape': (";
  dictionary += fmt::to_string(shape.rows);
  dictionary += ',';
  if (shape.columns > 0) {
    dictionary += ' ';
    dictionary += fmt::to_string(shape.columns);
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

constexpr std::uint64_t kVersion = 20;      // 2.0, the least that unpacks it
constexpr std::uint64_t kDay = 1 << 5 | 1;  // 1 January 1980, where the days of zip files begin

// Little-endian numbers, as everywhere in a zip file.
class Record {
 public:
  Record& two(std::uint64_t value) { return number(value, 2); }
  Record& four(std::uint64_t value) { return number(value, 4); }
  Record& text(const std::string& value) {
    bytes_ += value;
    return *this;
  }
  // What the two headers of a member have in common: version, flags, method (stored), time, day, CRC, sizes,
  // length of the name, no extra field.
  Record& member(std::uint32_t crc32, std::uint64_t size, const std::string& name) {
    return two(kVersion)
        .two(0)
        .two(0)
        .two(0)
        .two(kDay)
        .four(crc32)
        .four(size)
        .four(size)
        .two(name.size())
        .two(0);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  std::string bytes_;
};

}  // namespace

std::string npy_bytes(const NpyShape& shape, std::span<const double> values) {
  if (elements_of(shape) != std::ssize(values))
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
  missing_elements_ -= std::ssize(values);
  if (float64_) {
    append_as<double>(output_, values);
  } else {
    append_as<float>(output_, values);
  }
}

void NpyWriter::finish() {
  if (missing_elements_ != 0) throw std::logic_error("NpyWriter: the elements do not fill the shape");
}

void NpzWriter::write(const std::string& bytes) {
  output_.write(bytes);
  written_ += bytes.size();
}

void NpzWriter::add(const std::string& name, const NpyShape& shape, std::span<const double> values) {
  const std::string array = npy_bytes(shape, values);
  Member member{name + ".npy", libdeflate_crc32(0, array.data(), array.size()), array.size(), written_};
  write(Record().four(0x04034b50).member(member.crc32, member.bytes, member.name).text(member.name).bytes());
  write(array);
  members_.push_back(std::move(member));
}

void NpzWriter::finish() {
  if (members_.size() > kMostMembers) throw std::logic_error("NpzWriter: too many members");
  const std::uint64_t begin = written_;
  for (const Member& member : members_)
    write(Record()
              .four(0x02014b50)
              .two(kVersion)
              .member(member.crc32, member.bytes, member.name)
              .two(0)  // no comment, first disk, no attributes
              .two(0)
              .two(0)
              .four(0)
              .four(member.offset)
              .text(member.name)
              .bytes());
  if (written_ > std::numeric_limits<std::uint32_t>::max())
    throw WriteError({output_.path(), "", "the arrays take more than the 4 GiB that an .npz file can hold",
                      "use a model with shorter durations or fewer labels"});
  const std::uint64_t directory = written_ - begin;
  write(Record()
            .four(0x06054b50)
            .two(0)
            .two(0)
            .two(members_.size())
            .two(members_.size())
            .four(directory)
            .four(begin)
            .two(0)
            .bytes());
}

}  // namespace semicrf
