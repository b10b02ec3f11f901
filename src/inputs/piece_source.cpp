#include "inputs/piece_source.h"

#include <algorithm>
#include <atomic>

#include "core/threads/parallel.h"
#include "engine/device_memory.h"
#include "model/scores/centering.h"
#include "model/scores/score_source.h"

namespace semicrf {

namespace {

// Positions [begin, end) of a piece, without their scores.
ScoreWindow empty_window(const SequenceScores& scores, std::int64_t begin, std::int64_t end,
                         std::int64_t length) {
  ScoreWindow window;
  window.begin = begin;
  window.end = end;
  window.length = length;
  window.baseline = scores.baseline;
  window.subtract_position_max = scores.subtract_position_max;
  return window;
}

// Rows in place from `first` on; empty where there are none.
ScoreArray in_place_from(const RowReader& reader, std::int64_t first) {
  ScoreArray rows = reader.in_place();
  const std::size_t skip = first * reader.columns();
  if (rows.f32 != nullptr) rows.f32 += skip;
  if (rows.f64 != nullptr) rows.f64 += skip;
  return rows;
}

class PieceSource : public ScoreSource {
 public:
  PieceSource(std::shared_ptr<SequenceScores> scores, BinRange piece)
      : scores_(std::move(scores)), piece_(piece), sequence_(sequence_number(*scores_, piece)) {}

  std::int64_t length() const override { return piece_.size(); }
  std::size_t bytes_per_position() const override {
    // Either features or scores lie in the buffers.
    if (scores_->heads) return std::max(projected_bytes(), scores_->rows->bytes_per_row());
    return sum_over_readers([](const RowReader& reader) { return reader.bytes_per_row(); });
  }
  std::size_t score_bytes() const override {
    // A device has both.
    if (scores_->heads) return projected_bytes() + scores_->heads->num_tracks() * value_bytes();
    return sum_over_readers([](const RowReader& reader) { return reader.value_bytes(); });
  }
  int projection_threads() const override { return scores_->heads ? std::max(1, scores_->threads) : 0; }
  std::optional<ScoreWindow> in_place() const override {
    std::optional<ScoreWindow> window = scores_in_place(*scores_, piece_);
    if (window) window->sequence = sequence_;
    return window;
  }

  void assume_checked(std::int64_t begin, std::int64_t end) override {
    for (const auto* reader : {&scores_->rows, &scores_->start, &scores_->end})
      if (*reader) (*reader)->assume_checked(piece_.begin + begin, piece_.begin + end);
  }

  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    ScoreWindow window = empty_window(*scores_, begin, end, length());
    window.sequence = sequence_;
    const auto rows = [&](RowReader& reader, std::int64_t from, std::int64_t to, RowBuffer& buffer) {
      return reader.read(piece_.begin + from, piece_.begin + to, buffer);
    };
    if (scores_->heads) {
      FeatureRows& features = window.features;
      features = scores_->heads->rows_for(begin, end, length());
      features.wide = is_wide();
      features.rows = rows(*scores_->rows, features.begin, features.end, buffers.emissions);
      return window;
    }
    window.emissions = rows(*scores_->rows, begin, end, buffers.emissions);
    if (scores_->start) window.start_scores = rows(*scores_->start, begin, end, buffers.start);
    if (scores_->end) window.end_scores = rows(*scores_->end, begin, end, buffers.end);
    return window;
  }

 private:
  template <class BytesOf>
  std::size_t sum_over_readers(BytesOf bytes_of) const {
    std::size_t bytes = 0;
    for (const auto* reader : {&scores_->rows, &scores_->start, &scores_->end})
      if (*reader) bytes += bytes_of(**reader);
    return bytes;
  }
  bool is_wide() const { return scores_->precision == Precision::kDouble; }
  std::size_t value_bytes() const { return is_wide() ? sizeof(double) : sizeof(float); }
  std::size_t projected_bytes() const {
    const LinearHeads& heads = *scores_->heads;
    const std::size_t arrays = 1u + (heads.has_start() ? 1u : 0u) + (heads.has_end() ? 1u : 0u);
    return arrays * heads.num_labels() * value_bytes();
  }

  std::shared_ptr<SequenceScores> scores_;
  BinRange piece_;
  std::uint64_t sequence_;
};

// Scores that heads make of features, beside scores of starts and ends that are given as inputs.
class GivenBoundarySource : public ScoreSource {
 public:
  GivenBoundarySource(std::shared_ptr<SequenceScores> scores, BinRange piece)
      : scores_(std::move(scores)), piece_(piece), tracks_(scores_, piece), projection_(tracks_) {}

  std::int64_t length() const override { return piece_.size(); }
  std::size_t bytes_per_position() const override {
    return tracks_.bytes_per_position() +
           given_bytes([](const RowReader& rows) { return rows.bytes_per_row(); });
  }
  std::size_t score_bytes() const override {
    return tracks_.score_bytes() + given_bytes([](const RowReader& rows) { return rows.value_bytes(); });
  }

  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    ScoreWindow window = projection_.read(begin, end, buffers);
    const BinRange rows{piece_.begin + begin, piece_.begin + end};
    if (scores_->start) window.start_scores = scores_->start->read(rows.begin, rows.end, buffers.start);
    if (scores_->end) window.end_scores = scores_->end->read(rows.begin, rows.end, buffers.end);
    return window;
  }

 private:
  template <class BytesOf>
  std::size_t given_bytes(BytesOf bytes_of) const {
    return (scores_->start ? bytes_of(*scores_->start) : 0) + (scores_->end ? bytes_of(*scores_->end) : 0);
  }

  std::shared_ptr<SequenceScores> scores_;
  BinRange piece_;
  PieceSource tracks_;
  HostProjection projection_;
};

}  // namespace

std::uint64_t sequence_number(SequenceScores& scores, BinRange piece) {
  static std::atomic<std::uint64_t> last{0};
  if (piece != BinRange{0, scores.rows->rows()}) return ++last;
  if (scores.number == 0) scores.number = ++last;
  return scores.number;
}

std::optional<ScoreWindow> scores_in_place(const SequenceScores& scores, BinRange piece) {
  ScoreWindow window = empty_window(scores, 0, piece.size(), piece.size());
  if (scores.heads != nullptr) {
    if (scores.start != nullptr || scores.end != nullptr) return std::nullopt;
    window.features = scores.heads->rows_for(0, piece.size(), piece.size());
    window.features.wide = scores.precision == Precision::kDouble;
    window.features.rows = in_place_from(*scores.rows, piece.begin);
    if (window.features.rows.empty()) return std::nullopt;
    return window;
  }
  const std::pair<const RowReader*, ScoreArray*> arrays[] = {{scores.rows.get(), &window.emissions},
                                                             {scores.start.get(), &window.start_scores},
                                                             {scores.end.get(), &window.end_scores}};
  for (const auto& [reader, array] : arrays) {
    if (reader == nullptr) continue;
    *array = in_place_from(*reader, piece.begin);
    if (array->empty()) return std::nullopt;
  }
  return window;
}

std::unique_ptr<ScoreSource> make_piece_source(std::shared_ptr<SequenceScores> scores, BinRange piece) {
  if (scores->heads && (scores->start || scores->end))
    return std::make_unique<GivenBoundarySource>(std::move(scores), piece);
  return std::make_unique<PieceSource>(std::move(scores), piece);
}

namespace {

constexpr std::int64_t kScanSlab = 1 << 16;  // rows read at a time

class Scanner {
 public:
  Scanner(RowReader& rows, const ScanRequest& request)
      : rows_(rows), request_(request), mean_(rows.columns(), request.threads) {}

  SequenceScan run() {
    RowBuffer buffer;
    // Rows that are used where they lie cost no memory.
    const std::int64_t slab = rows_.bytes_per_row() == 0 ? kScanSlab * request_.threads : kScanSlab;
    for (std::int64_t begin = 0; begin < rows_.rows(); begin += slab) {
      const std::int64_t end = std::min(rows_.rows(), begin + slab);
      const ScoreArray values = rows_.read(begin, end, buffer);
      collect_missing(begin, buffer.missing);
      if (request_.want_mean) add_counted(begin, end, values, buffer.missing);
    }
    if (request_.want_mean) {
      scan_.mean = mean_.mean();
      scan_.masked = mean_.masked();
    }
    return std::move(scan_);
  }

 private:
  void collect_missing(std::int64_t begin, const std::vector<std::uint8_t>& missing) {
    for (std::int64_t i = 0; i < std::ssize(missing); ++i) {
      if (missing[i] == 0) continue;
      const std::int64_t bin = begin + i;
      if (!scan_.missing.empty() && scan_.missing.back().end == bin) {
        scan_.missing.back().end = bin + 1;
      } else {
        scan_.missing.push_back({bin, bin + 1});
      }
    }
  }

  // Adds the rows of the slab that are neither excluded nor missing.
  void add_counted(std::int64_t begin, std::int64_t end, const ScoreArray& values,
                   const std::vector<std::uint8_t>& missing) {
    std::int64_t at = begin;
    while (at < end) {
      while (next_excluded_ < request_.excluded.size() && request_.excluded[next_excluded_].end <= at)
        ++next_excluded_;
      std::int64_t stop = end;
      if (next_excluded_ < request_.excluded.size()) {
        const BinRange& excluded = request_.excluded[next_excluded_];
        if (excluded.begin <= at) {
          at = std::min(end, excluded.end);
          continue;
        }
        stop = std::min(end, excluded.begin);
      }
      const auto is_missing = [&](std::int64_t bin) { return !missing.empty() && missing[bin - begin] != 0; };
      while (at < stop && is_missing(at)) ++at;
      std::int64_t run_end = at;
      while (run_end < stop && !is_missing(run_end)) ++run_end;
      if (run_end > at) add_rows(begin, at, run_end, values);
      at = run_end;
    }
  }

  void add_rows(std::int64_t origin, std::int64_t begin, std::int64_t end, const ScoreArray& values) {
    const std::size_t skip = (begin - origin) * rows_.columns();
    if (values.f32 != nullptr) {
      mean_.add(values.f32 + skip, begin, end);
    } else {
      mean_.add(values.f64 + skip, begin, end);
    }
  }

  RowReader& rows_;
  const ScanRequest& request_;
  SequenceMean mean_;
  std::size_t next_excluded_ = 0;
  SequenceScan scan_;
};

}  // namespace

SequenceScan scan_sequence(RowReader& rows, const ScanRequest& request) {
  if (!request.want_mean && !rows.can_miss()) return {};
  return Scanner(rows, request).run();
}

std::optional<SequenceScan> scan_on_device(SequenceScores& scores, Engine& engine, bool want_mean) {
  constexpr std::int64_t kWorthwhile = 1 << 18;  // positions; fewer are added up before a copy has begun
  const std::int64_t length = scores.rows->rows();
  if (length < kWorthwhile) return std::nullopt;
  const BinRange all{0, length};
  std::optional<ScoreWindow> whole = scores_in_place(scores, all);
  if (!whole || engine.own_memory() == nullptr) return std::nullopt;
  whole->sequence = sequence_number(scores, all);
  scores.prefetch = engine.own_memory()->prefetch(*whole);
  if (!scores.prefetch) return std::nullopt;
  SequenceScan scan;
  std::optional<BlockSums> sums;
  if (want_mean) sums = scores.prefetch->block_sums(kMaskScore);
  if (want_mean ? !sums : !scores.prefetch->sound(length)) {
    scores.prefetch.reset();
    return std::nullopt;
  }
  scores.rows->assume_checked(0, length);
  if (!want_mean) return scan;
  SequenceMean mean(scores.rows->columns());
  mean.add(*sums, length);
  scan.mean = mean.mean();
  scan.masked = mean.masked();
  return scan;
}

}  // namespace semicrf
