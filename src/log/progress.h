// How a run tells how far it is.
#pragma once

#include <cstdint>

namespace semicrf {

// Called from one thread at a time.
class Progress {
 public:
  virtual ~Progress() = default;
  // `total` positions will be worked on, each once per pass.
  virtual void begin(std::int64_t total) = 0;
  virtual void advance(std::int64_t positions) = 0;
  virtual void end() = 0;
};

}  // namespace semicrf
