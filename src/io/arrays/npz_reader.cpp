#include "io/arrays/npz_reader.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/text/names.h"
#include "core/text/utf8.h"
#include "io/files/byte_view.h"
#include "io/files/input_kind.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

constexpr std::uint32_t kEndMagic = 0x06054b50;
constexpr std::uint32_t kEnd64Magic = 0x06064b50;
constexpr std::uint32_t kEnd64LocatorMagic = 0x07064b50;
constexpr std::uint32_t kEntryMagic = 0x02014b50;
constexpr std::uint32_t kLocalMagic = 0x04034b50;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kEnd64Bytes = 56;
constexpr std::uint64_t kEnd64LocatorBytes = 20;
constexpr std::uint64_t kEntryBytes = 46;
constexpr std::uint64_t kLocalBytes = 30;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the true value stands in the zip64 field
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kSizesFollow = 8;  // local header holds no sizes; they follow the data
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint64_t kMaxDeflateRatio = 1032;  // 258 bytes from 2 bits

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

std::uint64_t find_end_record(const ByteView& view) {
  const char* what = "the end of the zip directory";
  if (view.size() >= kEndBytes) {
    const std::uint64_t last = view.size() - kEndBytes;
    const std::uint64_t lowest = last > 65535 ? last - 65535 : 0;
    for (std::uint64_t at = last + 1; at-- > lowest;) {
      if (view.number<std::uint32_t>(at, what) != kEndMagic) continue;
      if (at + kEndBytes + view.number<std::uint16_t>(at + 20, what) == view.size()) return at;
    }
  }
  throw InputError({view.file(), "", "the zip archive has no directory", "the file is truncated or damaged"});
}

Directory find_directory(const ByteView& view) {
  const char* what = "the end of the zip directory";
  const std::uint64_t at = find_end_record(view);
  if (view.number<std::uint16_t>(at + 4, what) != 0 || view.number<std::uint16_t>(at + 6, what) != 0) {
    view.fail(at, "the archive is split into several files");
  }
  Directory directory{view.number<std::uint32_t>(at + 16, what), view.number<std::uint32_t>(at + 12, what),
                      view.number<std::uint16_t>(at + 10, what)};
  std::uint64_t end = at;
  const bool is_64 = directory.offset == kIn64 || directory.bytes == kIn64 || directory.entries == 0xffff;
  if (is_64 && at >= kEnd64LocatorBytes &&
      view.number<std::uint32_t>(at - kEnd64LocatorBytes, what) == kEnd64LocatorMagic) {
    end = view.number<std::uint64_t>(at - kEnd64LocatorBytes + 8, what);
    view.slice(end, kEnd64Bytes, what);
    if (view.number<std::uint32_t>(end, what) != kEnd64Magic)
      view.fail(end, "the zip64 end record is missing here");
    directory = {view.number<std::uint64_t>(end + 48, what), view.number<std::uint64_t>(end + 40, what),
                 view.number<std::uint64_t>(end + 32, what)};
  }
  if (directory.offset > end || directory.bytes != end - directory.offset) {
    view.fail(at, "the zip directory is not where the archive says");
  }
  if (directory.entries > directory.bytes / kEntryBytes)
    view.fail(at, "the zip directory has too many entries for its size");
  return directory;
}

// Sizes and offset of a member; those that are 2^32 - 1 are replaced from the zip64 field in `extra`.
struct MemberSizes {
  std::uint64_t unpacked = 0;
  std::uint64_t packed = 0;
  std::uint64_t local_offset = 0;
};

void apply_zip64(const ByteView& view, std::uint64_t extra, std::uint64_t extra_bytes, MemberSizes& sizes) {
  const char* what = "a zip64 field";
  std::vector<std::uint64_t*> wanted;
  for (std::uint64_t* size : {&sizes.unpacked, &sizes.packed, &sizes.local_offset}) {
    if (*size == kIn64) wanted.push_back(size);
  }
  if (wanted.empty()) return;
  const std::uint64_t end = extra + extra_bytes;
  for (std::uint64_t at = extra; end - at >= 4;) {
    const auto id = view.number<std::uint16_t>(at, what);
    const std::uint64_t bytes = view.number<std::uint16_t>(at + 2, what);
    at += 4;
    if (bytes > end - at) break;
    if (id == 1) {
      if (bytes < 8 * wanted.size()) break;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        *wanted[i] = view.number<std::uint64_t>(at + 8 * i, what);
      return;
    }
    at += bytes;
  }
  view.fail(extra, "a zip64 field is missing or malformed");
}

struct Entry {
  NpzMember member;
  std::uint64_t local_offset = 0;
  std::uint64_t end = 0;  // one past its data
};

std::string member_name(const ByteView& view, std::uint64_t at, std::string_view full) {
  constexpr std::string_view kSuffix = ".npy";
  std::string name(full);
  if (text_fault(name) != TextFault::kNone)
    throw InputError({view.file(), fmt::to_string(at),
                      "the name of the member '" + shortened(name, 60) + "': " + name_problem(name),
                      "save the archive with other names"});
  if (!full.ends_with(kSuffix)) {
    throw InputError({view.file(), fmt::to_string(at), "member '" + name + "' is not a .npy array",
                      "write the archive with numpy.savez"});
  }
  name.resize(name.size() - kSuffix.size());
  if (name.empty()) view.fail(at, "a member has an empty name");
  return name;
}

// The local header must tell the same as the directory's entry. Sets where the data is.
void check_local_header(const ByteView& view, std::string_view name, std::uint16_t flags, Entry& entry) {
  const char* what = "a zip member's header";
  const std::uint64_t at = entry.local_offset;
  view.slice(at, kLocalBytes, what);
  if (view.number<std::uint32_t>(at, what) != kLocalMagic) view.fail(at, "expected a zip member here");
  const std::uint64_t name_bytes = view.number<std::uint16_t>(at + 26, what);
  const std::uint64_t extra_bytes = view.number<std::uint16_t>(at + 28, what);
  const auto local_name = view.slice(at + kLocalBytes, name_bytes, what);
  view.slice(at + kLocalBytes + name_bytes, extra_bytes, what);
  if (!std::equal(local_name.begin(), local_name.end(), name.begin(), name.end(),
                  [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); })) {
    view.fail(at, "a member's name differs from its name in the directory");
  }
  const auto method = view.number<std::uint16_t>(at + 8, what);
  const auto local_flags = view.number<std::uint16_t>(at + 6, what);
  if (method != (entry.member.deflated ? kDeflated : kStored))
    view.fail(at, "a member's compression differs from what the directory states");
  if ((local_flags & (kEncrypted | kSizesFollow)) != (flags & (kEncrypted | kSizesFollow))) {
    view.fail(at, "a member's flags differ from what the directory states");
  }
  if ((flags & kSizesFollow) == 0) {
    MemberSizes sizes{view.number<std::uint32_t>(at + 22, what), view.number<std::uint32_t>(at + 18, what),
                      0};
    apply_zip64(view, at + kLocalBytes + name_bytes, extra_bytes, sizes);
    if (sizes.unpacked != entry.member.array_bytes || sizes.packed != entry.member.stored_bytes ||
        view.number<std::uint32_t>(at + 14, what) != entry.member.crc32) {
      view.fail(at, "a member's sizes or checksum differ from what the directory states");
    }
  }
  entry.member.data_offset = at + kLocalBytes + name_bytes + extra_bytes;
  view.slice(entry.member.data_offset, entry.member.stored_bytes, "a zip member");
  entry.end = entry.member.data_offset + entry.member.stored_bytes;
}

void check_sizes(const ByteView& view, std::uint64_t at, const NpzMember& member) {
  if (!member.deflated && member.array_bytes != member.stored_bytes) {
    view.fail(at, "stored member '" + member.name + "' has two different sizes");
  }
  if (member.deflated && member.array_bytes / kMaxDeflateRatio > member.stored_bytes) {
    view.fail(at, fmt::format("member '{}' claims {} bytes, more than {} compressed bytes can hold",
                              member.name, member.array_bytes, member.stored_bytes));
  }
}

// Reads the entry at `at` and moves `at` past it.
Entry read_entry(const ByteView& view, std::uint64_t& at) {
  const char* what = "the zip directory";
  view.slice(at, kEntryBytes, what);
  if (view.number<std::uint32_t>(at, what) != kEntryMagic)
    view.fail(at, "expected a zip directory entry here");
  const auto flags = view.number<std::uint16_t>(at + 8, what);
  const auto method = view.number<std::uint16_t>(at + 10, what);
  const std::uint64_t name_bytes = view.number<std::uint16_t>(at + 28, what);
  const std::uint64_t extra_bytes = view.number<std::uint16_t>(at + 30, what);
  const std::uint64_t comment_bytes = view.number<std::uint16_t>(at + 32, what);
  const auto raw_name = view.slice(at + kEntryBytes, name_bytes, what);
  view.slice(at + kEntryBytes + name_bytes, extra_bytes + comment_bytes, what);
  const std::string full(raw_name.begin(), raw_name.end());

  Entry entry;
  entry.member.name = member_name(view, at, full);
  if ((flags & kEncrypted) != 0) view.fail(at, "member '" + entry.member.name + "' is encrypted");
  if (method != kStored && method != kDeflated) {
    view.fail(at, fmt::format("member '{}' has compression method {}, expected stored or deflated",
                              entry.member.name, method));
  }
  entry.member.deflated = method == kDeflated;
  entry.member.crc32 = view.number<std::uint32_t>(at + 16, what);
  MemberSizes sizes{view.number<std::uint32_t>(at + 24, what), view.number<std::uint32_t>(at + 20, what),
                    view.number<std::uint32_t>(at + 42, what)};
  apply_zip64(view, at + kEntryBytes + name_bytes, extra_bytes, sizes);
  entry.member.array_bytes = sizes.unpacked;
  entry.member.stored_bytes = sizes.packed;
  entry.local_offset = sizes.local_offset;
  check_sizes(view, at, entry.member);
  check_local_header(view, full, flags, entry);
  at += kEntryBytes + name_bytes + extra_bytes + comment_bytes;
  return entry;
}

// Members may not share bytes with each other or with the directory: that is how archives grow without limit.
void check_no_overlap(const ByteView& view, std::vector<Entry> entries, const Directory& directory) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.local_offset < b.local_offset; });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t limit = i + 1 < entries.size() ? entries[i + 1].local_offset : directory.offset;
    if (entries[i].end > limit)
      view.fail(entries[i].local_offset,
                "member '" + entries[i].member.name + "' overlaps the next member or the directory");
  }
}

std::shared_ptr<std::uint8_t[]> allocate(const std::string& name, std::uint64_t bytes) {
  try {
    return std::make_shared_for_overwrite<std::uint8_t[]>(bytes);
  } catch (const std::bad_alloc&) {
    throw MemoryError(
        {name, "", fmt::format("cannot allocate {} bytes", bytes), "store the arrays as .npy files"});
  }
}

// The bytes lie in `file`, or in memory where it is null. A large array is not to be in memory as a whole for
// this.
std::uint32_t checksum(std::span<const std::uint8_t> bytes, const MappedFile* file) {
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  const bool large = file != nullptr && bytes.size() > kPiece;
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    sum = libdeflate_crc32(sum, piece.data(), piece.size());
    if (large) file->let_go(piece);
  }
  return sum;
}

}  // namespace

NpzFile NpzFile::open(const std::string& path) {
  NpzFile npz;
  npz.file_ = std::make_shared<const MappedFile>(path);
  require_input_kind(InputKind::kNpz, path, npz.file_->bytes());
  const ByteView view(npz.file_->bytes(), path, false);
  const Directory directory = find_directory(view);
  if (directory.entries == 0)
    throw InputError({path, "", "the archive has no members", "store at least one array"});

  std::vector<Entry> entries;
  std::unordered_set<std::string> names;
  std::uint64_t at = directory.offset;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const std::uint64_t begin = at;
    entries.push_back(read_entry(view, at));
    if (!names.insert(entries.back().member.name).second) {
      view.fail(begin, "member '" + entries.back().member.name + "' occurs twice");
    }
  }
  if (at != directory.offset + directory.bytes)
    view.fail(at, "the zip directory's size does not match its entries");
  check_no_overlap(view, entries, directory);
  for (Entry& entry : entries) npz.members_.push_back(std::move(entry.member));
  return npz;
}

const std::string& NpzFile::path() const { return file_->path(); }

NpyArray NpzFile::load(std::size_t index, std::uint64_t memory_limit) const {
  const NpzMember& member = members_.at(index);
  const std::string name = path() + "[" + member.name + "]";
  const auto damaged = [&](const std::string& what) {
    throw InputError({name, fmt::to_string(member.data_offset), what, "the file is damaged"});
  };
  file_->require_unchanged();
  const auto packed = file_->bytes().subspan(member.data_offset, member.stored_bytes);
  std::span<const std::uint8_t> bytes = packed;
  std::shared_ptr<const void> owner = file_;
  if (member.deflated) {
    if (member.array_bytes > memory_limit) {
      throw MemoryError(
          {name, "",
           fmt::format("unpacking needs {} bytes, {} are allowed", member.array_bytes, memory_limit),
           "store the array as a .npy file, which is read in place"});
    }
    const auto unpacked = allocate(name, member.array_bytes);
    const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(
        libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
    if (!decompressor) throw std::bad_alloc();
    std::size_t read = 0, written = 0;
    const libdeflate_result result =
        libdeflate_deflate_decompress_ex(decompressor.get(), packed.data(), packed.size(), unpacked.get(),
                                         member.array_bytes, &read, &written);
    if (result != LIBDEFLATE_SUCCESS || written != member.array_bytes || read != packed.size()) {
      damaged("the compressed data does not unpack to the size the directory states");
    }
    bytes = {unpacked.get(), member.array_bytes};
    owner = unpacked;
  }
  if (checksum(bytes, member.deflated ? nullptr : file_.get()) != member.crc32)
    damaged("the checksum of the array is wrong");
  return NpyArray::from_bytes(bytes, std::move(owner), name, member.deflated ? nullptr : file_);
}

std::optional<NpyArray> NpzFile::load_numbers(std::size_t index) const {
  try {
    return load(index);
  } catch (const NotNumbers&) {
    return std::nullopt;
  }
}

}  // namespace semicrf
