#include "model/scores/score_source.h"

#include <algorithm>
#include <array>

#include "core/threads/parallel.h"
#include "model/scores/linear_heads.h"

namespace semicrf {
namespace {

constexpr std::int64_t kSlab = 1 << 17;  // features are turned into scores this many positions at a time
constexpr std::int64_t kTask = 1 << 13;  // positions per task of a thread

// Takes the margin from the scores of the true labels at positions [begin, end).
template <class Score>
void take_margin(const FeatureRows& features, std::int64_t begin, std::int64_t end, std::size_t labels,
                 Score* scores) {
  if (features.true_labels == nullptr) return;
  for (std::int64_t t = begin; t < end; ++t, scores += labels)
    if (const int label = features.true_labels[t - features.begin]; label >= 0)
      scores[label] -= static_cast<Score>(features.margin);
}

// Scores of all positions of `window` into arrays of `made`, whose memory `values` of the buffers is.
template <class Score>
void project_into(const ScoreWindow& window, int threads, ScoreBuffers& buffers,
                  std::vector<Score> RowBuffer::*values, const Score* ScoreArray::*pointer,
                  ScoreWindow& made) {
  const FeatureRows& features = window.features;
  const std::size_t labels = features.emission->bias.size();
  struct Part {
    const HeadTable* head;
    std::vector<Score>& scores;
    ScoreArray& array;
  };
  const std::array<Part, 3> parts{{{features.emission, buffers.emissions.*values, made.emissions},
                                   {features.start, buffers.start.*values, made.start_scores},
                                   {features.finish, buffers.end.*values, made.end_scores}}};
  for (const Part& part : parts) {
    if (part.head == nullptr) continue;
    resize_large(part.scores, (made.end - made.begin) * labels);
    part.array.*pointer = part.scores.data();
  }
  parallel_ranges(threads, window.begin, window.end, kTask, [&](std::int64_t from, std::int64_t to) {
    const std::size_t at = (from - made.begin) * labels;
    for (const Part& part : parts) {
      if (part.head == nullptr) continue;
      project_head(features, *part.head, from, to, window.length, part.scores.data() + at);
    }
    take_margin(features, from, to, labels, parts[0].scores.data() + at);
  });
}

// `made` covers the window and perhaps more.
void project_window(const ScoreWindow& window, int threads, ScoreBuffers& buffers, ScoreWindow& made) {
  if (window.features.wide) {
    project_into(window, threads, buffers, &RowBuffer::f64, &ScoreArray::f64, made);
  } else {
    project_into(window, threads, buffers, &RowBuffer::f32, &ScoreArray::f32, made);
  }
}

}  // namespace

ScoreWindow project_on_host(const ScoreWindow& window, int threads, ScoreBuffers& buffers) {
  ScoreWindow made = window;
  made.features = {};
  project_window(window, threads, buffers, made);
  return made;
}

ScoreWindow project_repeated(const ScoreWindow& window, const RepeatedRows& rows, int threads,
                             ScoreBuffers& buffers) {
  ScoreWindow made = window;
  made.features = {};
  const std::size_t labels = window.features.emission->bias.size();
  FeatureRows few = window.features;
  few.rows = {};
  few.rows.f32 = rows.rows;
  few.begin = 0;
  few.end = rows.count;
  const auto fill = [&]<class Score>(std::vector<Score>& scores, const Score*& made_of) {
    std::vector<Score> of_row(rows.count * labels);
    project_head(few, *few.emission, 0, rows.count, rows.count, of_row.data());
    resize_large(scores, window.length * labels);
    parallel_ranges(threads, 0, window.length, kTask, [&](std::int64_t from, std::int64_t to) {
      Score* out = scores.data() + from * labels;
      for (std::int64_t t = from; t < to; ++t, out += labels)
        std::copy_n(of_row.data() + rows.row_of[t] * labels, labels, out);
    });
    made_of = scores.data();
  };
  window.features.wide ? fill(buffers.emissions.f64, made.emissions.f64)
                       : fill(buffers.emissions.f32, made.emissions.f32);
  return made;
}

ScoreWindow HostProjection::read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) {
  const int threads = source_->projection_threads();
  if (threads == 0) return source_->read(begin, end, buffers);
  ScoreWindow made;
  for (std::int64_t slab = begin; slab < end; slab += kSlab) {
    const ScoreWindow window = source_->read(slab, std::min(end, slab + kSlab), slab_);
    made = window;
    made.features = {};
    made.begin = begin;
    made.end = end;
    project_window(window, threads, buffers, made);
  }
  return made;
}

}  // namespace semicrf
