// Comparing what an engine says of a case with what the reference engine says.
#include "parity/engine_parity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "support/models/resolution.h"
#include "support/truth/rescore.h"

namespace semicrf::testing {
namespace {

// NaN counts as infinitely wrong.
double distance(double found, double expected) {
  const double error = std::fabs(found - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

class Comparison {
 public:
  Comparison(const ExpectedCase& expected, Engine& candidate, const ModelCase& sample,
             const Tolerances& tolerances)
      : expected_(expected),
        candidate_(candidate),
        sample_(sample),
        tolerances_(tolerances),
        resolution_(resolution_of(sample, expected.decoded.path)),
        labels_(static_cast<std::size_t>(sample.model.num_labels)) {}

  std::vector<std::string> run() {
    const auto whole = window_edges(candidate_, sample_.length, 0);
    const DecodedCase decoded = decode_case(candidate_, sample_, whole);
    const PosteriorCase posteriors = posterior_case(candidate_, sample_, whole);
    check_decoded(decoded);
    check_posteriors(posteriors);
    for (const std::int64_t chunks : {1, 3}) {
      const auto edges = window_edges(candidate_, sample_.length, chunks);
      if (edges.size() > 2) check_same(decoded, posteriors, edges);
    }
    return std::move(problems_);
  }

 private:
  template <class... Parts>
  void report(const Parts&... parts) {
    std::ostringstream line;
    line.precision(17);
    line << candidate_.description() << ", " << sample_.description << ": ";
    (line << ... << parts);
    problems_.push_back(line.str());
  }

  void check_decoded(const DecodedCase& found) {
    check_chunk_count("viterbi", found.chunks.size());
    if (expected_.decoded.path.empty() || found.path.empty()) {
      if (expected_.decoded.path.empty() != found.path.empty()) {
        report("only one engine finds a finite path, scores ", found.score, " and ", expected_.decoded.score);
      }
      return;
    }
    if (!tiles(found.path, sample_.length, sample_.model.num_labels)) return report("the path does not tile");
    const auto segments = static_cast<double>(std::max(found.path.size(), expected_.decoded.path.size()));
    const double allowed = tolerances_.score_per_segment * segments + resolution_ * segments;
    const double best = rescore(sample_, expected_.decoded.path);
    const double score = rescore(sample_, found.path);
    if (!(distance(score, best) <= allowed)) report("path score ", score, " instead of ", best);
    if (!(distance(found.score, score) <= allowed + tolerances_.log_partition * std::fabs(score))) {
      report("reported path score ", found.score, " instead of ", score);
    }
    if (!sample_.exact_sums || found.path == expected_.decoded.path) return;
    const auto differ = std::mismatch(found.path.begin(), found.path.end(), expected_.decoded.path.begin(),
                                      expected_.decoded.path.end());
    report("the path differs from the reference's from segment ", differ.first - found.path.begin(),
           " on although all sums are exact");
  }

  void check_posteriors(const PosteriorCase& found) {
    check_chunk_count("posteriors", found.chunks.size());
    const PosteriorCase& expected = expected_.posteriors;
    // Every segment's factor is rounded once, so where the scores of a long path cancel the error is relative
    // to the expected number of segments.
    const double segments = std::accumulate(expected.boundary.begin(), expected.boundary.end(), 0.0);
    const double scale = std::max({1.0, std::fabs(expected.log_partition), segments});
    const bool same = found.log_partition == expected.log_partition;
    const double allowed = tolerances_.log_partition * scale + resolution_;
    if (!same && !(distance(found.log_partition, expected.log_partition) <= allowed)) {
      report("log Z ", found.log_partition, " instead of ", expected.log_partition);
    }
    if (expected.log_partition == kNegativeInfinity) return;
    check_array("boundary", found.boundary, expected.boundary, 1);
    check_array("labels", found.labels, expected.labels, labels_);
    check_array("starts", found.starts, expected.starts, labels_);
    check_array("ends", found.ends, expected.ends, labels_);
    check_sums(found);
    check_reports(found.chunks);
  }

  void check_array(const char* name, const std::vector<double>& found, const std::vector<double>& expected,
                   std::size_t width) {
    double worst = -1;
    std::size_t at = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double error = distance(found[i], expected[i]);
      if (!(found[i] >= 0 && found[i] <= 1)) error = std::numeric_limits<double>::infinity();
      if (error > worst) {
        worst = error;
        at = i;
      }
    }
    if (worst <= tolerances_.posterior + resolution_) return;
    report(name, " of position ", at / width, ", label ", at % width, ": ", found[at], " instead of ",
           expected[at]);
  }

  void check_sums(const PosteriorCase& found) {
    const double allowed = tolerances_.normalization + resolution_;
    for (std::size_t t = 0; t < found.boundary.size(); ++t) {
      double covered = 0;
      double started = 0;
      for (std::size_t c = 0; c < labels_; ++c) {
        covered += found.labels[t * labels_ + c];
        started += found.starts[t * labels_ + c];
      }
      if (!(distance(covered, 1) <= allowed)) return report("labels sum to ", covered, " at position ", t);
      if (!(distance(started, found.boundary[t]) <= allowed)) {
        return report("starts sum to ", started, " at position ", t, " where boundary is ",
                      found.boundary[t]);
      }
    }
  }

  static ChunkReport total_of(const std::vector<ChunkReport>& chunks) {
    ChunkReport total;
    for (const ChunkReport& chunk : chunks) {
      total.label_entropy += chunk.label_entropy;
      total.boundary_mass += chunk.boundary_mass;
      total.boundary_plogp += chunk.boundary_plogp;
      total.max_normalization_error = std::max(total.max_normalization_error, chunk.max_normalization_error);
    }
    return total;
  }

  // p ln p moves by up to |ln(error)| + 1 times the error of p.
  void check_reports(const std::vector<ChunkReport>& chunks) {
    const ChunkReport found = total_of(chunks);
    const ChunkReport expected = total_of(expected_.posteriors.chunks);
    const double mass_error = (tolerances_.posterior + resolution_) * static_cast<double>(sample_.length);
    const double entropy_error = mass_error * 30;
    if (!(found.max_normalization_error <= tolerances_.normalization + resolution_)) {
      report("reported normalisation error ", found.max_normalization_error);
    }
    if (!(distance(found.boundary_mass, expected.boundary_mass) <= mass_error)) {
      report("boundary mass ", found.boundary_mass, " instead of ", expected.boundary_mass);
    }
    if (!(distance(found.boundary_plogp, expected.boundary_plogp) <= entropy_error)) {
      report("boundary p ln p ", found.boundary_plogp, " instead of ", expected.boundary_plogp);
    }
    const double label_error = entropy_error * static_cast<double>(labels_);
    if (!(distance(found.label_entropy, expected.label_entropy) <= label_error)) {
      report("label entropy ", found.label_entropy, " instead of ", expected.label_entropy);
    }
  }

  void check_chunk_count(const char* what, std::size_t found) {
    const std::int64_t chunk = candidate_.grid(sample_.length).chunk;
    const auto expected = static_cast<std::size_t>((sample_.length - 1) / chunk + 1);
    if (found != expected) report(what, " reports on ", found, " chunks instead of ", expected);
  }

  // How a sequence is cut into windows must not change a digit.
  void check_same(const DecodedCase& decoded, const PosteriorCase& posteriors,
                  const std::vector<std::int64_t>& edges) {
    const std::size_t windows = edges.size() - 1;
    const DecodedCase again = decode_case(candidate_, sample_, edges);
    if (again.path != decoded.path) report("another path in ", windows, " windows");
    if (again.score != decoded.score)
      report("path score ", again.score, " in ", windows, " windows, ", decoded.score);
    const PosteriorCase redone = posterior_case(candidate_, sample_, edges);
    if (redone.log_partition != posteriors.log_partition) {
      report("log Z ", redone.log_partition, " in ", windows, " windows, ", posteriors.log_partition);
    }
    if (expected_.posteriors.log_partition == kNegativeInfinity) return;
    check_digits("boundary", redone.boundary, posteriors.boundary, windows);
    check_digits("labels", redone.labels, posteriors.labels, windows);
    check_digits("starts", redone.starts, posteriors.starts, windows);
    check_digits("ends", redone.ends, posteriors.ends, windows);
  }

  void check_digits(const char* name, const std::vector<double>& found, const std::vector<double>& expected,
                    std::size_t windows) {
    const auto differ = std::mismatch(found.begin(), found.end(), expected.begin());
    if (differ.first == found.end()) return;
    report(name, " entry ", differ.first - found.begin(), " in ", windows, " windows is ", *differ.first,
           ", in one ", *differ.second);
  }

  const ExpectedCase& expected_;
  Engine& candidate_;
  const ModelCase& sample_;
  const Tolerances& tolerances_;
  const double resolution_;
  const std::size_t labels_;
  std::vector<std::string> problems_;
};

}  // namespace

Tolerances tolerances_of(Precision precision) {
  if (precision == Precision::kFloat) return {1e-7, 1e-5, 1e-5, 1e-6};
  return {1e-12, 1e-9, 1e-9, 1e-6};
}

std::vector<std::string> compare_with(const ExpectedCase& expected, Engine& candidate,
                                      const ModelCase& sample, const Tolerances& tolerances) {
  return Comparison(expected, candidate, sample, tolerances).run();
}

std::vector<std::string> compare_engines(Engine& candidate, Engine& reference, const ModelCase& sample,
                                         const Tolerances& tolerances) {
  return compare_with(expected_case(reference, sample), candidate, sample, tolerances);
}

ModelCase sinking_tails_case(const CaseShape& shape, std::uint64_t seed) {
  constexpr std::size_t kStretch = 320;
  ModelCase sample = make_case(CaseKind::kDyadic, shape, seed);
  sample.description += " sinking tails";
  const auto labels = static_cast<std::size_t>(shape.num_labels);
  for (double& score : sample.model.transition) score -= 8;
  sample.model.log_tail.assign(labels, -1.0 / 16);
  const auto adapt = [&](auto& scores) {
    for (std::size_t i = 0; i < scores.size(); ++i)
      scores[i] = scores[i] / 16 + (i / labels / kStretch % labels == i % labels ? 0 : -1);
  };
  adapt(sample.emissions.f32);
  adapt(sample.emissions.f64);
  sample.start_scores = sample.end_scores = {};
  sample.baseline.clear();
  sample.subtract_position_max = false;
  return sample;
}

std::int64_t exact_blocks(Engine& engine, const ModelCase& sample) {
  std::int64_t blocks = 0;
  for (const ChunkReport& chunk : posterior_case(engine, sample, {0, sample.length}).chunks)
    blocks += chunk.fallbacks;
  for (const ChunkReport& chunk : engine.viterbi(sample.whole(), {0, sample.length}, nullptr, true).chunks)
    blocks += chunk.fallbacks;
  return blocks;
}

}  // namespace semicrf::testing
