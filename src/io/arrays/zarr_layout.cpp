#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/arrays/zarr_array.h"
#include "io/arrays/zarr_metadata.h"
#include "io/files/mapped_file.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;  // entries of a dimension
constexpr std::size_t kMostChunkBytes = std::size_t{256} << 20;
constexpr std::size_t kMostText = 1024;  // characters
constexpr JsonLimits kLimits{std::size_t{64} << 20, 64, std::size_t{1} << 22, std::size_t{1} << 20};

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// A metadata file, parsed.
class Metadata {
 public:
  explicit Metadata(std::string path) : path_(std::move(path)) {
    const MappedFile file(path_);
    document_ = parse_json({reinterpret_cast<const char*>(file.bytes().data()), file.size()}, path_, kLimits,
                           "the metadata of a Zarr array");
  }
  JsonNode root() const { return {document_, path_}; }

 private:
  std::string path_;
  Json document_;
};

std::vector<std::int64_t> sizes(const JsonNode& node, std::int64_t least) {
  const std::size_t count = node.list_size("sizes");
  if (count < 1 || count > 2) node.fail(fmt::format("{} dimensions; one or two can be read", count));
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(node.element(i).integer(least, kLargest));
  return list;
}

double fill_value(const JsonNode& node) {
  if (node.is_null()) return 0;
  if (node.json().is_number()) return node.json().get<double>();
  if (node.json().is_boolean()) return node.json().get<bool>() ? 1 : 0;
  const std::string& text = node.text("a number");
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return text.empty() ? 0 : std::numeric_limits<double>::quiet_NaN();
}

[[noreturn]] void fail_codec(const JsonNode& node, const std::string& name) {
  node.fail(in_quotes(name) + " cannot be read",
            "store the array with zstd, gzip, zlib, blosc or without compression");
}

ZarrLayout::Packing packing(const JsonNode& name) {
  using Packing = ZarrLayout::Packing;
  constexpr std::array<std::pair<std::string_view, Packing>, 5> kKnown{{{"gzip", Packing::kGzip},
                                                                        {"zlib", Packing::kZlib},
                                                                        {"numcodecs.zlib", Packing::kZlib},
                                                                        {"zstd", Packing::kZstd},
                                                                        {"blosc", Packing::kBlosc}}};
  for (const auto& [known, which] : kKnown)
    if (name.text() == known) return which;
  fail_codec(name, name.text());
}

// The dtype of version 2: "<f4", ">i8", "<U15".
void parse_type(const JsonNode& node, ZarrLayout& layout) {
  const std::string& text = node.text();
  const auto refuse = [&] {
    node.fail("type " + in_quotes(text) + " cannot be read", "store the array as float32");
  };
  if (text.size() < 3 || text.size() > 6 || std::string_view("<>|").find(text[0]) == std::string_view::npos)
    refuse();
  std::size_t size = 0;
  for (const char c : text.substr(2)) {
    if (c < '0' || c > '9') refuse();
    size = size * 10 + (c - '0');
  }
  layout.big_endian = text[0] == '>';
  const std::string_view kinds = "fiuU";
  const std::size_t kind = kinds.find(text[1]);
  if (kind == kinds.npos) refuse();
  layout.kind = static_cast<ZarrLayout::Kind>(kind);
  const bool numbers = size == 2 || size == 4 || size == 8;
  if (layout.kind == ZarrLayout::Kind::kText    ? size < 1 || size > kMostText
      : layout.kind == ZarrLayout::Kind::kFloat ? !numbers
                                                : !numbers && size != 1)
    refuse();
  layout.item_bytes = layout.kind == ZarrLayout::Kind::kText ? 4 * size : size;
}

// The data_type of version 3: "float32", "int64".
void parse_type_3(const JsonNode& node, ZarrLayout& layout) {
  const auto refuse = [&](const std::string& name) {
    node.fail("type " + name + " cannot be read", "store the array as float32");
  };
  if (!node.is_string()) {
    const auto name = node.find("name");
    refuse(name && name->is_string() ? in_quotes(name->text()) : "that is no text");
  }
  const std::string& text = node.text();
  using Kind = ZarrLayout::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 3> kKnown{
      {{"float", Kind::kFloat}, {"int", Kind::kInteger}, {"uint", Kind::kUnsigned}}};
  for (const auto& [prefix, kind] : kKnown) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view bits = std::string_view(text).substr(prefix.size());
    const std::size_t size = bits == "8" ? 1 : bits == "16" ? 2 : bits == "32" ? 4 : bits == "64" ? 8 : 0;
    if (size == 0 || (size == 1 && kind == Kind::kFloat)) continue;
    layout.kind = kind, layout.item_bytes = size;
    return;
  }
  refuse(in_quotes(text));
}

void parse_2(const JsonNode& root, ZarrLayout& layout) {
  root.at("zarr_format").integer(2, 2);
  layout.shape = sizes(root.at("shape"), 0);
  layout.chunk = sizes(root.at("chunks"), 1);
  parse_type(root.at("dtype"), layout);
  const JsonNode order = root.at("order");
  if (order.text() != "C") order.fail_expected("\"C\"", "store the array in C order");
  if (const auto filters = root.find("filters");
      filters && !filters->is_null() && filters->list_size("filters") > 0) {
    const JsonNode first = filters->element(0);
    fail_codec(first, first.at("id").text());
  }
  if (const JsonNode compressor = root.at("compressor"); !compressor.is_null())
    layout.packing = packing(compressor.at("id"));
  layout.fill = layout.kind == ZarrLayout::Kind::kText ? 0 : fill_value(root.at("fill_value"));
  if (const auto separator = root.find("dimension_separator")) {
    const std::string& text = separator->text();
    if (text != "." && text != "/") separator->fail_expected("\".\" or \"/\"");
    layout.separator = text[0];
  }
}

void parse_codecs_3(const JsonNode& list, ZarrLayout& layout) {
  bool in_bytes = false;
  for (std::size_t i = 0; i < list.list_size("codecs"); ++i) {
    const JsonNode one = list.element(i), name = one.at("name");
    const auto settings = one.find("configuration");
    if (name.text() == "bytes" && !in_bytes) {
      in_bytes = true;
      if (settings)
        if (const auto endian = settings->find("endian")) {
          layout.big_endian = endian->text() == "big";
          if (!layout.big_endian && endian->text() != "little")
            endian->fail_expected("\"little\" or \"big\"");
        }
    } else if (!in_bytes || layout.packing != ZarrLayout::Packing::kNone) {
      fail_codec(name, name.text());
    } else {
      layout.packing = packing(name);
    }
  }
  if (!in_bytes) list.fail("no codec \"bytes\"");
}

void parse_3(const JsonNode& root, ZarrLayout& layout) {
  root.at("zarr_format").integer(3, 3);
  layout.shape = sizes(root.at("shape"), 0);
  const JsonNode grid = root.at("chunk_grid"), grid_name = grid.at("name");
  if (grid_name.text() != "regular") grid_name.fail_expected("\"regular\"");
  layout.chunk = sizes(grid.at("configuration").at("chunk_shape"), 1);
  parse_type_3(root.at("data_type"), layout);
  parse_codecs_3(root.at("codecs"), layout);
  layout.fill = fill_value(root.at("fill_value"));
  const JsonNode encoding = root.at("chunk_key_encoding"), name = encoding.at("name");
  const bool plain = name.text() == "v2";
  if (!plain && name.text() != "default") name.fail_expected("\"default\" or \"v2\"");
  layout.separator = plain ? '.' : '/';
  if (const auto settings = encoding.find("configuration"))
    if (const auto separator = settings->find("separator")) {
      if (separator->text() != "." && separator->text() != "/") separator->fail_expected("\".\" or \"/\"");
      layout.separator = separator->text()[0];
    }
  if (!plain) layout.prefix = std::string("c") + layout.separator;
  if (const auto transformers = root.find("storage_transformers");
      transformers && transformers->list_size("storage transformers") > 0)
    transformers->fail("storage transformers cannot be read");
}

std::string metadata_of(const std::string& folder, const char* old_name) {
  const std::string path = folder + "/" + old_name;
  return is_there(path) ? path : folder + "/zarr.json";
}

}  // namespace

std::size_t ZarrLayout::chunk_bytes() const {
  std::size_t bytes = item_bytes;
  for (const std::int64_t size : chunk) {
    if (static_cast<std::size_t>(size) > kMostChunkBytes / bytes) return kMostChunkBytes + 1;
    bytes *= size;
  }
  return bytes;
}

ZarrNode zarr_node(const std::string& folder) {
  if (is_there(folder + "/.zarray")) return ZarrNode::kArray;
  if (is_there(folder + "/.zgroup")) return ZarrNode::kGroup;
  if (!is_there(folder + "/zarr.json")) return ZarrNode::kNone;
  const Metadata metadata(folder + "/zarr.json");
  const JsonNode type = metadata.root().at("node_type");
  if (type.text() == "array") return ZarrNode::kArray;
  if (type.text() != "group") type.fail_expected("\"array\" or \"group\"");
  return ZarrNode::kGroup;
}

std::optional<std::string> zarr_attribute(const std::string& folder, const char* key) {
  const std::string path = metadata_of(folder, ".zattrs");
  if (!is_there(path)) return std::nullopt;
  const Metadata metadata(path);
  std::optional<JsonNode> attributes = metadata.root();
  if (path.ends_with("/zarr.json")) attributes = attributes->find("attributes");
  const std::optional<JsonNode> value = attributes ? attributes->find(key) : std::nullopt;
  if (!value || !value->is_string()) return std::nullopt;
  return value->text();
}

ZarrLayout read_zarr_layout(const std::string& folder) {
  const Metadata metadata(metadata_of(folder, ".zarray"));
  const JsonNode root = metadata.root();
  ZarrLayout layout;
  if (root.at("zarr_format").integer(2, 3) == 2)
    parse_2(root, layout);
  else
    parse_3(root, layout);
  if (layout.chunk.size() != layout.shape.size())
    root.fail(
        fmt::format("chunks of {} dimensions in an array of {}", layout.chunk.size(), layout.shape.size()));
  if (layout.chunk_bytes() > kMostChunkBytes)
    root.fail(fmt::format("chunks of more than {} MiB", kMostChunkBytes >> 20),
              "store the array in chunks of some 100,000 rows");
  return layout;
}

}  // namespace semicrf
