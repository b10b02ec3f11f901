#include "io/arrays/npz_writer.h"

#include <libdeflate.h>

#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/error.h"

namespace semicrf {
namespace {

constexpr std::uint64_t kVersion = 20;        // 2.0, the least that unpacks it
constexpr std::uint64_t kDay = 1 << 5 | 1;    // 1 January 1980, where the days of zip files begin
constexpr std::uint64_t kMostMembers = 1000;  // far below what the format allows

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
