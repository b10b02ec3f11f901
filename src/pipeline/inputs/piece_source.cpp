#include "pipeline/inputs/piece_source.h"

#include <algorithm>
#include <atomic>

#include "core/parallel.h"

namespace semicrf {
namespace {

constexpr std::int64_t kReadSlab = 1 << 17;  // features are turned into scores this many positions at a time
constexpr std::int64_t kTask = 1 << 13;      // positions per task of a thread

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

// Rows into the caller's vectors, which are lent to the row buffer meanwhile.
ScoreArray read_into(RowReader& reader, std::int64_t begin, std::int64_t end, RowBuffer& buffer,
                     std::vector<float>& f32, std::vector<double>& f64) {
  buffer.f32.swap(f32);
  buffer.f64.swap(f64);
  const ScoreArray array = reader.read(begin, end, buffer);
  buffer.f32.swap(f32);
  buffer.f64.swap(f64);
  return array;
}

// Scores that are given row by row.
class DirectSource : public ScoreSource {
 public:
  DirectSource(std::shared_ptr<SequenceScores> scores, BinRange piece)
      : scores_(std::move(scores)), piece_(piece), sequence_(sequence_number(*scores_, piece)) {}

  std::int64_t length() const override { return piece_.size(); }
  int num_labels() const override { return static_cast<int>(scores_->rows->columns()); }
  std::size_t bytes_per_position() const override {
    std::size_t bytes = 0;
    for (RowReader* reader : {scores_->rows.get(), scores_->start.get(), scores_->end.get()})
      if (reader != nullptr) bytes += reader->bytes_per_row();
    return bytes;
  }

  std::size_t score_bytes() const override {
    std::size_t bytes = 0;
    for (RowReader* reader : {scores_->rows.get(), scores_->start.get(), scores_->end.get()})
      if (reader != nullptr) bytes += reader->value_bytes();
    return bytes;
  }
  std::optional<ScoreWindow> in_place() const override {
    std::optional<ScoreWindow> window = scores_in_place(*scores_, piece_);
    if (window) window->sequence = sequence_;
    return window;
  }

  void assume_checked(std::int64_t begin, std::int64_t end) override {
    for (RowReader* reader : {scores_->rows.get(), scores_->start.get(), scores_->end.get()})
      if (reader != nullptr) reader->assume_checked(piece_.begin + begin, piece_.begin + end);
  }

  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    ScoreWindow window = empty_window(*scores_, begin, end, length());
    window.sequence = sequence_;
    window.emissions = rows(*scores_->rows, begin, end, buffers.emissions32, buffers.emissions64);
    if (scores_->start)
      window.start_scores = rows(*scores_->start, begin, end, buffers.start32, buffers.start64);
    if (scores_->end) window.end_scores = rows(*scores_->end, begin, end, buffers.end32, buffers.end64);
    return window;
  }

 private:
  ScoreArray rows(RowReader& reader, std::int64_t begin, std::int64_t end, std::vector<float>& f32,
                  std::vector<double>& f64) {
    return read_into(reader, piece_.begin + begin, piece_.begin + end, buffer_, f32, f64);
  }

  std::shared_ptr<SequenceScores> scores_;
  BinRange piece_;
  RowBuffer buffer_;
  std::uint64_t sequence_;
};

// Scores that linear heads make of features.
class HeadSource : public ScoreSource {
 public:
  HeadSource(std::shared_ptr<SequenceScores> scores, BinRange piece)
      : scores_(std::move(scores)), piece_(piece), sequence_(sequence_number(*scores_, piece)) {}

  std::int64_t length() const override { return piece_.size(); }
  int num_labels() const override { return scores_->heads->num_labels(); }
  // A device has both.
  std::size_t score_bytes() const override { return projected_bytes() + feature_bytes(); }
  // Either the ones or the others lie in the buffers.
  std::size_t bytes_per_position() const override {
    return std::max(projected_bytes(), scores_->rows->bytes_per_row());
  }

  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    ScoreWindow window = empty_window(*scores_, begin, end, length());
    window.sequence = sequence_;
    if (wide()) {
      fill<double>(begin, end, buffers.emissions64, buffers.start64, buffers.end64);
      window.emissions.f64 = buffers.emissions64.data();
      if (scores_->heads->has_start()) window.start_scores.f64 = buffers.start64.data();
      if (scores_->heads->has_end()) window.end_scores.f64 = buffers.end64.data();
    } else {
      fill<float>(begin, end, buffers.emissions32, buffers.start32, buffers.end32);
      window.emissions.f32 = buffers.emissions32.data();
      if (scores_->heads->has_start()) window.start_scores.f32 = buffers.start32.data();
      if (scores_->heads->has_end()) window.end_scores.f32 = buffers.end32.data();
    }
    return window;
  }

  ScoreWindow read_for_projection(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override {
    const LinearHeads& heads = *scores_->heads;
    ScoreWindow window = empty_window(*scores_, begin, end, length());
    window.sequence = sequence_;
    FeatureRows& features = window.features;
    features.begin = std::max<std::int64_t>(0, begin - heads.halo_before());
    features.end = std::min(length(), end + heads.halo_after());
    features.tracks = heads.num_tracks();
    features.wide = wide();
    features.emission = heads.emission_table();
    features.start = heads.start_table();
    features.finish = heads.end_table();
    features.rows = read_into(*scores_->rows, piece_.begin + features.begin, piece_.begin + features.end,
                              buffer_, buffers.emissions32, buffers.emissions64);
    return window;
  }

 private:
  bool wide() const { return scores_->precision == Precision::kDouble; }
  std::size_t value_bytes() const { return wide() ? sizeof(double) : sizeof(float); }
  std::size_t feature_bytes() const {
    return static_cast<std::size_t>(scores_->heads->num_tracks()) * value_bytes();
  }
  std::size_t projected_bytes() const {
    const LinearHeads& heads = *scores_->heads;
    const std::size_t arrays = 1u + (heads.has_start() ? 1u : 0u) + (heads.has_end() ? 1u : 0u);
    return arrays * static_cast<std::size_t>(num_labels()) * value_bytes();
  }

  template <class Value>
  void fill(std::int64_t begin, std::int64_t end, std::vector<Value>& emissions, std::vector<Value>& starts,
            std::vector<Value>& ends) {
    const LinearHeads& heads = *scores_->heads;
    const auto values = static_cast<std::size_t>(end - begin) * static_cast<std::size_t>(num_labels());
    emissions.resize(values);
    if (heads.has_start()) starts.resize(values);
    if (heads.has_end()) ends.resize(values);
    for (std::int64_t slab = begin; slab < end; slab += kReadSlab)
      fill_slab<Value>(begin, slab, std::min(end, slab + kReadSlab), emissions.data(), starts.data(),
                       ends.data());
  }

  // Scores of positions [slab_begin, slab_end) into arrays whose first row is position `origin`.
  template <class Value>
  void fill_slab(std::int64_t origin, std::int64_t slab_begin, std::int64_t slab_end, Value* emissions,
                 Value* starts, Value* ends) {
    const LinearHeads& heads = *scores_->heads;
    const auto labels = static_cast<std::size_t>(num_labels());
    FeatureWindow<Value> features;
    features.begin = std::max<std::int64_t>(0, slab_begin - heads.halo_before());
    features.end = std::min(length(), slab_end + heads.halo_after());
    features.length = length();
    const ScoreArray rows =
        scores_->rows->read(piece_.begin + features.begin, piece_.begin + features.end, buffer_);
    if constexpr (std::is_same_v<Value, double>) {
      features.rows = rows.f64;
    } else {
      features.rows = rows.f32;
    }
    const auto tasks = static_cast<std::size_t>((slab_end - slab_begin + kTask - 1) / kTask);
    parallel_for(scores_->threads, tasks, [&](std::size_t task, int) {
      const std::int64_t from = slab_begin + static_cast<std::int64_t>(task) * kTask;
      const std::int64_t to = std::min(slab_end, from + kTask);
      const std::size_t at = static_cast<std::size_t>(from - origin) * labels;
      heads.emissions(features, from, to, emissions + at);
      if (heads.has_start()) heads.start_scores(features, from, to, starts + at);
      if (heads.has_end()) heads.end_scores(features, from, to, ends + at);
    });
  }

  std::shared_ptr<SequenceScores> scores_;
  BinRange piece_;
  RowBuffer buffer_;
  std::uint64_t sequence_;
};

}  // namespace

std::uint64_t sequence_number(SequenceScores& scores, BinRange piece) {
  static std::atomic<std::uint64_t> last{0};
  if (piece != BinRange{0, scores.rows->rows()}) return ++last;
  if (scores.number == 0) scores.number = ++last;
  return scores.number;
}

std::optional<ScoreWindow> scores_in_place(const SequenceScores& scores, BinRange piece) {
  if (scores.heads != nullptr) return std::nullopt;
  ScoreWindow window = empty_window(scores, 0, piece.size(), piece.size());
  const std::pair<const RowReader*, ScoreArray*> arrays[] = {{scores.rows.get(), &window.emissions},
                                                             {scores.start.get(), &window.start_scores},
                                                             {scores.end.get(), &window.end_scores}};
  for (const auto& [reader, array] : arrays) {
    if (reader == nullptr) continue;
    *array = reader->in_place();
    if (array->empty()) return std::nullopt;
    const std::size_t skip = static_cast<std::size_t>(piece.begin) * reader->columns();
    if (array->f32 != nullptr) array->f32 += skip;
    if (array->f64 != nullptr) array->f64 += skip;
  }
  return window;
}

std::unique_ptr<ScoreSource> make_piece_source(std::shared_ptr<SequenceScores> scores, BinRange piece) {
  if (scores->heads != nullptr) return std::make_unique<HeadSource>(std::move(scores), piece);
  return std::make_unique<DirectSource>(std::move(scores), piece);
}

}  // namespace semicrf
