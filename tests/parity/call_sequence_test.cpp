// Random sequences of calls on one engine: every call must give the digits that a fresh engine gives,
// whatever came before it (other sequences, windows out of order, batches, scores read ahead, errors). A
// sequence of calls that fails is made short before it is shown.
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "parity/all_engines.h"
#include "parity/cuda/head_sequences.h"
#include "parity/gradient_case.h"
#include "parity/same_results.h"
#include "support/catch.h"
#include "support/models/shrink.h"
#include "support/seeds.h"
#ifdef SEMICRF_EMULATED_DEVICE
#include "device_counters.h"
#endif

using namespace semicrf;
using namespace semicrf::testing;

namespace {

enum class Kind {
  kDecode,      // a path over windows, left to right and back
  kPosteriors,  // over windows, redone where their right states were wrong
  kCounts,
  kForward,
  kOneWindow,     // a window out of order, with the true state at its left edge; path, then posteriors
  kPathsOf,       // several sequences at once
  kPosteriorsOf,  // and their counts
  kPartitionsOf,
  kFeatures,  // sequences that come with features, where the engine projects
  kPrefetch,  // scores read ahead: used, half used or dropped
  kBadCall,   // a call that fails: the reference engine gets part of a sequence, a device runs out of memory
};
constexpr int kKinds = 11;
const char* const kNames[kKinds] = {"decode",      "posteriors", "counts",        "forward",
                                    "one window",  "paths of",   "posteriors of", "partitions of",
                                    "features of", "prefetch",   "bad call"};

struct Call {
  Kind kind = Kind::kDecode;
  std::size_t sequence = 0;
  std::int64_t chunks = 0;  // of a window; 0: one window
  unsigned detail = 0;
};

std::string text_of(const std::vector<Call>& calls) {
  std::ostringstream text;
  for (const Call& call : calls)
    text << "\n  " << kNames[static_cast<int>(call.kind)] << ": sequence " << call.sequence << ", windows of "
         << call.chunks << " chunks, detail " << call.detail;
  return text.str();
}

// What a call returned, number by number.
class Outcome {
 public:
  void add(double number) { numbers_.push_back(number); }
  void add(const std::vector<double>& numbers) {
    numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  }
  void add(const std::vector<Segment>& path) {
    for (const Segment& segment : path)
      for (const auto number : {static_cast<double>(segment.begin), static_cast<double>(segment.end),
                                static_cast<double>(segment.label)})
        add(number);
  }
  void add(const std::vector<ChunkReport>& chunks) {
    for (const ChunkReport& chunk : chunks)
      add(std::vector<double>{static_cast<double>(chunk.fallbacks), chunk.repaired ? 1.0 : 0.0,
                              chunk.label_entropy, chunk.boundary_mass, chunk.boundary_plogp,
                              chunk.max_normalization_error});
  }
  void add(const BoundaryState& state) {
    add(state.whole);
    add(state.offset);
    add(state.ring);
    add(state.message);
    add(state.tail);
  }
  void add(const ExpectedCounts& counts) {
    add(counts.transition);
    add(counts.duration);
    add(counts.tail);
  }
  bool operator==(const Outcome& other) const { return same_numbers(numbers_, other.numbers_); }

 private:
  std::vector<double> numbers_;
};

// Sequences of one model, of lengths around blocks and runs; one has no path.
class Material {
 public:
  Material(CaseKind kind, const CaseShape& longest, std::uint64_t seed)
      : heads_({longest.num_labels, 3, 0.25, seed % 2 == 0, {40, 1, 33, 100}}, seed) {
    const std::vector<std::int64_t> lengths{100, 1, 17, 64, 333, longest.length};
    std::int64_t total = 0;
    for (const std::int64_t length : lengths) total += length;
    const ModelCase all = make_case(kind, {total, longest.max_duration, longest.num_labels}, seed);
    std::int64_t begin = 0;
    for (const std::int64_t length : lengths) {
      sequences_.push_back(part_of_case(all, begin, begin + length));
      begin += length;
    }
    const auto labels = static_cast<std::size_t>(longest.num_labels);
    ScoreTable& table = sequences_[kInfeasible].emissions;
    for (std::size_t c = 0; c < labels; ++c) {
      if (!table.f32.empty()) table.f32[40 * labels + c] = -std::numeric_limits<float>::infinity();
      if (!table.f64.empty()) table.f64[40 * labels + c] = kNegativeInfinity;
    }
    description_ = all.description;
  }

  static constexpr std::size_t kInfeasible = 3;
  const ChainModel& model() const { return sequences_.front().model; }
  const std::vector<ModelCase>& sequences() const { return sequences_; }
  const HeadCase<float>& heads() const { return heads_; }
  const std::string& description() const { return description_; }

 private:
  std::vector<ModelCase> sequences_;
  HeadCase<float> heads_;
  std::string description_;
};

// Whether the engine has no windows.
bool takes_whole_sequences(const EngineOptions& options) {
  return options.backend == EngineOptions::Backend::kReference ||
         options.backend == EngineOptions::Backend::kCudaPlain;
}

class Caller {
 public:
  Caller(const Material& material, const EngineOptions& options)
      : material_(material), options_(options), engine_(make_engine(options, material.model())) {}

  Outcome call(const Call& call) {
    outcome_ = Outcome();
    const ModelCase& sample = material_.sequences()[call.sequence];
    const auto edges = window_edges(*engine_, sample.length, call.chunks);
    switch (call.kind) {
      case Kind::kDecode: {
        const DecodedCase decoded = decode_case(*engine_, sample, edges);
        outcome_.add(decoded.score);
        outcome_.add(decoded.path);
        outcome_.add(decoded.chunks);
        break;
      }
      case Kind::kPosteriors:
        posteriors(posterior_case(*engine_, sample, edges));
        break;
      case Kind::kCounts:
        if (call.sequence != Material::kInfeasible) outcome_.add(counts_case(*engine_, sample, edges));
        break;
      case Kind::kForward:
        forward(forward_case(*engine_, sample, edges));
        break;
      case Kind::kOneWindow:
        one_window(sample, edges, call.detail % (edges.size() - 1));
        break;
      case Kind::kPathsOf:
        for (const SequencePath& path : engine_->batches().viterbi_of(several(call.detail))) {
          outcome_.add(path.feasible ? 1 : 0);
          outcome_.add(path.reversed);
          outcome_.add(path.chunks);
        }
        break;
      case Kind::kPosteriorsOf:
        posteriors_of(several(call.detail), nullptr);
        break;
      case Kind::kPartitionsOf:
        results(engine_->batches().log_partitions(several(call.detail)));
        break;
      case Kind::kFeatures:
        features(call.detail);
        break;
      case Kind::kPrefetch:
        prefetch(call.sequence, call.detail);
        break;
      case Kind::kBadCall:
        bad_call(sample, call.detail);
        break;
    }
    return outcome_;
  }

 private:
  void posteriors(const PosteriorCase& found) {
    outcome_.add(found.log_partition);
    if (found.log_partition == kNegativeInfinity) return;
    for (const auto* numbers : {&found.boundary, &found.labels, &found.starts, &found.ends})
      outcome_.add(*numbers);
    outcome_.add(found.chunks);
  }
  void forward(const ForwardCase& found) {
    outcome_.add(found.log_partition);
    for (const auto* numbers :
         {&found.starts, &found.ends, &found.tails, &found.start_levels, &found.end_levels})
      outcome_.add(*numbers);
  }
  void results(const std::vector<SequenceResult>& found) {
    for (const SequenceResult& result : found) {
      outcome_.add(result.log_partition);
      if (result.log_partition != kNegativeInfinity) outcome_.add(result.chunks);
    }
  }

  // The state at its left edge comes from an engine of its own, so that this call is all that the tested one
  // sees of the sequence.
  void one_window(const ModelCase& sample, const std::vector<std::int64_t>& edges, std::size_t window) {
    const PositionRange range{edges[window], edges[window + 1]};
    const auto other = make_engine(options_, material_.model());
    std::optional<BoundaryState> best_left, left;
    for (std::size_t w = 0; w < window; ++w) {
      const PositionRange before{edges[w], edges[w + 1]};
      best_left = other->viterbi(sample.whole(), before, best_left ? &*best_left : nullptr, false).right;
      left = other->forward(sample.whole(), before, left ? &*left : nullptr, {}).right;
    }
    const ViterbiWindow found =
        engine_->viterbi(sample.whole(), range, best_left ? &*best_left : nullptr, true);
    outcome_.add(found.right);
    PosteriorArrays out;
    std::vector<double> boundary(static_cast<std::size_t>(range.size()));
    out.boundary = boundary.data();
    const PosteriorWindow posterior =
        engine_->posteriors(sample.whole(), range, left ? &*left : nullptr, nullptr, out);
    if (log_sum(posterior.right_forward) != kNegativeInfinity) {
      outcome_.add(posterior.right_forward);
      if (range.end == sample.length) outcome_.add(boundary);
    }
    // The messages of the first call stand while the second one ran.
    TraceCursor cursor{TraceCursor::Phase::kFindStart, range.end, range.end, 0};
    if (best_final_score(found.right, &cursor.label) == kNegativeInfinity) return;
    std::vector<Segment> path;
    follow(*found.messages, cursor, path);
    outcome_.add(path);
  }

  // A few of the sequences, in any order, some of them twice.
  std::vector<ScoreWindow> several(unsigned detail) const {
    std::mt19937 random(detail);
    std::vector<ScoreWindow> windows;
    const std::size_t short_ones = material_.sequences().size() - 1;
    for (std::size_t i = 0, count = 1 + random() % 6; i < count; ++i)
      windows.push_back(material_.sequences()[random() % short_ones].whole());
    return windows;
  }

  void posteriors_of(const std::vector<ScoreWindow>& windows, ExpectedFeatures* sums) {
    const auto labels = static_cast<std::size_t>(material_.model().num_labels);
    std::vector<std::vector<double>> rows(windows.size());
    std::vector<PosteriorArrays> out(windows.size());
    bool feasible = true;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      rows[i].resize(static_cast<std::size_t>(windows[i].length) * labels);
      out[i].labels = rows[i].data();
      out[i].features = sums;
    }
    ExpectedCounts counts;
    const std::vector<SequenceResult> found = engine_->batches().posteriors_of(windows, out, &counts);
    results(found);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const bool path = found[i].log_partition != kNegativeInfinity;
      if (path) outcome_.add(rows[i]);
      feasible = feasible && path;
    }
    if (feasible) outcome_.add(counts);
  }

  void features(unsigned detail) {
    std::mt19937 random(detail);
    const HeadCase<float>& heads = material_.heads();
    std::vector<ScoreWindow> windows;
    for (std::size_t i = 0, count = 1 + random() % 4; i < count; ++i) {
      const std::size_t which = random() % heads.sequences().size();
      windows.push_back(engine_->projects() ? heads.projected(which) : heads.stored(which));
    }
    ExpectedFeatures sums = heads.no_sums();
    const bool wanted = engine_->projects() && random() % 2 == 0;
    posteriors_of(windows, wanted ? &sums : nullptr);
    outcome_.add(sums.emission.weights);
    outcome_.add(sums.start.weights);
    outcome_.add(sums.finish.weights);
  }

  void prefetch(std::size_t which, unsigned detail) {
    ScoreWindow whole = material_.sequences()[which].whole();
    whole.sequence = 1000 + which;
    DeviceMemory* const memory = engine_->own_memory();
    const auto ahead = memory != nullptr ? memory->prefetch(whole) : nullptr;
    if (detail % 4 == 0) return;  // dropped before it was used
    if (ahead != nullptr && detail % 4 > 1) outcome_.add(ahead->sound(whole.length / 2) ? 1 : 0);
    const auto edges = window_edges(*engine_, whole.length, detail % 3);
    std::optional<BoundaryState> left;
    for (std::size_t w = 0; w + 1 < edges.size(); ++w) {
      left = engine_->viterbi(whole, {edges[w], edges[w + 1]}, left ? &*left : nullptr, false).right;
      outcome_.add(*left);
      if (detail % 4 == 3) return;
    }
  }

  void bad_call(const ModelCase& sample, unsigned detail) {
    if (takes_whole_sequences(options_)) {
      if (sample.length > 1)
        CHECK_THROWS_AS(engine_->viterbi(sample.whole(), {0, sample.length / 2}, nullptr, false),
                        std::logic_error);
      return;
    }
#ifdef SEMICRF_EMULATED_DEVICE
    if (options_.backend == EngineOptions::Backend::kCpu) return;
    emulation::fail_allocations_after(static_cast<int>(detail % 5));
    try {
      if (detail % 2 == 0) {
        engine_->batches().posteriors_of(several(detail),
                                         std::vector<PosteriorArrays>(several(detail).size()), nullptr);
      } else {
        engine_->viterbi(sample.whole(), {0, sample.length}, nullptr, true);
      }
    } catch (const MemoryError&) {
      // What the engine has already may be enough.
    }
    emulation::fail_allocations_after(-1);
#else
    static_cast<void>(detail);
#endif
  }

  const Material& material_;
  EngineOptions options_;
  std::unique_ptr<Engine> engine_;
  Outcome outcome_;
};

// The first call whose outcome is not that of a fresh engine.
std::optional<std::size_t> first_wrong(const Material& material, const EngineOptions& options,
                                       const std::vector<Call>& calls) {
  Caller caller(material, options);
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (!(caller.call(calls[i]) == Caller(material, options).call(calls[i]))) return i;
  return std::nullopt;
}

std::vector<Call> random_calls(std::size_t count, std::size_t sequences, std::mt19937_64& random) {
  std::vector<Call> calls(count);
  for (Call& call : calls) {
    call.kind = static_cast<Kind>(random() % kKinds);
    call.sequence = random() % sequences;
    call.chunks = static_cast<std::int64_t>(random() % 3);
    call.detail = static_cast<unsigned>(random() % 1000);
  }
  return calls;
}

void check_calls(const EngineOptions& options, const Material& material, std::size_t count,
                 std::size_t sequences, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<Call> calls = random_calls(count, sequences, random);
  SUCCEED(material.description());
  if (!first_wrong(material, options, calls)) return;
  const auto fails = [&](const std::vector<Call>& fewer) {
    return first_wrong(material, options, fewer).has_value();
  };
  const auto small = shrink<std::vector<Call>>(calls, fails, shorter_lists<Call>);
  FAIL_CHECK(make_engine(options, material.model())->description()
             << ", " << material.description() << ", calls of seed " << seed
             << ": the last of these calls gives something else than on a fresh engine:" << text_of(small));
}

constexpr CaseKind kCallKinds[] = {CaseKind::kEverything, CaseKind::kTails,        CaseKind::kMasks,
                                   CaseKind::kPlain,      CaseKind::kPeriodicLate, CaseKind::kBoundaryScores};

}  // namespace

TEST_CASE("calls on the reference, plain and cpu engines do not depend on the calls before") {
  std::vector<EngineOptions> engines{engine_options(EngineOptions::Backend::kReference, Precision::kDouble)};
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    engines.push_back(engine_options(EngineOptions::Backend::kCpu, precision));
    engines.back().threads = 2;
  }
  for (const EngineOptions& options : plain_engines()) engines.push_back(options);
  const std::uint64_t first_seed = test_seed(1300);
  for (const EngineOptions& options : engines) {
    const bool whole = takes_whole_sequences(options);
    for (std::uint64_t seed = first_seed; seed < first_seed + 6; ++seed) {
      const CaseKind kind = kCallKinds[seed % std::size(kCallKinds)];
      const CaseShape small{20, 5, 3};
      const std::int64_t chunk = make_engine(options, make_case(kind, small, seed).model)->info().grid.chunk;
      const Material material(kind, {whole ? 500 : 2 * chunk + 35, small.max_duration, small.num_labels},
                              seed);
      check_calls(options, material, 12, material.sequences().size(), seed);
    }
  }
}

TEST_CASE("calls on the emulated device do not depend on the calls before") {
  const std::uint64_t first_seed = test_seed(1400);
  for (const EngineOptions& options : cuda_engines()) {
    for (std::uint64_t seed = first_seed; seed < first_seed + 4; ++seed) {
      const CaseKind kind = kCallKinds[seed % std::size(kCallKinds)];
      const Material material(kind, {700, 20, 3}, seed);
      check_calls(options, material, 12, material.sequences().size(), seed);
    }
  }
}

// Windows of a chunk, of which a device has 8192 positions.
TEST_CASE("calls on the emulated device do not depend on windows before") {
  const std::uint64_t seed = test_seed(1500);
  for (const EngineOptions& options : cuda_engines())
    check_calls(options, Material(CaseKind::kTails, {8192 + 200, 3, 2}, seed), 8, 6, seed);
}
