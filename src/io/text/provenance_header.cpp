#include "io/text/provenance_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <initializer_list>

#include "core/error.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

std::string provenance_header(const Provenance& provenance) {
  std::string header;
  const auto line = [&header](std::initializer_list<std::string_view> parts) {
    header += '#';
    for (const std::string_view part : parts) header += escape_control(part);
    header += '\n';
  };
  line({"semicrf ", provenance.version, " ", provenance.command});
  line({"params ", base_name(provenance.params_path), " sha256=", provenance.params_sha256});
  for (const ProvenanceInput& input : provenance.inputs) {
    const std::string file = (input.name.empty() ? "" : input.name + "=") + base_name(input.path);
    if (input.bytes >= 0) {
      line({"input ", file, " bytes=", fmt::to_string(input.bytes)});
    } else {
      line({"input ", file});
    }
  }
  for (const auto& [name, value] : provenance.options) line({"option ", name, "=", value});
  return header;
}

std::optional<std::pair<std::string, std::string>> header_option(std::string_view line) {
  constexpr std::string_view kOption = "#option ";
  if (!line.starts_with(kOption)) return std::nullopt;
  line.remove_prefix(kOption.size());
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
}

std::optional<std::int64_t> bin_size_option(const std::map<std::string, std::string>& options) {
  const auto found = options.find("bin-size");
  if (found == options.end()) return std::nullopt;
  const auto bases = number_in<std::int64_t>(found->second);
  return bases && *bases > 0 ? bases : std::nullopt;
}

namespace {

constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::array<std::uint32_t, 8> kInitialState = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::uint32_t load_big_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         std::uint32_t{bytes[3]};
}

}  // namespace

Sha256::Sha256() : state_(kInitialState) {}

void Sha256::compress(const unsigned char* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t small0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t small1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + small0 + w[i - 7] + small1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t big1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t first = h + big1 + choice + kRoundConstants[i] + w[i];
    const std::uint32_t big0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + big0 + majority;
  }
  const std::array<std::uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += mixed[i];
}

void Sha256::update(std::string_view bytes) {
  length_ += bytes.size();
  while (!bytes.empty()) {
    if (buffered_ == 0 && bytes.size() >= buffer_.size()) {
      std::memcpy(buffer_.data(), bytes.data(), buffer_.size());
      compress(buffer_.data());
      bytes.remove_prefix(buffer_.size());
      continue;
    }
    const std::size_t taken = std::min(bytes.size(), buffer_.size() - buffered_);
    std::memcpy(buffer_.data() + buffered_, bytes.data(), taken);
    bytes.remove_prefix(taken);
    buffered_ += taken;
    if (buffered_ == buffer_.size()) {
      compress(buffer_.data());
      buffered_ = 0;
    }
  }
}

std::string Sha256::hex_digest() {
  const std::uint64_t bits = length_ * 8;
  std::string padding(1, '\x80');
  padding.append((buffer_.size() + 55 - length_ % buffer_.size()) % buffer_.size(), '\0');
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift & 0xff);
  update(padding);
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += kHex[word >> shift & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex_digest();
}

}  // namespace semicrf
