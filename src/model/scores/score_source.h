// Where the scores of one sequence (a piece) come from, window by window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/large_array.h"
#include "core/score_window.h"

namespace semicrf {

// Memory that rows of numbers are read into; reused from read to read.
struct RowBuffer {
  std::vector<float> f32;
  std::vector<double> f64;
  std::vector<std::uint8_t> missing;  // (n), 1: a track of policy `skip` has no value there (its row is
                                      // unspecified); empty: no bin can be missing
};

// Owns the memory behind a ScoreWindow; reused from window to window.
struct ScoreBuffers {
  RowBuffer emissions;  // or features
  RowBuffer start, end;
};

class ScoreSource {
 public:
  virtual ~ScoreSource() = default;
  virtual std::int64_t length() const = 0;  // T
  // Bytes of `buffers` per position after a read, or after HostProjection::read, whichever takes more.
  virtual std::size_t bytes_per_position() const = 0;
  // Bytes of scores per position, wherever they lie, and of features where heads make the scores.
  virtual std::size_t score_bytes() const = 0;
  // Threads for making scores of what read() gives; 0: it gives scores.
  virtual int projection_threads() const { return 0; }
  // The whole sequence, not checked, where it lies in memory as scores, or as the features that make them,
  // and outlives the source's windows.
  virtual std::optional<ScoreWindow> in_place() const { return std::nullopt; }
  // Positions [begin, end) of in_place() were found sound by somebody else: reading need not check them.
  virtual void assume_checked(std::int64_t /*begin*/, std::int64_t /*end*/) {}
  // Positions [begin, end), 0 <= begin < end <= length(): scores, or features where linear heads make the
  // scores. The window points into `buffers` (or into memory the source owns) and stays valid until the
  // buffers are used again. May be called for any window, in any order.
  virtual ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) = 0;
};

// A sequence that lies in memory as a whole; the arrays must outlive the source.
class MemoryScoreSource : public ScoreSource {
 public:
  // `whole` covers [0, length).
  MemoryScoreSource(const ScoreWindow& whole, int num_labels) : whole_(whole), num_labels_(num_labels) {}
  std::int64_t length() const override { return whole_.length; }
  std::size_t bytes_per_position() const override { return 0; }
  std::size_t score_bytes() const override {
    std::size_t bytes = 0;
    for (const ScoreArray* array : {&whole_.emissions, &whole_.start_scores, &whole_.end_scores})
      bytes += array->f32 != nullptr ? sizeof(float) : (array->f64 != nullptr ? sizeof(double) : 0);
    return bytes * num_labels_;
  }
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers&) override {
    ScoreWindow window = whole_;
    window.begin = begin;
    window.end = end;
    const std::int64_t skip = begin * num_labels_;
    for (ScoreArray* array : {&window.emissions, &window.start_scores, &window.end_scores}) {
      if (array->f32 != nullptr) array->f32 += skip;
      if (array->f64 != nullptr) array->f64 += skip;
    }
    return window;
  }

 private:
  ScoreWindow whole_;
  int num_labels_;
};

// Scores for everybody who cannot make them of features: engines that do not project, draws, exact segments.
// A window with the scores that heads make of its features, in place of them, margins taken. Scores lie in
// `buffers`, in the precision that FeatureRows::wide says.
ScoreWindow project_on_host(const ScoreWindow& window, int threads, ScoreBuffers& buffers);

// The same of a whole sequence whose features are rows of few: row row_of[t] of `rows`, (count, tracks), at
// position t. For emission heads alone, without margins; every score has the same bits.
struct RepeatedRows {
  const float* rows;
  std::int64_t count;
  const std::uint16_t* row_of;  // (length)
};
ScoreWindow project_repeated(const ScoreWindow& window, const RepeatedRows& rows, int threads,
                             ScoreBuffers& buffers);

// Windows of a source, with scores where the source gives features. Features are read and projected a slab of
// positions at a time, so that they need little memory besides the scores.
class HostProjection {
 public:
  explicit HostProjection(ScoreSource& source) : source_(&source) {}
  // As ScoreSource::read.
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers);

 private:
  ScoreSource* source_;
  ScoreBuffers slab_;
};

}  // namespace semicrf
