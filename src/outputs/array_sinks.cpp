// NPY arrays: posteriors of all labels, and the raw rows of generated sequences.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/compensated_sum.h"
#include "io/arrays/npy_writer.h"
#include "outputs/formats.h"

namespace semicrf {

namespace {

class LabelArraySink : public OutputSink {
 public:
  LabelArraySink(OutputFile& file, const NpyShape& shape, PosteriorValues values)
      : shape_(shape), array_(file, shape), values_(values) {}

  void begin_piece(const BinLocation& location, const PieceResult&, bool) override {
    fill_to(location.first_bin);
  }
  void add_block(const PosteriorBlock& block) override {
    array_.append(block.*values_);
    rows_ += block.range.size();
  }
  void finish() override {
    fill_to(shape_.rows);
    array_.finish();
  }

 private:
  // Bins outside of the pieces have no posterior.
  void fill_to(std::int64_t row) {
    const std::vector<double> none(shape_.columns, std::numeric_limits<double>::quiet_NaN());
    for (; rows_ < row; ++rows_) array_.append(none);
  }

  NpyShape shape_;
  NpyWriter array_;
  PosteriorValues values_;
  std::int64_t rows_ = 0;  // written so far
};

// An array of every sequence, each written when the next one begins.
class LabelArchiveSink : public OutputSink {
 public:
  LabelArchiveSink(OutputFile& file, std::vector<NamedShape> shapes, PosteriorValues values)
      : shapes_(std::move(shapes)), archive_(file), values_(values) {}

  void begin_piece(const BinLocation& location, const PieceResult&, bool) override {
    while (number_ == 0 || shapes_[number_ - 1].chromosome != location.chromosome ||
           shapes_[number_ - 1].origin != location.origin)
      next_array();
    first_ = location.first_bin;
  }
  void add_block(const PosteriorBlock& block) override {
    const std::span<const double> rows = block.*values_;
    const NpyShape& shape = shapes_[number_ - 1].shape;
    const std::int64_t at = (first_ + block.range.begin) * shape.columns;
    std::ranges::copy(rows, array_.begin() + at);
  }
  void finish() override {
    while (number_ < shapes_.size()) next_array();
    close_array();
    archive_.finish();
  }

 private:
  void close_array() {
    if (number_ > 0) archive_.add(shapes_[number_ - 1].name, shapes_[number_ - 1].shape, array_);
  }
  void next_array() {
    close_array();
    const NpyShape& shape = shapes_[number_++].shape;
    array_.assign(shape.rows * shape.columns, std::numeric_limits<double>::quiet_NaN());
  }

  std::vector<NamedShape> shapes_;
  NpzWriter archive_;
  PosteriorValues values_;
  std::size_t number_ = 0;     // arrays begun
  std::int64_t first_ = 0;     // first bin of the piece
  std::vector<double> array_;  // (bins, C) of the latest sequence
};

class GeneratedSink : public OutputSink {
 public:
  GeneratedSink(OutputFile& file, const RandomRows& rows)
      : rows_(rows), array_(file, {rows.rows, static_cast<std::int64_t>(rows.columns), false}) {}

  void finish() override {
    constexpr std::int64_t kSlab = 1 << 14;  // rows
    std::vector<float> raw;
    std::vector<double> values;
    for (std::int64_t begin = 0; begin < rows_.rows; begin += kSlab) {
      const std::int64_t end = std::min(rows_.rows, begin + kSlab);
      raw.resize((end - begin) * rows_.columns);
      fill_random_rows(rows_, begin, end, raw.data());
      values.assign(raw.begin(), raw.end());
      array_.append(values);
    }
    array_.finish();
  }

 private:
  RandomRows rows_;
  NpyWriter array_;
};

}  // namespace

std::unique_ptr<OutputSink> make_label_array_sink(OutputFile& file, const NpyShape& shape,
                                                  PosteriorValues values) {
  return std::make_unique<LabelArraySink>(file, shape, values);
}

std::unique_ptr<OutputSink> make_label_archive_sink(OutputFile& file, const std::vector<NamedShape>& shapes,
                                                    PosteriorValues values) {
  return std::make_unique<LabelArchiveSink>(file, shapes, values);
}

std::unique_ptr<OutputSink> make_generated_sink(OutputFile& file, const RandomRows& rows) {
  return std::make_unique<GeneratedSink>(file, rows);
}

// log Z and the expected counts of all pieces as an NPZ archive.

namespace {

class CountsSink : public OutputSink {
 public:
  CountsSink(OutputFile& file, const ChainModel& model)
      : archive_(file), labels_(model.num_labels), durations_(model.max_duration) {
    counts_.shape_for(model);
  }

  void end_piece(const PieceResult& result) override {
    const auto& posteriors = result.get<PosteriorResult>();
    log_partition_.add(posteriors.log_partition);
    const ExpectedCounts& counts = posteriors.sums->counts;
    add(counts.transition, counts_.transition);
    add(counts.duration, counts_.duration);
    add(counts.tail, counts_.tail);
  }
  void finish() override {
    counts_.tail.resize(labels_);  // zeros where the model has no tail
    archive_.add("log_partition", {1, 0, true}, std::array{log_partition_.value()});
    archive_.add("transition", {labels_, labels_, true}, counts_.transition);
    archive_.add("duration", {durations_, labels_, true}, counts_.duration);
    archive_.add("tail", {labels_, 0, true}, counts_.tail);
    archive_.finish();
  }

 private:
  static void add(const std::vector<double>& counts, std::vector<double>& sums) {
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
  }

  NpzWriter archive_;
  std::int64_t labels_, durations_;
  CompensatedSum log_partition_;
  ExpectedCounts counts_;  // pieces are added in their order
};

}  // namespace

std::unique_ptr<OutputSink> make_counts_sink(OutputFile& file, const ChainModel& model) {
  return std::make_unique<CountsSink>(file, model);
}

}  // namespace semicrf
