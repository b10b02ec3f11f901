#include "reference/viterbi.h"

#include <stdexcept>

namespace semicrf {
namespace {

class Tracer {
 public:
  Tracer(const ReferenceModel& model, const ReferenceScores& scores, const ForwardMessages& messages)
      : model_(model), scores_(scores), messages_(messages), labels_(model.num_labels) {}

  void run(TraceCursor& cursor, std::vector<Segment>& reversed) const {
    while (cursor.phase != TraceCursor::Phase::kDone) {
      switch (cursor.phase) {
        case TraceCursor::Phase::kFindStart:
          find_start(cursor, reversed);
          break;
        case TraceCursor::Phase::kInTail:
          follow_tail(cursor, reversed);
          break;
        case TraceCursor::Phase::kFindSource:
          find_source(cursor);
          break;
        case TraceCursor::Phase::kDone:
          break;
      }
    }
  }

 private:
  void find_start(TraceCursor& cursor, std::vector<Segment>& reversed) const {
    const std::int64_t end = cursor.boundary;
    const double level = messages_.level[end];
    double best = kNegativeInfinity;
    std::int64_t duration = 0;
    for_each_open_segment(model_, scores_, messages_, end, cursor.label, model_.max_duration, level,
                          [&](std::int64_t k, double open) {
                            const double score = open + model_.duration_score(k, cursor.label);
                            if (score > best) {
                              best = score;
                              duration = k;
                            }
                          });
    if (model_.has_tail()) {
      const std::size_t label = cursor.label;
      if (messages_.tail[end * labels_ + label] > best) {
        cursor = {TraceCursor::Phase::kInTail, end, end, cursor.label};
        return;
      }
    }
    if (duration == 0) throw std::logic_error("a traceback was started where no path is finite");
    finish({end - duration, end, cursor.label}, cursor, reversed);
  }

  // The shortest of equally good tail segments: entered here before going on to the left.
  void follow_tail(TraceCursor& cursor, std::vector<Segment>& reversed) const {
    const std::int64_t t = cursor.boundary;
    const std::int64_t entered_at = model_.max_duration + 1;
    const double level = messages_.level[t];
    double opened = kNegativeInfinity;
    for_each_open_segment(model_, scores_, messages_, t, cursor.label, entered_at, level,
                          [&](std::int64_t k, double open) {
                            if (k == entered_at) opened = open;
                          });
    const TailEntries tail = tail_entries(model_, scores_, messages_, t, cursor.label, opened, level);
    if (tail.continuing > tail.entering) {
      cursor.boundary = t - 1;
    } else if (tail.entering != kNegativeInfinity) {
      finish({t - entered_at, cursor.segment_end, cursor.label}, cursor, reversed);
    } else {
      throw std::logic_error("a traceback followed a tail that no segment entered");
    }
  }

  void find_source(TraceCursor& cursor) const {
    const std::size_t row = cursor.boundary * labels_;
    double best = kNegativeInfinity;
    int source = -1;
    for (int from = 0; from < model_.num_labels; ++from) {
      const double score = messages_.alpha[row + from] +
                           model_.transition_into(cursor.segment_end - cursor.boundary, from, cursor.label);
      if (score > best) {
        best = score;
        source = from;
      }
    }
    if (source < 0) throw std::logic_error("a traceback stands at a label that no path enters");
    cursor = {TraceCursor::Phase::kFindStart, cursor.boundary, 0, source};
  }

  static void finish(const Segment& segment, TraceCursor& cursor, std::vector<Segment>& reversed) {
    reversed.push_back(segment);
    const auto next = segment.begin == 0 ? TraceCursor::Phase::kDone : TraceCursor::Phase::kFindSource;
    cursor = {next, segment.begin, segment.end, segment.label};
  }

  const ReferenceModel& model_;
  const ReferenceScores& scores_;
  const ForwardMessages& messages_;
  const std::size_t labels_;
};

}  // namespace

void trace_best_path(const ReferenceModel& model, const ReferenceScores& scores,
                     const ForwardMessages& messages, TraceCursor& cursor, std::vector<Segment>& reversed) {
  Tracer(model, scores, messages).run(cursor, reversed);
}

}  // namespace semicrf
