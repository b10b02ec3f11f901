// Paths through windows that were followed before it was known in which state the true path enters the
// window. Most turn out to be the true one's, since paths that come from different places run together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "io/files/temp_spool.h"

namespace semicrf {

// Windows are numbered 0, 1, 2, ... from left to right; their paths are kept as they come, 8 bytes a segment,
// beyond a megabyte in a temporary file.
class KnownPaths {
 public:
  KnownPaths();

  // Adds the path through the next window: begin() where it enters, append() its segments from right to left,
  // part by part, end() where it leaves the window.
  void begin(const TraceCursor& entry);
  void append(std::span<const Segment> reversed);
  void end(const TraceCursor& exit);

  // Takes up the path through the window where the true one, which enters it at `entry` and goes on with
  // `reversed`, meets it. False: it does not, as far as these segments go.
  bool join(std::int64_t window, const TraceCursor& entry, std::span<const Segment> reversed);
  // Appends the next part of the true path, right to left, as ViterbiMessages::trace does: false after the
  // last one, with the cursor moved to where the path leaves the window.
  bool take(TraceCursor& cursor, std::vector<Segment>& reversed);

 private:
  struct Path {
    TraceCursor entry, exit;
    std::int64_t end = 0;  // end of the rightmost segment
    std::size_t first_part = 0, parts = 0;
  };
  void load(std::size_t part);

  std::vector<Path> paths_;
  TempSpool spool_;
  std::vector<std::uint64_t> part_;
  // The path that is being taken: first segments that only the true path has, then the known path from a
  // segment of its first part on.
  const Path* taken_ = nullptr;
  std::vector<Segment> first_;
  std::size_t next_part_ = 0, skipped_ = 0;
  std::int64_t end_ = 0;  // end of the next known segment
};

}  // namespace semicrf
