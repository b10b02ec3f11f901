#include "analyses/posteriors/posterior_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "core/chain_model.h"
#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "engine/masks.h"
#include "model/scores/linear_heads.h"

namespace semicrf {

namespace {

constexpr std::int64_t kTask = 1 << 12;        // positions per task of a thread
constexpr std::int64_t kTaskValues = 1 << 15;  // values, where they are not taken row by row

template <class Stored>
void pack(int threads, std::span<const double> values, std::byte* out) {
  parallel_ranges(threads, 0, std::ssize(values), kTaskValues, [&](std::int64_t from, std::int64_t to) {
    for (auto i = wide(from); i < wide(to); ++i) {
      const auto stored = static_cast<Stored>(values[i]);
      std::memcpy(out + i * sizeof stored, &stored, sizeof stored);
    }
  });
}

template <class Stored>
void unpack(int threads, const std::byte* in, std::span<double> values) {
  parallel_ranges(threads, 0, std::ssize(values), kTaskValues, [&](std::int64_t from, std::int64_t to) {
    for (auto i = wide(from); i < wide(to); ++i) {
      Stored stored;
      std::memcpy(&stored, in + i * sizeof stored, sizeof stored);
      values[i] = stored;
    }
  });
}

std::size_t stored_bytes(Precision precision) {
  return precision == Precision::kFloat ? sizeof(float) : sizeof(double);
}

// The next three functions say which arrays of all labels an engine fills. Where labels have roles, their
// posteriors are wanted for the entropies of labels, as engines give those of each role by itself.
bool computes_labels(const PosteriorSelection& selection, const EdgeRoles* roles) {
  return selection.labels || selection.path != nullptr || selection.needs_sums() || roles != nullptr;
}
bool computes_starts(const PosteriorSelection& selection) {
  return selection.starts || selection.has_edges() || selection.needs_sums();
}
bool computes_ends(const PosteriorSelection& selection) {
  return selection.ends || selection.has_edges() || selection.needs_sums();
}

}  // namespace

PosteriorRows::PosteriorRows(const PosteriorSelection& selection, int num_labels, Precision precision)
    : selection_(selection), num_labels_(num_labels), precision_(precision) {}

// The number of values along the path.
std::size_t PosteriorRows::picked_per_position(const PosteriorSelection& selection) {
  if (selection.path == nullptr) return 0;
  return 1u + (selection.path_edges ? 2u : 0u) + (selection.path_edges && selection.path_next ? 2u : 0u);
}

std::size_t PosteriorRows::bytes_per_position(const PosteriorSelection& selection, int num_labels) {
  const int rows =
      computes_labels(selection, selection.roles) + computes_starts(selection) + computes_ends(selection);
  return sizeof(double) * (1 + rows * num_labels + picked_per_position(selection)) +
         packed_bytes_per_position(selection, num_labels);
}

std::size_t PosteriorRows::packed_bytes_per_position(const PosteriorSelection& selection, int num_labels) {
  const int rows = selection.labels + selection.starts + selection.ends;
  return sizeof(double) * (1 + rows * num_labels + picked_per_position(selection));
}

void PosteriorRows::resize(PositionRange range, std::size_t num_labels) {
  range_ = range;
  const std::size_t n = range.size();
  const bool path = selection_.path != nullptr;
  const bool edges = selection_.has_edges();
  const bool next = edges && selection_.path_next;
  resize_large(boundary_, n);
  resize_large(labels_, computes_labels(selection_, roles_) ? n * num_labels : 0);
  resize_large(starts_, computes_starts(selection_) ? n * num_labels : 0);
  resize_large(ends_, computes_ends(selection_) ? n * num_labels : 0);
  resize_large(path_label_, path ? n : 0);
  resize_large(path_start_, edges ? n : 0);
  resize_large(path_end_, edges ? n : 0);
  resize_large(path_next_start_, next ? n : 0);
  resize_large(path_next_end_, next ? n : 0);
}

PosteriorArrays PosteriorRows::prepare(PositionRange range, const EdgeRoles* roles) {
  roles_ = roles;
  resize(range, num_labels_ * (roles != nullptr ? roles->count() : 1));
  const auto pointer = [](LargeArray<double>& values) { return values.empty() ? nullptr : values.data(); };
  return {pointer(boundary_), pointer(labels_), pointer(starts_), pointer(ends_)};
}

void PosteriorRows::clear_impossible(const ChainModel& model, const ScoreWindow& scores) {
  clear_impossible_labels(model, scores, range_, selection_.threads, labels_);
}

void PosteriorRows::finish(std::int64_t first_segment) {
  if (range_.begin == 0) boundary_[0] = 1;  // exact by definition; engines have it within rounding
  clear_residues(precision_, static_cast<int>(num_labels_), selection_.threads, labels_);
  if (selection_.path != nullptr) pick_path(first_segment);
  if (precision_ != Precision::kFloat) return;
  for (LargeArray<double>* values : released())
    parallel_ranges(selection_.threads, 0, std::ssize(*values), kTaskValues,
                    [&](std::int64_t from, std::int64_t to) {
                      for (auto i = wide(from); i < wide(to); ++i)
                        (*values)[i] = static_cast<double>(static_cast<float>((*values)[i]));
                    });
}

void PosteriorRows::pick_path(std::int64_t first_segment) {
  SegmentList::Reader reader(*selection_.path, first_segment);
  Segment segment, next;
  bool more = reader.next(segment);
  for (std::int64_t t = range_.begin; more && t < range_.end; segment = next) {
    more = reader.next(next);
    for (; t < std::min(segment.end, range_.end); ++t) {
      const std::size_t row = t - range_.begin;
      const std::size_t entry = row * num_labels_ + segment.label;
      path_label_[row] = labels_[entry];
      if (!selection_.path_edges) continue;
      path_start_[row] = starts_[entry];
      path_end_[row] = ends_[entry];
      if (!selection_.path_next) continue;
      const std::size_t next_entry = row * num_labels_ + next.label;
      path_next_start_[row] = more ? starts_[next_entry] : 0;
      path_next_end_[row] = more ? ends_[next_entry] : 0;
    }
  }
}

std::vector<LargeArray<double>*> PosteriorRows::released() {
  std::vector<LargeArray<double>*> arrays = {&boundary_};
  if (selection_.labels) arrays.push_back(&labels_);
  if (selection_.starts) arrays.push_back(&starts_);
  if (selection_.ends) arrays.push_back(&ends_);
  for (LargeArray<double>* picked :
       {&path_label_, &path_start_, &path_end_, &path_next_start_, &path_next_end_})
    if (!picked->empty()) arrays.push_back(picked);
  return arrays;
}

PosteriorBlock PosteriorRows::block() const {
  PosteriorBlock block;
  block.range = range_;
  block.boundary = boundary_;
  if (selection_.labels) block.labels = labels_;
  if (selection_.starts) block.starts = starts_;
  if (selection_.ends) block.ends = ends_;
  block.path_label = path_label_;
  block.path_start = path_start_;
  block.path_end = path_end_;
  block.path_next_start = path_next_start_;
  block.path_next_end = path_next_end_;
  return block;
}

PosteriorBlock PosteriorRows::computed() const {
  PosteriorBlock block;
  block.range = range_;
  block.labels = labels_;
  block.starts = starts_;
  block.ends = ends_;
  return block;
}

void PosteriorRows::fold() {
  if (roles_ == nullptr) return;
  for (LargeArray<double>* rows : {&labels_, &starts_, &ends_}) roles_->fold_rows(*rows);
  if (num_labels_ == 1) std::ranges::fill(labels_, 1.0);
}

double PosteriorRows::label_entropy(PositionRange range) const {
  double sum = 0;
  const std::size_t begin = (range.begin - range_.begin) * num_labels_;
  const std::size_t end = (range.end - range_.begin) * num_labels_;
  for (std::size_t i = begin; i < end; ++i)
    if (const double p = labels_[i]; p > 0) sum -= p * std::log(p);
  return sum;
}

void PosteriorRows::save(TempSpool& spool, std::size_t index) {
  std::size_t values = 0;
  for (const LargeArray<double>* array : released()) values += array->size();
  resize_large(packed_, values * stored_bytes(precision_));
  std::byte* out = packed_.data();
  for (const LargeArray<double>* array : released()) {
    precision_ == Precision::kFloat ? pack<float>(selection_.threads, *array, out)
                                    : pack<double>(selection_.threads, *array, out);
    out += array->size() * stored_bytes(precision_);
  }
  if (index == spool.size()) {
    spool.append(packed_);
  } else {
    spool.replace(index, packed_);
  }
}

void PosteriorRows::load(const TempSpool& spool, std::size_t index, PositionRange range) {
  roles_ = nullptr;
  resize(range, num_labels_);
  resize_large(packed_, spool.blob_size(index));
  spool.read(index, packed_);
  const std::byte* in = packed_.data();
  for (LargeArray<double>* array : released()) {
    precision_ == Precision::kFloat ? unpack<float>(selection_.threads, in, *array)
                                    : unpack<double>(selection_.threads, in, *array);
    in += array->size() * stored_bytes(precision_);
  }
}

namespace {

class ImpossibleLabels {
 public:
  ImpossibleLabels(const ChainModel& model, const ScoreWindow& scores)
      : model_(model),
        centred_(model, scores),
        masks_(masks_forbid(model) && scores.start_scores.empty() && scores.end_scores.empty()),
        last_(scores.length - 1) {}

  // Clears the impossible labels in the (C) posteriors of position t.
  void clear(std::int64_t t, double* row) const {
    double largest = kNegativeInfinity;
    for (int c = 0; masks_ && c < model_.num_labels; ++c)
      largest = std::max(largest, centred_.emission(t, c));
    double sum = 0;
    bool cleared = false;
    for (int c = 0; c < model_.num_labels; ++c) {
      if (is_impossible(t, c, largest)) {
        row[c] = 0;
        cleared = true;
      }
      sum += row[c];
    }
    for (int c = 0; cleared && sum > 0 && c < model_.num_labels; ++c) row[c] /= sum;
  }

 private:
  bool is_impossible(std::int64_t t, int c, double largest) const {
    const double score = centred_.emission(t, c);
    if (score == kNegativeInfinity || (masks_ && score < largest - kMaskDepth)) return true;
    if (t == 0 && (centred_.start(t, c) == kNegativeInfinity ||
                   (!model_.cut.left && initial_term(model_, c) == kNegativeInfinity)))
      return true;
    return t == last_ && centred_.end(t, c) == kNegativeInfinity;
  }

  const ChainModel& model_;
  CentredScores centred_;
  bool masks_;
  std::int64_t last_;
};

// Whether any of the scores may be a mask or -inf. Quick: nearly all of them are small. The inner loop has a
// fixed length, so that it becomes one of vectors.
template <class Real>
bool any_large(const Real* scores, std::size_t count) {
  constexpr Real kLarge = kMaskDepth / 2;
  constexpr std::size_t kTogether = 64;
  const auto is_large = [](Real score) { return !(std::fabs(score) < kLarge) ? 1 : 0; };
  std::size_t i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    int found = 0;
    for (std::size_t k = 0; k < kTogether; ++k) found |= is_large(scores[i + k]);
    if (found != 0) return true;
  }
  for (; i < count; ++i)
    if (is_large(scores[i]) != 0) return true;
  return false;
}

}  // namespace

void clear_impossible_labels(const ChainModel& model, const ScoreWindow& scores, PositionRange range,
                             int threads, std::span<double> labels) {
  if (labels.empty()) return;
  const std::size_t width = model.num_labels;
  if (width == 1) {
    std::ranges::fill(labels, 1.0);
    return;
  }
  const ImpossibleLabels impossible(model, scores);
  const auto row = [&](std::int64_t t) { return labels.data() + (t - range.begin) * width; };
  for (const std::int64_t edge : {std::int64_t{0}, scores.length - 1})
    if (edge >= range.begin && edge < range.end) impossible.clear(edge, row(edge));
  if (scores.emissions.empty()) return;
  parallel_ranges(threads, range.begin, range.end, kTask, [&](std::int64_t from, std::int64_t to) {
    const std::size_t first = (from - scores.begin) * width, count = (to - from) * width;
    const bool large = scores.emissions.f32 != nullptr ? any_large(scores.emissions.f32 + first, count)
                                                       : any_large(scores.emissions.f64 + first, count);
    for (std::int64_t t = from; large && t < to; ++t) impossible.clear(t, row(t));
  });
}

double label_posterior_residue(Precision precision) {
  return precision == Precision::kFloat ? 0x1p-18 : 0x1p-40;
}

void clear_residues(Precision precision, int num_labels, int threads, std::span<double> labels) {
  const double residue = label_posterior_residue(precision);
  const std::size_t width = num_labels;
  const auto clear_row = [residue](std::span<double> row) {
    double sum = 0;
    int kept = 0;
    bool cleared = false;
    for (const double p : row) {
      const bool keeps = p >= residue;
      sum += keeps ? p : 0;
      kept += keeps ? 1 : 0;
      cleared |= !keeps && p != 0;
    }
    if (kept == 0 || !(cleared || kept == 1)) return;
    for (double& p : row) p = p < residue ? 0 : p / sum;
  };
  const std::int64_t rows = std::ssize(labels) / num_labels;
  parallel_ranges(threads, 0, rows, kTask, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t t = from; t < to; ++t) clear_row(labels.subspan(t * width, width));
  });
}

}  // namespace semicrf
