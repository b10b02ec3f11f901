// The window drivers over every engine: one window, many windows and the reference say the same.
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "core/error.h"
#include "engine/device_memory.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "model/scores/score_source.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/windowed.h"
#include "support/slow_build.h"
#include "support/truth/follow_path.h"
#include "support/truth/rescore.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

struct Decoded {
  bool feasible = false;
  double score = 0;
  std::vector<Segment> path;
};

Decoded decode(Engine& engine, const ModelCase& sample, std::int64_t chunks, bool joined = false,
               PathScoring scoring = PathScoring::kRescore) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  WindowPlan plan = plan_in_windows(engine, sample.length, chunks);
  plan.joined = joined && plan.count() > 1;
  const ViterbiResult result = decode_viterbi(engine, source, plan, {}, 1, scoring);
  REQUIRE(result.score.has_value() == (result.feasible && scoring == PathScoring::kRescore));
  Decoded decoded{result.feasible, result.score.value_or(0), {}};
  SegmentList::Reader reader(result.segments);
  for (Segment segment; reader.next(segment);) decoded.path.push_back(segment);
  return decoded;
}

// The right edge of a window, made of all its messages.
class Edge : public ViterbiMessages {
 public:
  Edge(std::shared_ptr<ViterbiMessages> all, std::int64_t begin) : all_(std::move(all)), begin_(begin) {}
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override {
    if (cursor.boundary <= begin_) return false;
    std::vector<Segment> path;
    TraceCursor end = cursor;
    follow(*all_, end, path);
    for (const Segment& segment : path) {
      if (cursor.boundary <= begin_) break;
      reversed.push_back(segment);
      cursor = {TraceCursor::Phase::kFindSource, segment.begin, 0, segment.label};
    }
    return false;
  }

 private:
  std::shared_ptr<ViterbiMessages> all_;
  std::int64_t begin_;
};
class MessagesWithEdge : public ViterbiMessages {
 public:
  MessagesWithEdge(std::unique_ptr<ViterbiMessages> all, std::int64_t end)
      : all_(std::move(all)), end_(end) {}
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override {
    return all_->trace(cursor, reversed);
  }
  std::unique_ptr<ViterbiMessages> right_edge(std::int64_t positions) override {
    return std::make_unique<Edge>(all_, end_ - positions);
  }

 private:
  std::shared_ptr<ViterbiMessages> all_;
  std::int64_t end_;
};

enum class Where { kDevice, kHost };

// An engine that counts the windows it computes; with a device that lets windows be joined, or not, or as it
// is.
class JoiningEngine : public Engine, public DeviceMemory {
 public:
  explicit JoiningEngine(std::unique_ptr<Engine> engine, bool joins = true, Where where = Where::kDevice)
      : Engine(engine->info(), where == Where::kDevice ? this : nullptr, engine->batches()),
        engine_(std::move(engine)),
        joins_(joins) {}
  ChunkGrid grid(std::int64_t length) const override { return engine_->grid(length); }
  std::size_t viterbi_bytes(std::int64_t positions, bool keep) const override {
    return engine_->viterbi_bytes(positions, keep);
  }
  std::size_t posterior_bytes(std::int64_t positions, bool counts) const override {
    return engine_->posterior_bytes(positions, counts);
  }
  std::size_t device_memory() const override { return std::size_t{1} << 40; }
  std::size_t viterbi_device_bytes(const WindowShape&) const override { return 0; }
  std::size_t posterior_device_bytes(const WindowShape&, bool) const override { return 0; }
  std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow&) override { return nullptr; }
  bool joins_windows(const WindowShape&) const override { return joins_; }
  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep_messages) override {
    ++windows;
    ViterbiWindow window = engine_->viterbi(scores, range, left, keep_messages);
    if (window.messages && joins_ && own_memory() != nullptr)
      window.messages = std::make_unique<MessagesWithEdge>(std::move(window.messages), range.end);
    return window;
  }
  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override {
    return engine_->posteriors(scores, range, left, right, out);
  }
  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override {
    return engine_->forward(scores, range, left, out);
  }

  std::int64_t windows = 0;

 private:
  std::unique_ptr<Engine> engine_;
  bool joins_;
};

struct Swept {
  PosteriorResult result;
  std::vector<double> boundary, labels, path_label, path_start, path_end, path_next_start, path_next_end;
};

Swept sweep(Engine& engine, const ModelCase& sample, ScoreSource& source, std::int64_t chunks,
            const SegmentList* path) {
  PosteriorSelection selection;
  selection.labels = true;
  selection.path = path;
  selection.path_edges = selection.path_next = path != nullptr;
  Swept swept;
  std::int64_t next = 0;
  swept.result =
      sweep_posteriors(engine, source, plan_in_windows(engine, sample.length, chunks), selection,
                       [&](const PosteriorBlock& block) {
                         REQUIRE(block.range.begin == next);
                         next = block.range.end;
                         const auto keep = [](std::span<const double> values, std::vector<double>& all) {
                           all.insert(all.end(), values.begin(), values.end());
                         };
                         keep(block.boundary, swept.boundary);
                         keep(block.labels, swept.labels);
                         keep(block.path_label, swept.path_label);
                         keep(block.path_start, swept.path_start);
                         keep(block.path_end, swept.path_end);
                         keep(block.path_next_start, swept.path_next_start);
                         keep(block.path_next_end, swept.path_next_end);
                       });
  CHECK(next == (swept.result.feasible ? sample.length : 0));
  return swept;
}
Swept sweep(Engine& engine, const ModelCase& sample, std::int64_t chunks, const SegmentList* path) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  return sweep(engine, sample, source, chunks, path);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return worst;
}

std::vector<ModelCase> cases() {
  const CaseShape shape{of_long_test(40'000), 7, 3};
  std::vector<ModelCase> samples;
  std::uint64_t seed = 20;
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
        CaseKind::kBoundaryScores, CaseKind::kDyadic, CaseKind::kPeriodic, CaseKind::kPeriodicLate,
        CaseKind::kPeriodicEndScores, CaseKind::kSinglePath, CaseKind::kInfeasible})
    samples.push_back(make_case(kind, shape, ++seed));
  samples.push_back(make_case(CaseKind::kEverything, {1, 3, 2}, ++seed));
  return samples;
}

EngineOptions reference_options() { return engines_to_test().front(); }

}  // namespace

TEST_CASE("paths do not depend on the windows and have the reference's score") {
  for (const ModelCase& sample : cases()) {
    INFO(sample.description);
    const Decoded expected = decode(*make_engine(reference_options(), sample.model), sample, 0);
    for (const EngineOptions& options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      const Decoded whole = decode(*engine, sample, 0);
      REQUIRE(whole.feasible == expected.feasible);
      if (!whole.feasible) continue;
      REQUIRE(tiles(whole.path, sample.length, sample.model.num_labels));
      CHECK(whole.score == Approx(rescore(sample, whole.path)).epsilon(1e-12));
      CHECK(whole.score == Approx(expected.score).epsilon(1e-9).margin(1e-3));
      if (sample.exact_sums) CHECK(whole.path == expected.path);
      for (const std::int64_t chunks : {1, 3}) {
        const Decoded windows = decode(*engine, sample, chunks);
        CHECK(windows.score == whole.score);
        CHECK(windows.path == whole.path);
      }
    }
  }
}

// The score of joined paths is added up while later windows are computed, where scores lie in memory.
class InPlaceSource : public MemoryScoreSource {
 public:
  InPlaceSource(const ScoreWindow& whole, int num_labels)
      : MemoryScoreSource(whole, num_labels), whole_(whole) {}
  std::optional<ScoreWindow> in_place() const override { return whole_; }

 private:
  ScoreWindow whole_;
};

TEST_CASE("a path that is not rescored is the same") {
  for (const ModelCase& sample : cases()) {
    INFO(sample.description);
    for (const EngineOptions& options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      const Decoded expected = decode(*engine, sample, 0);
      for (const bool joined : {false, true})
        CHECK(decode(*engine, sample, 1, joined, PathScoring::kNone).path == expected.path);
    }
  }
}

TEST_CASE("scores added up ahead are the same") {
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails, CaseKind::kEverything}) {
    const ModelCase sample = make_case(kind, {500'000, 7, 3}, 91);
    INFO(sample.description);
    for (const EngineOptions& options : engines_to_test()) {
      if (options.backend == EngineOptions::Backend::kReference) continue;
      const Decoded whole = decode(*make_engine(options, sample.model), sample, 0);
      JoiningEngine engine(make_engine(options, sample.model));
      InPlaceSource source(sample.whole(), sample.model.num_labels);
      const WindowPlan plan =
          plan_in_windows(engine, sample.length, 150'000 / engine.grid(sample.length).chunk);
      REQUIRE(plan.count() > 2);
      const ViterbiResult joined = decode_viterbi(engine, source, plan, {}, 2);
      CHECK(joined.score.value_or(0) == whole.score);
      CHECK(joined.segments.size() == static_cast<std::int64_t>(whole.path.size()));
      // Where no path exists, the pass ends at the window that shows it.
      if (joined.feasible) {
        CHECK(engine.windows == plan.count());
      } else {
        CHECK(engine.windows <= plan.count());
      }
    }
  }
}

// Makes its scores when they are read, one window at a time; positions from `bad` on cannot be read.
class MadeSource : public MemoryScoreSource {
 public:
  MadeSource(const ScoreWindow& whole, int num_labels, std::int64_t bad)
      : MemoryScoreSource(whole, num_labels), num_labels_(num_labels), bad_(bad) {}
  std::size_t bytes_per_position() const override { return score_bytes(); }
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    if (reading_.exchange(true)) overlapped = true;
    ScoreWindow window = MemoryScoreSource::read(begin, end, buffers);
    const auto values = static_cast<std::size_t>((end - begin) * num_labels_);
    const auto copy = [&](ScoreArray& array, std::vector<float>& f32, std::vector<double>& f64) {
      if (array.f32 != nullptr) {
        f32.assign(array.f32, array.f32 + values);
        array.f32 = f32.data();
      } else if (array.f64 != nullptr) {
        f64.assign(array.f64, array.f64 + values);
        array.f64 = f64.data();
      }
    };
    copy(window.emissions, buffers.emissions.f32, buffers.emissions.f64);
    copy(window.start_scores, buffers.start.f32, buffers.start.f64);
    copy(window.end_scores, buffers.end.f32, buffers.end.f64);
    reading_ = false;
    if (end > bad_) throw InputError({"", "", "a bad score", ""});
    return window;
  }
  std::atomic<bool> overlapped{false};

 private:
  int num_labels_;
  std::int64_t bad_;
  std::atomic<bool> reading_{false};
};

TEST_CASE("windows that are read ahead of a device are the same") {
  for (const CaseKind kind : {CaseKind::kTails, CaseKind::kEverything, CaseKind::kPeriodicLate}) {
    const ModelCase sample = make_case(kind, {100'000, 7, 3}, 93);
    INFO(sample.description);
    const int labels = sample.model.num_labels;
    const auto make = [&] { return make_engine(engines_to_test().back(), sample.model); };
    const Decoded whole = decode(*make(), sample, 0);
    const Swept all = sweep(*make(), sample, 0, nullptr);
    // Not joined: the edges of this engine's windows need scores that stay where they are.
    JoiningEngine engine(make(), false);
    MadeSource source(sample.whole(), labels, sample.length);
    const WindowPlan plan = plan_in_windows(engine, sample.length, 2);
    REQUIRE(plan.count() > 4);
    const ViterbiResult decoded = decode_viterbi(engine, source, plan);
    CHECK(decoded.score == whole.score);
    CHECK(decoded.segments.size() == static_cast<std::int64_t>(whole.path.size()));
    const Swept swept = sweep(engine, sample, source, 2, nullptr);
    CHECK(swept.boundary == all.boundary);
    CHECK(swept.labels == all.labels);
    CHECK_FALSE(source.overlapped);
    // What cannot be read is said, whoever reads it.
    MadeSource bad(sample.whole(), labels, sample.length / 2);
    CHECK_THROWS_AS(decode_viterbi(engine, bad, plan), InputError);
  }
}

// Checks the paths of all cases in joined windows against those of one window. Calls
// visit(case, whether there is a path, windows that were computed, windows that there are).
template <class Visit>
void check_joined(Where where, Visit visit) {
  for (const ModelCase& sample : cases()) {
    INFO(sample.description);
    for (const EngineOptions& options : engines_to_test()) {
      if (options.backend == EngineOptions::Backend::kReference) continue;
      const Decoded whole = decode(*make_engine(options, sample.model), sample, 0);
      for (const std::int64_t chunks : {1, 2}) {
        JoiningEngine engine(make_engine(options, sample.model), true, where);
        const Decoded joined = decode(engine, sample, chunks, true);
        REQUIRE(joined.feasible == whole.feasible);
        CHECK(joined.score == whole.score);
        CHECK(joined.path == whole.path);
        visit(sample, joined.feasible, engine.windows,
              plan_in_windows(engine, sample.length, chunks).count());
      }
    }
  }
}

// Where nothing but the sequence's end says which path it is, none of the known ones is right.
TEST_CASE("windows whose paths are joined give the same path, and few are computed again") {
  check_joined(Where::kDevice,
               [](const ModelCase& sample, bool feasible, std::int64_t computed, std::int64_t windows) {
                 if (feasible) CHECK(computed >= windows);
                 if (sample.kind == CaseKind::kPlain) CHECK(computed == windows);
                 if (sample.kind == CaseKind::kPeriodicLate && windows > 2) CHECK(computed > windows);
               });
}

TEST_CASE("windows in the host's memory are joined by what is kept of their right edges") {
  std::int64_t again = 0;
  check_joined(Where::kHost,
               [&](const ModelCase& sample, bool feasible, std::int64_t computed, std::int64_t windows) {
                 if (sample.kind == CaseKind::kPlain || sample.kind == CaseKind::kTails)
                   CHECK(computed == windows);
                 if (feasible) again += computed - windows;
               });
  CHECK(again > 0);  // some path came from elsewhere
}

TEST_CASE("posteriors do not depend on the windows and are the reference's") {
  for (const ModelCase& sample : cases()) {
    INFO(sample.description);
    const Swept expected = sweep(*make_engine(reference_options(), sample.model), sample, 0, nullptr);
    for (const EngineOptions& options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      const Swept whole = sweep(*engine, sample, 0, nullptr);
      REQUIRE(whole.result.feasible == expected.result.feasible);
      if (!whole.result.feasible) continue;
      const double tolerance =
          engine->precision() == Precision::kFloat ? 1e-4 : 1e-9;  // tests/parity is strict
      CHECK(whole.result.log_partition == Approx(expected.result.log_partition).epsilon(tolerance));
      CHECK(largest_difference(whole.boundary, expected.boundary) < tolerance);
      CHECK(largest_difference(whole.labels, expected.labels) < tolerance);
      for (const std::int64_t chunks : {1, 3}) {
        const Swept windows = sweep(*engine, sample, chunks, nullptr);
        CHECK(windows.result.log_partition == whole.result.log_partition);
        CHECK(windows.result.boundary_plogp == whole.result.boundary_plogp);
        CHECK(windows.result.label_entropy == whole.result.label_entropy);
        CHECK(windows.result.max_normalization_error == whole.result.max_normalization_error);
        CHECK(windows.result.repaired_chunks == whole.result.repaired_chunks);
        CHECK(windows.boundary == whole.boundary);
        CHECK(windows.labels == whole.labels);
      }
    }
  }
}

TEST_CASE("a phase that only the sequence's end fixes is proven from there") {
  const ModelCase sample = make_case(CaseKind::kPeriodicLate, {of_long_test(40'000), 7, 3}, 5);
  for (const EngineOptions& options : engines_to_test()) {
    if (options.backend == EngineOptions::Backend::kReference) continue;
    const auto engine = make_engine(options, sample.model);
    CHECK(sweep(*engine, sample, 1, nullptr).result.repaired_chunks > 0);
  }
}

TEST_CASE("values along a path are those of its labels") {
  const ModelCase sample = make_case(CaseKind::kPlain, {30'000, 5, 4}, 77);
  for (const EngineOptions& options : engines_to_test()) {
    const auto engine = make_engine(options, sample.model);
    MemoryScoreSource source(sample.whole(), sample.model.num_labels);
    const ViterbiResult path = decode_viterbi(*engine, source, plan_in_windows(*engine, sample.length, 0));
    const Swept swept = sweep(*engine, sample, 1, &path.segments);
    std::vector<double> starts(static_cast<std::size_t>(4 * sample.length)), ends(starts.size());
    PosteriorArrays arrays;
    arrays.starts = starts.data();
    arrays.ends = ends.data();
    engine->posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, arrays);
    const auto released = [&](double value) {
      return engine->precision() == Precision::kFloat ? static_cast<double>(static_cast<float>(value))
                                                      : value;
    };
    std::vector<Segment> segments;
    SegmentList::Reader reader(path.segments);
    for (Segment segment; reader.next(segment);) segments.push_back(segment);
    std::vector<double> label, start, end, next_start, next_end;
    for (std::size_t n = 0; n < segments.size(); ++n)
      for (std::int64_t t = segments[n].begin; t < segments[n].end; ++t) {
        const auto entry = static_cast<std::size_t>(t * 4 + segments[n].label);
        label.push_back(swept.labels[entry]);
        start.push_back(released(starts[entry]));
        end.push_back(released(ends[entry]));
        const bool last = n + 1 == segments.size();
        const auto next = static_cast<std::size_t>(t * 4 + (last ? 0 : segments[n + 1].label));
        next_start.push_back(last ? 0 : released(starts[next]));
        next_end.push_back(last ? 0 : released(ends[next]));
      }
    CHECK(swept.path_label == label);
    CHECK(swept.path_start == start);
    CHECK(swept.path_end == end);
    CHECK(swept.path_next_start == next_start);
    CHECK(swept.path_next_end == next_end);
  }
}

TEST_CASE("the entropy of certain and of uniform boundaries") {
  CHECK(boundary_entropy(1, 0) == 0);
  CHECK(boundary_entropy(8, 0) == Approx(std::log(8.0)));
  CHECK(boundary_entropy(0, 0) == 0);
}
