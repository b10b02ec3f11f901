// Track names from file names: "{sample}.{track}.bw" makes the track CTCF of GM12878.CTCF.bw.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace semicrf {

class TrackPattern {
 public:
  // UsageError: no {track}, one of {track} and {sample} twice, or another name in braces.
  explicit TrackPattern(const std::string& text);

  struct Names {
    std::string track;
    std::string sample;  // empty where the pattern has no {sample}
  };
  // The names in the last components of a path, as many as the pattern has; nothing where it does not match.
  // {track} and {sample} stand for one or more characters other than "/". Where several ways fit, the
  // earlier of the two is as short as possible.
  std::optional<Names> match(const std::string& path) const;
  const std::string& text() const { return text_; }

 private:
  struct Part {
    enum class Kind { kLiteral, kTrack, kSample } kind;
    std::string literal;
  };
  bool match_from(std::size_t part, const std::string& text, std::size_t at, Names& names) const;

  std::string text_;
  std::vector<Part> parts_;
};

// A pattern that takes what the names of all files have in common, up to a dot at their begin or end, out of
// the names of the tracks. Nothing for fewer than two files or where they have nothing in common.
std::optional<std::string> common_pattern(const std::vector<std::string>& paths);

}  // namespace semicrf
