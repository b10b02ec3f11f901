// Zarr stores: every compression, both versions, what GeneCAD writes, and damage.
#include <fmt/format.h>
#include <libdeflate.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include "core/error.h"
#include "genes/tracks/track_file.h"
#include "io/arrays/zarr_array.h"
#include "support/catch.h"
#include "support/seeds.h"
#include "support/temp_folder.h"

#ifdef SEMICRF_ZSTD
#include <zstd.h>
#endif
#ifdef SEMICRF_BLOSC
#include <blosc.h>
#endif

namespace semicrf {
namespace {

using test::TempFolder;
using test::write_file;

constexpr std::int64_t kBases = 23, kTracks = 5;

float value_at(char strand, std::int64_t base, std::int64_t track) {
  return static_cast<float>(base * 8 + track) + (strand == '-' ? 0.5F : 0);
}

template <class Value>
std::string bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

std::string deflated(const std::string& plain, bool gzip) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
  std::string packed(plain.size() + 100, '\0');
  packed.resize((gzip ? libdeflate_gzip_compress : libdeflate_zlib_compress)(
      compressor, plain.data(), plain.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  return packed;
}

// Packed as the codec `name` does; the program and its tests are built with the same libraries.
std::string pack(const std::string& name, const std::string& plain) {
  if (name == "gzip" || name == "zlib") return deflated(plain, name == "gzip");
  std::string packed(plain.size() + 200, '\0');
#ifdef SEMICRF_ZSTD
  if (name == "zstd") {
    packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
    return packed;
  }
#endif
#ifdef SEMICRF_BLOSC
  if (name == "blosc") {
    packed.resize(static_cast<std::size_t>(
        blosc_compress_ctx(5, 1, 4, plain.size(), plain.data(), packed.data(), packed.size(), "lz4", 0, 1)));
    return packed;
  }
#endif
  return plain;
}

std::vector<std::string> codecs() {
  std::vector<std::string> names{"", "gzip", "zlib"};
#ifdef SEMICRF_ZSTD
  names.push_back("zstd");
#endif
#ifdef SEMICRF_BLOSC
  names.push_back("blosc");
#endif
  return names;
}

struct StoreOptions {
  int version = 2;
  std::string codec;
  std::string type = "f4";  // f4 or f8
  char separator = '.';
  std::int64_t chunk_rows = 7, chunk_columns = 3;
  std::string fill = "0";
};

std::string metadata(const StoreOptions& options, std::int64_t rows = kBases,
                     std::int64_t columns = kTracks) {
  if (options.version == 2)
    return fmt::format(
        R"({{"zarr_format": 2, "shape": [{}, {}], "chunks": [{}, {}], "dtype": "<{}", "compressor": {}, "fill_value": {}, "order": "C", "filters": null, "dimension_separator": "{}"}})",
        rows, columns, options.chunk_rows, options.chunk_columns, options.type,
        options.codec.empty() ? "null" : "{\"id\": \"" + options.codec + "\"}", options.fill,
        options.separator);
  return fmt::format(
      R"({{"zarr_format": 3, "node_type": "array", "shape": [{}, {}], "data_type": "{}", "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{}, {}]}}}}, "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "{}"}}}}, "fill_value": {}, "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}{}]}})",
      rows, columns, options.type == "f4" ? "float32" : "float64", options.chunk_rows, options.chunk_columns,
      options.separator, options.fill,
      options.codec.empty() ? "" : ", {\"name\": \"" + options.codec + "\", \"configuration\": {}}");
}

// The values of a strand as an array in `folder`.
void write_array(const std::string& folder, char strand, const StoreOptions& options) {
  std::filesystem::create_directories(folder);
  write_file(folder + (options.version == 2 ? "/.zarray" : "/zarr.json"), metadata(options));
  for (std::int64_t r = 0; r * options.chunk_rows < kBases; ++r)
    for (std::int64_t c = 0; c * options.chunk_columns < kTracks; ++c) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < options.chunk_rows; ++i)
        for (std::int64_t j = 0; j < options.chunk_columns; ++j)
          values.push_back(static_cast<double>(
              value_at(strand, r * options.chunk_rows + i, c * options.chunk_columns + j)));
      const std::string plain = options.type == "f8"
                                    ? bytes_of(values)
                                    : bytes_of(std::vector<float>(values.begin(), values.end()));
      std::string name = fmt::format("{}{}{}", r, options.separator, c);
      if (options.version == 3) name = fmt::format("c{}{}", options.separator, name);
      std::filesystem::create_directories(std::filesystem::path(folder + "/" + name).parent_path());
      write_file(folder + "/" + name, pack(options.codec, plain));
    }
}

void write_store(const std::string& folder, const StoreOptions& options) {
  write_array(folder + "/a+", '+', options);
  write_array(folder + "/a-", '-', options);
}

void check_values(const TrackValues& values) {
  for (const auto& [begin, end] :
       {std::pair<std::int64_t, std::int64_t>{0, kBases}, {6, 8}, {20, 23}, {7, 14}})
    for (const char strand : {'+', '-'}) {
      std::vector<float> out(static_cast<std::size_t>((end - begin) * kTracks));
      values.read(strand, begin, end, out.data());
      for (std::int64_t t = begin; t < end; ++t)
        for (std::int64_t i = 0; i < kTracks; ++i)
          REQUIRE(out[static_cast<std::size_t>((t - begin) * kTracks + i)] == value_at(strand, t, i));
    }
}

TEST_CASE("arrays of Zarr stores are read, whatever their chunks and compression") {
  for (const int version : {2, 3})
    for (const std::string& codec : codecs())
      for (const char separator : {'.', '/'})
        for (const auto& [rows, columns] :
             {std::pair<std::int64_t, std::int64_t>{7, 3}, {100, 5}, {1, 1}, {8, 9}}) {
          CAPTURE(version, codec, separator, rows, columns);
          const TempFolder folder;
          write_store(folder.path(),
                      {version, codec, rows == 7 ? "f8" : "f4", separator, rows, columns, "0"});
          const auto file = open_zarr_tracks(folder.path());
          REQUIRE(file->count() == kTracks);
          check_values(*file->open("a", kBases));
          CHECK_THROWS_WITH(file->open("a", kBases + 1), test::holds("shape (23, 5)"));
          CHECK_THROWS_WITH(file->open("b", kBases), test::holds("no sequence b"));
        }
}

TEST_CASE("chunks that are not there hold the fill value") {
  for (const int version : {2, 3}) {
    const TempFolder folder;
    StoreOptions options{version, "", "f4", '.', 7, 5, "-3.5"};
    write_store(folder.path(), options);
    const std::string chunk = version == 2 ? "1.0" : "c.1.0";
    std::filesystem::remove(folder / ("a+/" + chunk));
    std::vector<float> out(kBases * kTracks);
    open_zarr_tracks(folder.path())->open("a", kBases)->read('+', 0, kBases, out.data());
    CHECK(out[7 * kTracks - 1] == value_at('+', 6, 4));
    CHECK(out[7 * kTracks] == -3.5F);
    CHECK(out[14 * kTracks - 1] == -3.5F);
    CHECK(out[14 * kTracks] == value_at('+', 14, 0));
    options.fill = "\"NaN\"";
    write_file(folder / (version == 2 ? "a+/.zarray" : "a+/zarr.json"), metadata(options));
    open_zarr_tracks(folder.path())->open("a", kBases)->read('+', 7, 8, out.data());
    CHECK(std::isnan(out[0]));
  }
}

// A part of what GeneCAD wrote: `logits` of the bases that are listed.
void write_part(const std::string& folder, const std::string& strand, const std::vector<std::int64_t>& bases,
                const std::vector<float>& logits) {
  const auto array = [&](const std::string& name, const std::string& shape, const std::string& type,
                         const std::string& key, const std::string& bytes) {
    std::filesystem::create_directories(folder + "/" + name);
    write_file(
        folder + "/" + name + "/.zarray",
        fmt::format(
            R"({{"zarr_format": 2, "shape": [{0}], "chunks": [{0}], "dtype": "{1}", "compressor": null, "fill_value": null, "order": "C", "filters": null}})",
            shape, type));
    write_file(folder + "/" + name + "/" + key, bytes);
  };
  array("feature_logits", fmt::format("{}, 2", bases.size()), "<f4", "0.0", bytes_of(logits));
  array("sequence", std::to_string(bases.size()), "<i8", "0", bytes_of(bases));
  std::vector<std::uint32_t> names(2 * 6);
  for (std::size_t i = 0; i < 6; ++i) names[i] = static_cast<std::uint32_t>("intron"[i]);
  names[6] = 'c', names[7] = 0x3b1;
  array("feature", "2", "<U6", "0", bytes_of(names));
  write_file(folder + "/.zgroup", R"({"zarr_format": 2})");
  write_file(folder + "/.zattrs", R"({"strand": ")" + strand + R"(", "chromosome_id": "chr1"})");
}

TEST_CASE("predictions of GeneCAD are probabilities where their coordinates say") {
  const TempFolder folder;
  const auto logits = [](const std::vector<std::int64_t>& bases, float more) {
    std::vector<float> values;
    for (const std::int64_t base : bases)
      values.insert(values.end(), {static_cast<float>(base) + more, more});
    return values;
  };
  const std::vector<std::int64_t> all{0, 1, 2, 3, 4}, left{0, 1}, right{3, 4, 2};
  write_part(folder / "predictions.0.zarr/positive", "positive", all, logits(all, 100));
  write_part(folder / "predictions.0.zarr/negative", "negative", right, logits(right, -2));
  write_part(folder / "predictions.1.zarr/negative", "negative", left, logits(left, 7));
  const auto file = open_zarr_tracks(folder.path());
  CHECK(file->names() == std::vector<std::string>{"intron", "c\xce\xb1"});
  const auto values = file->open("chr1", 5);
  for (const char strand : {'+', '-'})
    for (const auto& [begin, end] : {std::pair<std::int64_t, std::int64_t>{0, 5}, {1, 4}}) {
      std::vector<float> out(static_cast<std::size_t>(2 * (end - begin)));
      values->read(strand, begin, end, out.data());
      for (std::int64_t t = begin; t < end; ++t) {
        const float wanted = 1 / (1 + std::exp(-static_cast<float>(t)));
        CHECK(std::abs(out[static_cast<std::size_t>(2 * (t - begin))] - wanted) < 1e-6F);
        CHECK(std::abs(out[static_cast<std::size_t>(2 * (t - begin) + 1)] - (1 - wanted)) < 1e-6F);
      }
    }
  CHECK_THROWS_WITH(file->open("chr1", 6), test::holds("bases 0 to 5 of 6"));
  CHECK_THROWS_WITH(file->open("chr1", 4), test::holds("row 4 is base 4 of a sequence of 4"));
  std::filesystem::remove_all(folder / "predictions.1.zarr");
  CHECK_THROWS_WITH(open_zarr_tracks(folder.path())->open("chr1", 5), test::holds("bases 0 to 0 of 5"));
  write_part(folder / "predictions.1.zarr/negative", "negative", {0, 2}, logits(left, 7));
  CHECK_THROWS_WITH(open_zarr_tracks(folder.path())->open("chr1", 5), test::holds("bases 0 to 1 of 5"));
}

TEST_CASE("damaged Zarr stores are refused with a line") {
  const auto message = [](const TempFolder& folder) -> std::string {
    try {
      std::vector<float> out(kBases * kTracks);
      open_zarr_tracks(folder.path())->open("a", kBases)->read('+', 0, kBases, out.data());
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing is wrong";
  };
  const auto with = [&](int version, const std::string& from, const std::string& to) {
    const TempFolder folder;
    const StoreOptions options{version, "", "f4", '.', 7, 5, "0"};
    write_store(folder.path(), options);
    std::string text = metadata(options);
    REQUIRE(text.find(from) != text.npos);
    text.replace(text.find(from), from.size(), to);
    write_file(folder / (version == 2 ? "a+/.zarray" : "a+/zarr.json"), text);
    return message(folder);
  };
  CHECK(with(2, "null", "null") == "nothing is wrong");
  CHECK_THAT(with(2, "[23, 5]", "[24, 5]"), test::holds("a+: shape (24, 5) where"));
  CHECK_THAT(with(2, "[23, 5]", "[-1, 5]"), test::holds("/shape/0: expected an integer"));
  CHECK_THAT(with(2, "[23, 5]", "[23, 5, 1]"), test::holds("/shape: 3 dimensions"));
  CHECK_THAT(with(2, "[23, 5]", "[1e300, 5]"), test::holds("/shape/0: expected an integer"));
  CHECK_THAT(with(2, "[7, 5]", "[0, 5]"), test::holds("/chunks/0: expected an integer"));
  CHECK_THAT(with(2, "[7, 5]", "[7]"), test::holds("chunks of 1 dimensions in an array of 2"));
  CHECK_THAT(with(2, "[7, 5]", "[900000000, 900000000]"), test::holds("chunks of more than 256 MiB"));
  CHECK_THAT(with(2, "[7, 5]", "[8, 5]"), test::holds("a+/0.0: has 140 bytes where a chunk has 160"));
  CHECK_THAT(with(2, "<f4", "<f3"), test::holds("/dtype: type \"<f3\" cannot be read"));
  CHECK_THAT(with(2, "<f4", "<i4"), test::holds("holds no floating-point numbers"));
  CHECK_THAT(with(2, "\"C\"", "\"F\""), test::holds("/order: expected \"C\""));
  CHECK_THAT(with(2, "null", R"({"id": "lzma"})"), test::holds("\"lzma\" cannot be read"));
  CHECK_THAT(with(2, "\"filters\": null", R"("filters": [{"id": "delta"}])"),
             test::holds("\"delta\" cannot be read"));
  CHECK_THAT(with(2, "\".\"", "\"../\""), test::holds("/dimension_separator: expected \".\""));
  CHECK_THAT(with(2, "[23, 5]", "[23, 5"), test::holds("not valid JSON"));
  CHECK_THAT(with(2, "[23, 5]", "[23, 5"), test::holds("the metadata of a Zarr array is JSON"));
  CHECK_THAT(with(3, "\"bytes\"", "\"sharding_indexed\""),
             test::holds("\"sharding_indexed\" cannot be read"));
  CHECK_THAT(with(3, "float32", "complex64"), test::holds("/data_type: type \"complex64\" cannot be read"));
  CHECK_THAT(with(3, "\"little\"", "\"middle\""), test::holds("expected \"little\" or \"big\""));
  CHECK_THAT(with(3, "\"regular\"", "\"rectilinear\""), test::holds("expected \"regular\""));
  CHECK_THAT(with(3, "\"array\"", "\"tree\""), test::holds("expected \"array\" or \"group\""));
  const TempFolder empty;
  CHECK_THROWS_WITH(open_zarr_tracks(empty.path()), test::holds("no Zarr arrays of tracks in it"));

  // Chunks cut short or changed, of every compression: an error of one line, or values.
  std::mt19937 random(testing::test_seed(31));
  std::size_t refused = 0;
  for (const std::string& codec : codecs())
    for (int n = 0; n < 60; ++n) {
      const TempFolder folder;
      write_store(folder.path(), {2, codec, "f4", '.', 7, 5, "0"});
      std::string chunk = test::read_file(folder / "a+/1.0");
      if (n % 2 == 0)
        chunk.resize(random() % chunk.size());
      else
        chunk[random() % chunk.size()] = static_cast<char>(random());
      write_file(folder / "a+/1.0", chunk);
      const std::string said = message(folder);
      CHECK(said.find('\n') == said.npos);
      if (said == "nothing is wrong") continue;
      CHECK_THAT(said, test::holds("a+/1.0"));
      ++refused;
    }
  CHECK(refused > 30 * codecs().size());
}

}  // namespace
}  // namespace semicrf
