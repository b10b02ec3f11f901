// Values along chromosomes from bedGraph or bigWig, whichever the file is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "io/text/bedgraph_reader.h"

namespace semicrf {

// Records of a bigWig file have the line 0 and 6 decimals, its chromosomes come in the order of the file.
class ValueReader {
 public:
  // The errors of BedGraphReader and BigWigFile.
  explicit ValueReader(const std::string& path);  // "-": bedGraph from standard input
  ValueReader(ValueReader&&) noexcept;
  ~ValueReader();

  // False at the end of the file.
  bool next(BedGraphRecord& record);
  // What the header of a bedGraph says; a bigWig says nothing.
  std::optional<std::int64_t> bin_size() const;
  const std::map<std::string, std::string>& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where a record stands, for errors: "line 5", or "chr1:1001-1200" of a bigWig.
std::string place_of(const BedGraphRecord& record);

}  // namespace semicrf
