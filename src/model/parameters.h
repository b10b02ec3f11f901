// The contents of a parameter file (format 1.0 to 1.3), validated and resolved to numbers. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chain_model.h"
#include "model/durations/duration.h"

namespace semicrf {

// Censoring: how the first and last segment of a piece that was cut out of something longer are scored.
enum class EdgeRule {
  kComplete,  // as if they began and ended at the cuts
  kCensored,  // by their survival (model/scores/edge_roles.h)
};

inline std::string_view edge_rule_name(EdgeRule rule) {
  return rule == EdgeRule::kCensored ? "censored" : "complete";
}
inline std::optional<EdgeRule> edge_rule_from_name(std::string_view name) {
  for (const EdgeRule rule : {EdgeRule::kComplete, EdgeRule::kCensored})
    if (name == edge_rule_name(rule)) return rule;
  return std::nullopt;
}

// docs/algorithm.md, "Centring".
enum class Centering { kMean, kNone, kPositionMax, kMeanPreserving };

enum class Transform { kNone, kLog1p, kAsinh, kBinarize };

// What a bigWig base without a value, or a NaN, means.
enum class MissingPolicy {
  kZero,      // raw value 0
  kSkip,      // a bin where any such track has no value at all is missing: the sequence is cut there
  kError,     // refused
  kMean,      // the feature is 0: the track's mean, where its center is that
  kMarginal,  // the track says nothing there, where tracks are independent (missing_tracks.h); else kMean
  kDefault,   // not said: kZero for bigWig files, kSkip for arrays
};

// The rule that a decoded path follows.
enum class PathRule {
  kViterbi,    // the most probable segmentation
  kPosterior,  // the labels that are expected to be right at most bins (PosteriorPathFinder)
};

struct Label {
  std::string name;
  std::optional<std::array<std::uint8_t, 3>> color;  // red, green, blue
};

// A distribution of the feature x of a track, whose log density is a feature itself (docs/algorithm.md,
// section 16; model/scores/densities.h).
enum class DensityFamily {
  kStudent,       // x = mean + scale * t, t of Student's distribution; normal with infinite degrees
  kBetaBinomial,  // x successes in the trials of another track; binomial with infinite size
  // Counts x with the expectation mean * exposure, a track or 1, and the variance that adds expectation^2 /
  // size; Poisson's with infinite size.
  kNegativeBinomial,
};
struct Density {
  DensityFamily family = DensityFamily::kStudent;
  std::string beside = {};  // kBetaBinomial: the track of trials; kNegativeBinomial: of exposures, or empty
  double mean = 0;          // kBetaBinomial: of the probability of a success, above 0 and below 1;
                            // kNegativeBinomial: per unit of exposure, > 0
  double scale = 1;         // kStudent, > 0
  double degrees = std::numeric_limits<double>::infinity();  // kStudent, degrees of freedom, > 0
  // > 0: kBetaBinomial, sum of the two numbers of the beta distribution; kNegativeBinomial: above.
  double size = std::numeric_limits<double>::infinity();
  double outliers = 0;         // share of values that are anywhere, 0 <= outliers < 1; not kNegativeBinomial
  double outlier_density = 0;  // kStudent: their density, > 0 where there are some; of n trials 1 / (n + 1)
  bool mirrored = false;       // half of the values are -x (kBetaBinomial: failures in place of successes)
};

// One feature of the heads. Of an input track: (g(raw) - center) / scale. The others have no input of their
// own and come after all input tracks, in this order: a square (format 1.1) is the feature of the track
// `square_of` times itself; an indicator (format 1.2) is 1 where the feature of the track `indicator_of` is
// `value`, else 0; a density (format 1.3) is the log density of that of `density_of`, and 0 where a value is
// missing; an absence, which no file has, is 1 where the track `absence_of` has no value, else 0.
struct Track {
  std::string name;
  Transform transform = Transform::kNone;
  double center = 0;
  double scale = 1;  // > 0
  MissingPolicy missing = MissingPolicy::kZero;
  double threshold = 0;  // for kBinarize: g(raw) is 1 where raw >= threshold, else 0
  std::string square_of = {};
  std::string indicator_of = {};
  double value = 0;  // for an indicator
  std::string density_of = {};
  Density density = {};
  std::string absence_of = {};
  std::optional<std::string> reads =
      {};  // format 1.2: how reads are counted (reads/count_rule.h); absent: not known

  bool is_square() const { return !square_of.empty(); }
  bool is_indicator() const { return !indicator_of.empty(); }
  bool is_density() const { return !density_of.empty(); }
  bool is_absence() const { return !absence_of.empty(); }
  // Place in the order of the kinds: 0, an input track, to 4.
  int kind() const { return is_square() ? 1 : is_indicator() ? 2 : is_density() ? 3 : is_absence() ? 4 : 0; }
  bool is_input() const { return kind() == 0; }
  // The input track that the feature is made of.
  const std::string& source() const {
    for (const std::string* of : {&square_of, &indicator_of, &density_of, &absence_of})
      if (!of->empty()) return *of;
    return name;
  }
};

// f[t,c] = bias[c] + sum_f weights[c][f] feature[t][f]
struct EmissionHead {
  std::vector<double> weights;  // (C, F) row-major
  std::vector<double> bias;     // (C)
};

// Ps[t,c] = start_bias[c] + sum over offsets o in first..last and tracks f of
//           start_weights[c][(o-first)*F + f] feature[t+o][f]; bins outside the piece count as 0. Pe
//           likewise.
struct BoundaryHead {
  int first = 0;  // offset window [first, last], in bins from the segment's first (start) or last (end) bin
  int last = 0;
  std::vector<double> start_weights, end_weights;  // (C, F * (last-first+1)), empty: absent
  std::vector<double> start_bias, end_bias;        // (C), empty: 0
};

struct Parameters {
  std::vector<Label> labels;    // C
  std::int64_t bin_size = 1;    // bases per position
  bool bin_size_given = false;  // the file says so; otherwise a run may choose another
  Centering centering = Centering::kMean;
  EdgeRule edges = EdgeRule::kComplete;
  std::optional<PathRule> rule;  // what `decode` follows without --rule; absent: kViterbi
  ChainModel chain;  // transition, duration table (any kind resolved to K rows), tail, start, end, initial
  DurationSpec duration;      // how the table and the tail were given
  std::vector<Track> tracks;  // F; empty when the inputs are label scores
  std::optional<EmissionHead> emission;
  std::optional<BoundaryHead> boundary;  // only together with an emission head

  std::string training;  // JSON text of the free "training" section, empty when absent

  int num_labels() const { return static_cast<int>(labels.size()); }
  int num_tracks() const { return static_cast<int>(tracks.size()); }
};

}  // namespace semicrf
