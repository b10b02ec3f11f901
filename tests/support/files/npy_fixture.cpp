#include "support/files/npy_fixture.h"

#include <libdeflate.h>

#include <stdexcept>

namespace semicrf::test {
namespace {

ByteVector deflated(const ByteVector& bytes) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  ByteVector packed(libdeflate_deflate_compress_bound(compressor, bytes.size()));
  packed.resize(
      libdeflate_deflate_compress(compressor, bytes.data(), bytes.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  if (packed.empty()) throw std::runtime_error("cannot compress a member");
  return packed;
}

ByteVector zip64_field(std::uint64_t unpacked, std::uint64_t packed) {
  ByteWriter out;
  out.u16(1);
  out.u16(16);
  out.u64(unpacked);
  out.u64(packed);
  return out.take();
}

// The fields that local header and directory entry share: version to extra length.
void write_common(ByteWriter& out, const ZipMember& member, std::uint32_t crc, std::uint64_t packed,
                  bool sizes, std::size_t extra_bytes) {
  out.u16(member.zip64 ? 45 : 20);
  out.u16(member.sizes_follow ? 8 : 0);
  out.u16(member.deflate ? 8 : 0);
  out.u32(0);  // time and date
  out.u32(sizes ? crc : 0);
  out.u32(!sizes ? 0 : member.zip64 ? 0xffffffff : static_cast<std::uint32_t>(packed));
  out.u32(!sizes ? 0 : member.zip64 ? 0xffffffff : static_cast<std::uint32_t>(member.content.size()));
  out.u16(static_cast<std::uint16_t>(member.name.size()));
  out.u16(static_cast<std::uint16_t>(extra_bytes));
}

}  // namespace

ByteVector npy_bytes(const std::string& dictionary, const ByteVector& data, int version) {
  const std::size_t preamble = version == 1 ? 10 : 12;
  std::string header = dictionary;
  while ((preamble + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  ByteWriter out;
  out.text("\x93NUMPY");
  out.u8(static_cast<std::uint8_t>(version));
  out.u8(0);
  if (version == 1) {
    out.u16(static_cast<std::uint16_t>(header.size()));
  } else {
    out.u32(static_cast<std::uint32_t>(header.size()));
  }
  out.text(header);
  out.raw(data);
  return out.take();
}

std::string npy_dictionary(const std::string& descr, bool fortran_order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

ByteVector npy_array(const std::vector<double>& values, std::size_t rows, std::size_t columns,
                     const NpyLayout& layout) {
  ByteWriter data(layout.big_endian);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = layout.fortran_order ? values[i % rows * columns + i / rows] : values[i];
    if (layout.bytes == 4) {
      data.number(static_cast<float>(value));
    } else {
      data.number(value);
    }
  }
  std::string descr = layout.big_endian ? "'>f" : "'<f";
  descr += std::to_string(layout.bytes);
  descr += "'";
  std::string shape = "(";
  shape += std::to_string(rows) + ", " + std::to_string(columns);
  shape += ")";
  return npy_bytes(npy_dictionary(descr, layout.fortran_order, shape), data.take(), layout.version);
}

ByteVector zip_bytes(const std::vector<ZipMember>& members, ZipLayout* layout_out) {
  ZipLayout layout;
  ByteWriter out;
  ByteWriter directory;
  std::vector<std::size_t> entries;
  for (const ZipMember& member : members) {
    const ByteVector stored = member.deflate ? deflated(member.content) : member.content;
    const std::uint32_t crc = libdeflate_crc32(0, member.content.data(), member.content.size());
    const ByteVector extra = member.zip64 ? zip64_field(member.content.size(), stored.size()) : ByteVector{};
    const std::size_t local = out.size();
    layout.local_headers.push_back(local);
    const bool sizes_first = !member.sizes_follow;
    out.u32(0x04034b50);
    write_common(out, member, crc, stored.size(), sizes_first, sizes_first ? extra.size() : 0);
    out.text(member.name);
    if (sizes_first) out.raw(extra);
    out.raw(stored);
    if (!sizes_first) {
      out.u32(0x08074b50);
      out.u32(crc);
      out.u32(static_cast<std::uint32_t>(stored.size()));
      out.u32(static_cast<std::uint32_t>(member.content.size()));
    }
    entries.push_back(directory.size());
    directory.u32(0x02014b50);
    directory.u16(45);
    write_common(directory, member, crc, stored.size(), true, extra.size());
    directory.zeros(10);  // comment length, disk, attributes
    directory.u32(static_cast<std::uint32_t>(local));
    directory.text(member.name);
    directory.raw(extra);
  }
  const std::size_t begin = out.size();
  for (const std::size_t entry : entries) layout.entries.push_back(begin + entry);
  const ByteVector entries_bytes = directory.take();
  out.raw(entries_bytes);
  layout.end_record = out.size();
  out.u32(0x06054b50);
  out.u32(0);  // disks
  out.u16(static_cast<std::uint16_t>(members.size()));
  out.u16(static_cast<std::uint16_t>(members.size()));
  out.u32(static_cast<std::uint32_t>(entries_bytes.size()));
  out.u32(static_cast<std::uint32_t>(begin));
  out.u16(0);
  if (layout_out != nullptr) *layout_out = layout;
  return out.take();
}

}  // namespace semicrf::test
