// The `#` lines at the top of an output that say what it was made from.
//
// Nothing in them depends on when, where or with how many threads the program ran: same inputs, same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace semicrf {

struct ProvenanceInput {
  std::string path;        // only the last component is printed
  std::int64_t bytes = 0;  // size of the file, -1: not known (a pipe), not printed
  std::string name;        // the track, label or sequence that it is, or empty
};

struct Provenance {
  std::string version;        // "0.1.0"
  std::string command;        // "decode"
  std::string params_path;    // only the last component is printed
  std::string params_sha256;  // of the file's bytes
  std::vector<ProvenanceInput> inputs;
  std::vector<std::pair<std::string, std::string>>
      options;  // name and value of what changes the content of the output
};

// Lines such as
//   #semicrf 0.1.0 decode
//   #params model.json sha256=...
//   #input H3K4me3=GM12878.H3K4me3.bw bytes=123456
//   #option merge-adjacent=yes
// each ended by a newline, control characters escaped.
std::string provenance_header(const Provenance& provenance);

}  // namespace semicrf
