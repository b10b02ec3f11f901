#include "library/sequence_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/sizes.h"
#include "inputs/piece_source.h"

namespace semicrf {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 58;  // rows * columns, so that bytes can be counted

std::string of_sequence(const std::string& what, const std::string& name) {
  return what + " of sequence " + name;
}

std::string shape_text(std::int64_t rows, std::int64_t columns) {
  return fmt::format("({}, {})", rows, columns);
}

template <class Array>
void check_type(const Array& array, const std::string& what, bool half) {
  if (array.type == SEMICRF_FLOAT32 || array.type == SEMICRF_FLOAT64) return;
  if (half && array.type == SEMICRF_FLOAT16) return;
  throw UsageError(fmt::format("{}: type {} is none of semicrf_type for it", what, array.type), "");
}

NpyType npy_type(semicrf_type type) {
  if (type == SEMICRF_FLOAT16) return NpyType::kFloat16;
  return type == SEMICRF_FLOAT32 ? NpyType::kFloat32 : NpyType::kFloat64;
}

// Strides of an axis of one entry say nothing.
template <class Array>
bool has_strides(const Array& array, std::int64_t row, std::int64_t column) {
  return (array.rows == 1 || array.row_stride == row) &&
         (array.columns == 1 || array.column_stride == column);
}

void check_shape(const semicrf_array& array, std::int64_t rows, std::int64_t columns, const std::string& what,
                 const std::string& columns_are) {
  if (array.rows == rows && array.columns == columns) return;
  throw UsageError(what + ": the shape is " + shape_text(array.rows, array.columns) + ", expected " +
                       shape_text(rows, columns) + ": positions, " + columns_are,
                   "");
}

std::unique_ptr<RowReader> boundary_rows(const semicrf_array& array, const char* name_of_array,
                                         const std::string& name, std::int64_t rows,
                                         const LibraryModel& model, bool made, Precision precision,
                                         int threads) {
  if (array.data == nullptr) return nullptr;
  const std::string what = of_sequence(name_of_array, name);
  check_shape(array, rows, model.parameters.num_labels(), what, "labels");
  if (made)
    throw UsageError(what + ": the parameters have a boundary section, which makes start or end scores", "");
  return make_score_rows(viewed(array, what), precision, threads);
}

template <class Array>
void require_shape(const Array& array, std::int64_t rows, std::int64_t columns, const std::string& what) {
  if (array.rows == rows && array.columns == columns) return;
  throw UsageError(what + ": the shape is " + shape_text(array.rows, array.columns) + ", expected " +
                       shape_text(rows, columns),
                   "");
}

class GivenConstraints : public ConstraintSet {
 public:
  GivenConstraints(std::vector<Constraint> constraints, std::string name)
      : constraints_(std::move(constraints)), name_(std::move(name)) {}

  std::vector<Constraint> of(const BinLocation&, std::int64_t) override { return constraints_; }
  [[noreturn]] void refuse(const Constraint& constraint, const BinLocation&) const override {
    throw InputError({of_sequence(fmt::format("constraint {}", constraint.number), name_), "",
                      "no segmentation meets this one and those that begin before it", ""});
  }

 private:
  std::vector<Constraint> constraints_;
  std::string name_;
};

std::vector<int> forbidden_by(const semicrf_constraint& given, int num_labels, const std::string& what) {
  if (given.num_labels == 0) throw UsageError(what + ": names no label", "");
  if (given.labels == nullptr) throw UsageError(what + ": labels is a null pointer", "");
  std::vector<bool> named(num_labels);
  for (const int label : std::span(given.labels, given.num_labels)) {
    if (label < 0 || label >= num_labels)
      throw UsageError(fmt::format("{}: there is no label {}", what, label), "");
    named[label] = true;
  }
  std::vector<int> forbidden;
  for (int c = 0; c < num_labels; ++c)
    if (named[c] == (given.kind == SEMICRF_NOT)) forbidden.push_back(c);
  return forbidden;
}

// Nothing where it says nothing.
std::optional<Constraint> constraint_of(const semicrf_constraint& given, std::int64_t length, int num_labels,
                                        const std::string& what) {
  if (given.begin < 0 || given.end <= given.begin || given.end > length)
    throw UsageError(fmt::format("{}: [{}, {}) is no range of a sequence of {} positions", what, given.begin,
                                 given.end, length),
                     "");
  Constraint one;
  one.begin = given.begin;
  one.end = given.end;
  switch (given.kind) {
    case SEMICRF_ONLY:
    case SEMICRF_NOT:
      one.kind = Constraint::Kind::kForbidden;
      one.forbidden = forbidden_by(given, num_labels, what);
      if (one.forbidden.empty()) return std::nullopt;
      return one;
    case SEMICRF_BOUNDARY:
      if (one.end != one.begin + 1) throw UsageError(what + ": a boundary has one position", "");
      if (one.begin == 0) return std::nullopt;
      return one;
    case SEMICRF_NO_BOUNDARY:
      one.kind = Constraint::Kind::kNoBoundary;
      if (one.begin == 0) throw UsageError(what + ": a segment starts at position 0, always", "");
      return one;
  }
  throw UsageError(fmt::format("{}: kind {} is none of semicrf_constraint_kind", what, given.kind), "");
}

struct OutputArray {
  const char* name;
  semicrf_output semicrf_sequence::*array;
  std::span<const double> PosteriorBlock::*values;
  bool by_label;
};
constexpr OutputArray kOutputs[] = {
    {"boundary", &semicrf_sequence::boundary, &PosteriorBlock::boundary, false},
    {"labels", &semicrf_sequence::labels, &PosteriorBlock::labels, true},
    {"starts", &semicrf_sequence::starts, &PosteriorBlock::starts, true},
    {"ends", &semicrf_sequence::ends, &PosteriorBlock::ends, true}};

template <class Value>
void write_rows(const semicrf_output& out, PositionRange range, std::span<const double> values) {
  auto* const first = static_cast<char*>(out.data);
  const double* from = values.data();
  for (std::int64_t t = range.begin; t < range.end; ++t)
    for (std::int64_t c = 0; c < out.columns; ++c) {
      const auto value = static_cast<Value>(*from++);
      std::memcpy(first + t * out.row_stride + c * out.column_stride, &value, sizeof value);
    }
}

}  // namespace

NpyArray viewed(const semicrf_array& array, const std::string& what) {
  check_type(array, what, true);
  if (array.rows < 1 || array.columns < 1 || array.rows > kMostValues / array.columns)
    throw UsageError(what + ": has no rows or columns, or too many: " + shape_text(array.rows, array.columns),
                     "");
  NpyHeader layout;
  layout.type = npy_type(array.type);
  layout.rows = array.rows;
  layout.columns = array.columns;
  const std::int64_t size = array.type;
  if (has_strides(array, array.columns * size, size))
    return NpyArray::of_values(layout, array.data, nullptr, what);
  layout.fortran_order = has_strides(array, size, array.rows * size);
  if (layout.fortran_order) return NpyArray::of_values(layout, array.data, nullptr, what);
  const auto copy = std::make_shared<std::vector<double>>(
      ceil_div<std::size_t>(array.rows * array.columns * size, sizeof(double)));
  auto* to = reinterpret_cast<char*>(copy->data());
  const auto* const first = static_cast<const char*>(array.data);
  for (std::int64_t r = 0; r < array.rows; ++r)
    for (std::int64_t c = 0; c < array.columns; ++c, to += size)
      std::memcpy(to, first + r * array.row_stride + c * array.column_stride, size);
  return NpyArray::of_values(layout, copy->data(), copy, what);
}

std::string sequence_name(const semicrf_sequence& sequence, std::size_t index) {
  return sequence.name != nullptr ? sequence.name : fmt::to_string(index);
}

std::shared_ptr<SequenceScores> open_sequence(const LibraryModel& model, const semicrf_sequence& sequence,
                                              const std::string& name, Precision precision, int threads) {
  const std::string what = of_sequence("scores", name);
  if (sequence.scores.data == nullptr) throw UsageError(what + " is a null pointer", "");
  check_shape(sequence.scores, sequence.scores.rows, model.columns(), what,
              model.heads ? "tracks" : "labels");
  auto scores = std::make_shared<SequenceScores>();
  scores->heads = model.heads;
  scores->precision = precision;
  scores->threads = threads;
  const Centering centering = model.parameters.centering;
  scores->subtract_position_max = centering == Centering::kPositionMax;
  NpyArray rows = viewed(sequence.scores, what);
  if (model.heads) {
    scores->rows = make_derived_rows(make_track_rows(std::move(rows), model.tracks, precision, threads),
                                     model.derived, threads);
  } else {
    scores->rows = make_score_rows(std::move(rows), precision, threads);
  }
  const auto boundary = [&](const semicrf_array& array, const char* of, bool made) {
    return boundary_rows(array, of, name, sequence.scores.rows, model, made, precision, threads);
  };
  scores->start = boundary(sequence.start_scores, "start_scores", model.heads && model.heads->has_start());
  scores->end = boundary(sequence.end_scores, "end_scores", model.heads && model.heads->has_end());
  ScanRequest request;
  request.want_mean = centering == Centering::kMean;
  request.threads = threads;
  SequenceScan scan = scan_sequence(*scores->rows, request);
  if (!scan.missing.empty())
    throw InputError({what, fmt::format("row {}", scan.missing.front().begin),
                      "a track has no value (NaN), and its \"missing\" is \"skip\"",
                      "cut the sequence there, or choose another \"missing\" for the track"});
  if (request.want_mean)
    scores->baseline = model.heads ? model.heads->mean_emissions(scan.mean) : std::move(scan.mean);
  return scores;
}

std::shared_ptr<ConstraintSet> constraints_of(const semicrf_sequence& sequence, const LibraryModel& model,
                                              const std::string& name) {
  if (sequence.num_constraints == 0) return nullptr;
  if (sequence.constraints == nullptr)
    throw UsageError(of_sequence("constraints", name) + " is a null pointer", "");
  std::vector<Constraint> found;
  for (std::size_t i = 0; i < sequence.num_constraints; ++i) {
    const std::string what = of_sequence(fmt::format("constraint {}", i), name);
    if (auto one = constraint_of(sequence.constraints[i], sequence.scores.rows, model.parameters.num_labels(),
                                 what)) {
      one->number = i;
      found.push_back(*std::move(one));
    }
  }
  std::ranges::stable_sort(found, {}, &Constraint::begin);
  return std::make_shared<GivenConstraints>(std::move(found), name);
}

std::vector<Segment> given_segments(const semicrf_sequence& sequence, int num_labels,
                                    const std::string& name) {
  if (sequence.segments == nullptr) return {};
  std::vector<Segment> segments;
  std::int64_t at = 0;
  for (const semicrf_segment& one : std::span(sequence.segments, sequence.num_segments)) {
    const std::string what = of_sequence(fmt::format("segment {}", segments.size()), name) + ": ";
    if (one.begin != at || one.end <= one.begin)
      throw UsageError(
          fmt::format("{}[{}, {}), expected one that begins at {}", what, one.begin, one.end, at),
          "segments follow each other without gaps");
    if (one.label < 0 || one.label >= num_labels)
      throw UsageError(fmt::format("{}there is no label {}", what, one.label), "");
    segments.push_back({one.begin, one.end, static_cast<int>(one.label)});
    at = one.end;
  }
  if (at != sequence.scores.rows)
    throw UsageError(fmt::format("{} end at {}, the sequence at {}", of_sequence("segments", name), at,
                                 sequence.scores.rows),
                     "");
  return segments;
}

template <class Array>
void check_device_rows(const Array& array, std::int64_t rows, std::int64_t columns, const std::string& what) {
  require_shape(array, rows, columns, what);
  if (rows < 1) throw UsageError(what + ": has no rows", "");
  const std::int64_t size = array.type;
  if (!has_strides(array, columns * size, size)) throw UsageError(what + ": is not in C order", "");
}
template void check_device_rows(const semicrf_array&, std::int64_t, std::int64_t, const std::string&);
template void check_device_rows(const semicrf_output&, std::int64_t, std::int64_t, const std::string&);

void check_outputs(const semicrf_sequence& sequence, int num_labels, const std::string& name) {
  for (const OutputArray& one : kOutputs) {
    const semicrf_output& out = sequence.*one.array;
    if (out.data == nullptr) continue;
    const std::string what = of_sequence(one.name, name);
    check_type(out, what, false);
    require_shape(out, sequence.scores.rows, one.by_label ? num_labels : 1, what);
  }
}

void write_posteriors(const PosteriorBlock& block, const semicrf_sequence& sequence) {
  for (const OutputArray& one : kOutputs) {
    const semicrf_output& out = sequence.*one.array;
    if (out.data == nullptr) continue;
    if (out.type == SEMICRF_FLOAT32) {
      write_rows<float>(out, block.range, block.*one.values);
    } else {
      write_rows<double>(out, block.range, block.*one.values);
    }
  }
}

}  // namespace semicrf
