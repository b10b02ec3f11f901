// The `#` lines at the top of an output that say what it was made from.
//
// Nothing in them depends on when, where or with how many threads the program ran: same inputs, same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semicrf {

struct ProvenanceInput {
  std::string path;        // only the last component is printed
  std::int64_t bytes = 0;  // size of the file, -1: not known (a pipe), not printed
  std::string name;        // the track, label or sequence that it is, or empty
};

struct Provenance {
  std::string version;        // "0.2.0"
  std::string command;        // "decode"
  std::string params_path;    // only the last component is printed
  std::string params_sha256;  // digest of the file's bytes
  std::vector<ProvenanceInput> inputs;
  std::vector<std::pair<std::string, std::string>>
      options;  // name and value of what changes the content of the output
};

// Lines such as
//   #semicrf 0.2.0 decode
//   #params model.json sha256=...
//   #input H3K4me3=GM12878.H3K4me3.bw bytes=123456
//   #option merge-adjacent=yes
// each ended by a newline, control characters escaped.
std::string provenance_header(const Provenance& provenance);

// The name and the value of a line "#option name=value", as they stand there; nullopt for any other line.
std::optional<std::pair<std::string, std::string>> header_option(std::string_view line);

// Bases per bin, where the options of a header say it.
std::optional<std::int64_t> bin_size_option(const std::map<std::string, std::string>& options);

// SHA-256 (FIPS 180-4), for the provenance lines of the outputs.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  // 64 lower-case hexadecimal digits; ends the message, so call it once.
  std::string hex_digest();

 private:
  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, 64> buffer_{};
  std::size_t buffered_ = 0;
  std::uint64_t length_ = 0;  // bytes
};

std::string sha256_hex(std::string_view bytes);

}  // namespace semicrf
