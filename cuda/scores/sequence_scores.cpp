#include "cuda/scores/sequence_scores.h"

#include <algorithm>

#include "core/sizes.h"
#include "cuda/device/device_buffer.h"
#include "cuda/scores/score_checks.h"

namespace semicrf::cuda {
namespace {

// Where row `row` of an array begins, and what its numbers take; 0: there is no array.
const unsigned char* row_of(const ScoreArray& array, std::int64_t row, std::size_t columns) {
  const std::size_t entries = wide(row) * columns;
  return array.f32 != nullptr ? reinterpret_cast<const unsigned char*>(array.f32 + entries)
                              : reinterpret_cast<const unsigned char*>(array.f64 + entries);
}
std::size_t value_bytes(const ScoreArray& array) {
  return array.f32 != nullptr ? sizeof(float) : (array.f64 != nullptr ? sizeof(double) : 0);
}

}  // namespace

void SequenceScores::Array::place(std::size_t bytes_of_value, std::size_t entries) {
  value_bytes = bytes_of_value;
  memory.reserve(entries * value_bytes);
  view = {value_bytes == sizeof(float) ? reinterpret_cast<const float*>(memory.get()) : nullptr,
          value_bytes == sizeof(double) ? reinterpret_cast<const double*>(memory.get()) : nullptr};
}

// Room for rows, none of which are there.
void SequenceScores::place(std::span<const ScoreWindow> windows, bool keep) {
  const ScoreWindow& first = windows.front();
  views_.assign(windows.size(), SequenceView{});
  rows_ = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const ScoreWindow& window = windows[i];
    SequenceView& view = views_[i];
    view.begin = keep ? 0 : window.begin;
    view.rows = keep ? window.length : window.end - window.begin;
    view.length = window.length;
    view.subtract_position_max = window.subtract_position_max ? 1 : 0;
    view.first_row = ceil_div<std::int64_t>(rows_, kBlock) * kBlock;
    rows_ = view.first_row + view.rows;
  }
  const FeatureRows& features = first.features;
  const std::size_t made = features.wide ? sizeof(double) : sizeof(float);
  const auto place_array = [&](Array& array, const ScoreArray& from, const HeadTable* head) {
    array.place(head != nullptr ? made : value_bytes(from), wide(rows_) * wide(labels_));
  };
  place_array(emissions_, first.emissions, features.emission);
  place_array(starts_, first.start_scores, features.start);
  place_array(ends_, first.end_scores, features.finish);
  for (SequenceView& view : views_) {
    const std::size_t skip = wide(view.first_row) * wide(labels_);
    const auto from = [&](const DeviceScores& all) -> DeviceScores {
      return {all.f32 != nullptr ? all.f32 + skip : nullptr, all.f64 != nullptr ? all.f64 + skip : nullptr};
    };
    view.emissions = from(emissions_.view);
    view.starts = from(starts_.view);
    view.ends = from(ends_.view);
  }
  sequence_ = keep ? first.sequence : 0;
  held_ = {first.begin, first.begin};
  feature_range_ = {};
  whole_features_ = false;
  checked_ = 0;
  sound_ = true;
}

// What the kernels see of the sequences.
void SequenceScores::send_views(std::span<const ScoreWindow> windows) {
  if (!windows.front().baseline.empty()) {
    std::vector<double> baselines;
    for (const ScoreWindow& window : windows)
      baselines.insert(baselines.end(), window.baseline.begin(), window.baseline.end());
    baselines_.upload(baselines, stream_);
    for (std::size_t i = 0; i < views_.size(); ++i) views_[i].baseline = baselines_.get() + i * wide(labels_);
  }
  device_views_.upload(views_, stream_);
}

void SequenceScores::upload(std::span<const ScoreWindow> windows, bool keep) {
  const ScoreWindow& first = windows.front();
  if (prefetching_ && holds_sequence(first)) {
    const std::int64_t wanted = whole_features_ ? features_end(first.end) : first.end;
    if (wanted > checked_) copies_.wait(wanted, stream_);  // else their checks waited
    send_views(windows);
    if (whole_features_ && first.end > held_.end) {
      project(windows, held_.end, first.end);
      held_.end = first.end;
    }
    return;
  }
  end_prefetch();
  keep = keep && first.sequence != 0;
  const bool joins = keep && holds_sequence(first) && first.begin >= held_.begin && first.begin <= held_.end;
  if (!joins) place(windows, keep);
  send_views(windows);
  if (windows.size() > 1) {
    add_rows(windows, 0, rows_);
  } else if (first.end > held_.end) {
    add_rows(windows, held_.end - view().begin, first.end - view().begin);
    held_.end = first.end;
  }
}

void SequenceScores::hide_cut_edges(CutEdges cut) {
  const auto hide = [&](const Array& array, std::int64_t row) {
    const std::size_t bytes = wide(labels_) * array.value_bytes;
    if (bytes > 0)
      SEMICRF_CUDA_CHECK(cudaMemsetAsync(array.memory.get() + wide(row) * bytes, 0, bytes, stream_));
  };
  for (const SequenceView& sequence : views_) {
    const std::int64_t zero = sequence.first_row - sequence.begin;  // row of position 0
    if (cut.left) hide(starts_, zero);
    if (cut.right) hide(ends_, zero + sequence.length - 1);
  }
}

// Rows from `first` on, where there is one window, else all.
std::vector<UploadArray> SequenceScores::score_uploads(std::span<const ScoreWindow> windows,
                                                       std::int64_t first) const {
  const std::size_t columns = wide(labels_);
  std::vector<UploadArray> uploads;
  const auto add = [&](const Array& array, ScoreArray ScoreWindow::*scores) {
    if (array.value_bytes == 0) return;
    const std::size_t row_bytes = columns * array.value_bytes;
    UploadArray& upload = uploads.emplace_back();
    upload.to = array.memory.get() + wide(first) * row_bytes;
    upload.row_bytes = row_bytes;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::int64_t skip = first > 0 ? views_[i].begin + first - windows[i].begin : 0;
      upload.parts.push_back({row_of(windows[i].*scores, skip, columns), views_[i].first_row,
                              windows[i].end - windows[i].begin - skip});
    }
  };
  add(emissions_, &ScoreWindow::emissions);
  add(starts_, &ScoreWindow::start_scores);
  add(ends_, &ScoreWindow::end_scores);
  return uploads;
}

void SequenceScores::add_rows(std::span<const ScoreWindow> windows, std::int64_t first, std::int64_t last) {
  if (!windows.front().features.empty()) {
    project(windows, first, last);
    return;
  }
  if (windows.front().emissions.on_device) return copy_scores(windows);
  copies_.begin(score_uploads(windows, first), last - first);
  copies_.wait(last - first, stream_);
}

// Scores of whole sequences that lie on the device, and their checks.
void SequenceScores::copy_scores(std::span<const ScoreWindow> windows) {
  bad_.reserve(1);
  bad_.clear(1, stream_);
  for (const UploadArray& upload : score_uploads(windows, 0)) {
    std::vector<DeviceCopy> copies;
    std::int64_t end = 0;
    for (const UploadPart& part : upload.parts) {
      copies.push_back({upload.to + wide(part.first_row) * upload.row_bytes, part.from,
                        wide(part.rows) * upload.row_bytes, wide(part.first_row - end) * upload.row_bytes});
      end = part.first_row + part.rows;
    }
    copy_within_device(copies, stream_);
  }
  for (const DeviceScores& scores : {emissions_.view, starts_.view, ends_.view})
    check_scores(scores, SoundValues::kScores, 0, rows_ * labels_, bad_.get(), stream_);
  bad_count_.reserve(1);
  bad_.download(bad_count_.get(), 0, 1, stream_);
}

// Room for the features of `rows` rows, and their way there.
UploadArray SequenceScores::place_features(std::span<const ScoreWindow> windows, std::int64_t rows) {
  const FeatureRows& wanted = windows.front().features;
  const std::size_t columns = wide(wanted.tracks);
  feature_rows_.place(value_bytes(wanted.rows), wide(rows) * columns);
  UploadArray values{feature_rows_.memory.get(), columns * feature_rows_.value_bytes, {}};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const FeatureRows& own = windows[i].features;
    values.parts.push_back({row_of(own.rows, 0, columns), views_[i].first_row, own.end - own.begin});
  }
  return values;
}

FeatureView SequenceScores::features(std::span<const ScoreWindow> windows) {
  const FeatureRows& wanted = windows.front().features;
  const bool alone = windows.size() == 1;
  const bool same = feature_range_.begin == wanted.begin && feature_range_.end == wanted.end;
  const bool within = alone && feature_range_.begin <= wanted.begin && wanted.end <= feature_range_.end;
  if (feature_range_.size() != 0 && (same || within)) return features_;
  const std::int64_t rows = alone ? wanted.end - wanted.begin : rows_;
  std::vector<UploadArray> uploads{place_features(windows, rows)};
  if (wanted.true_labels != nullptr) {
    true_labels_.reserve(wide(rows));
    UploadArray& labels = uploads.emplace_back();
    labels.to = reinterpret_cast<unsigned char*>(true_labels_.get());
    labels.row_bytes = sizeof(int);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const FeatureRows& own = windows[i].features;
      labels.parts.push_back({reinterpret_cast<const unsigned char*>(own.true_labels), views_[i].first_row,
                              own.end - own.begin});
    }
  }
  copies_.begin(std::move(uploads), rows);
  copies_.wait(rows, stream_);
  features_ = {feature_rows_.view, wanted.true_labels != nullptr ? true_labels_.get() : nullptr,
               wanted.tracks, alone ? wanted.begin : 0};
  feature_range_ = {wanted.begin, wanted.end};
  return features_;
}

HeadView SequenceScores::head_view(const HeadTable& table) {
  Head& head = heads_[&table];
  if (head.bias.size() == 0) {
    head.bias.upload(table.bias, stream_);
    if (!table.weights.empty()) head.weights.upload(table.weights, stream_);
  }
  return {head.weights.get(), head.bias.get(), table.first, table.last};
}

void SequenceScores::project(std::span<const ScoreWindow> windows, std::int64_t first, std::int64_t last) {
  const FeatureRows& heads = windows.front().features;
  Projection p{};
  p.features = features(windows);
  p.labels = labels_;
  p.sequences = device_views_.get();
  p.num_sequences = static_cast<int>(views_.size());
  p.first_row = first;
  p.last_row = last;
  const auto apply = [&](const HeadTable* table, const Array& out, double margin) {
    if (table == nullptr) return;
    p.head = head_view(*table);
    p.margin = margin;
    p.out = out.view;
    project_features(p, stream_);
  };
  apply(heads.emission, emissions_, heads.true_labels != nullptr ? heads.margin : 0);
  apply(heads.start, starts_, 0);
  apply(heads.finish, ends_, 0);
}

void SequenceScores::prefetch(const ScoreWindow& whole) {
  if (holds_sequence(whole) && (prefetching_ || (held_.begin == 0 && held_.end == whole.length))) return;
  end_prefetch();
  const std::span<const ScoreWindow> windows(&whole, 1);
  place(windows, true);
  const FeatureRows& features = whole.features;
  whole_features_ = !features.empty();
  if (whole_features_) {
    features_ahead_ = 0;
    for (const HeadTable* head : {features.emission, features.start, features.finish})
      if (head != nullptr) features_ahead_ = std::max<std::int64_t>(features_ahead_, head->last);
    copies_.begin({place_features(windows, whole.length)}, whole.length);
    features_ = {feature_rows_.view, nullptr, features.tracks, 0};
    feature_range_ = {0, whole.length};
  } else {
    copies_.begin(score_uploads(windows, 0), whole.length);
  }
  prefetching_ = true;
}

std::int64_t SequenceScores::features_end(std::int64_t end) const {
  return std::min(view().length, end + features_ahead_);
}

void SequenceScores::end_prefetch() {
  if (!prefetching_) return;
  copies_.stop();
  prefetching_ = false;
  if (whole_features_) {
    // Scores that were made stay; of the features those that are known to be sound.
    feature_range_ = {0, sound_ ? checked_ : 0};
  } else if (copies_.complete()) {
    held_ = {0, view().length};
  } else {
    sequence_ = 0;
  }
}

bool SequenceScores::begin_checks(std::int64_t end) {
  if (prefetching_) {
    copies_.wait(end, stream_);
  } else if (whole_features_ || held_.begin != 0 || held_.end < end) {
    return false;
  }
  if (checked_ == 0) {
    bad_.reserve(1);
    bad_.clear(1, stream_);
  }
  if (whole_features_) {
    check_scores(features_.rows, SoundValues::kFeatures, checked_ * features_.tracks, end * features_.tracks,
                 bad_.get(), stream_);
  } else {
    for (const DeviceScores& scores : {view().emissions, view().starts, view().ends})
      check_scores(scores, SoundValues::kScores, checked_ * labels_, end * labels_, bad_.get(), stream_);
  }
  checked_ = std::max(checked_, end);
  return true;
}

bool SequenceScores::finish_checks() {
  bad_count_.reserve(1);
  bad_.download(bad_count_.get(), 0, 1, stream_);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  sound_ = sound_ && *bad_count_.get() == 0;
  return sound_;
}

bool SequenceScores::sound(std::int64_t end) {
  if (whole_features_) end = features_end(end);
  if (end <= checked_ || !sound_) return sound_;
  return begin_checks(end) && finish_checks();
}

std::optional<BlockSums> SequenceScores::block_sums(double mask) {
  constexpr std::int64_t kPart = 2048;  // blocks that are added up while the next ones arrive
  const std::int64_t length = view().length;
  const std::int64_t blocks = ceil_div(length, BlockSums::kPositions);
  const DeviceScores& rows = whole_features_ ? features_.rows : view().emissions;
  const int width = whole_features_ ? features_.tracks : labels_;
  const std::size_t columns = wide(width);
  const std::size_t count = wide(blocks) * columns;
  DeviceBuffer<double> sums(count);
  DeviceBuffer<int> masked(count), forbidden(count);
  const BlockSumsView out{sums.get(), masked.get(), forbidden.get()};
  for (std::int64_t first = 0; first < blocks; first += kPart) {
    const std::int64_t last = std::min(blocks, first + kPart);
    if (!begin_checks(std::min(length, last * BlockSums::kPositions))) return std::nullopt;
    sum_blocks(rows, length, width, first, last, mask, out, stream_);
  }
  if (!finish_checks()) return std::nullopt;
  BlockSums result;
  result.sums = sums.download(count, stream_);
  result.forbidden.resize(columns);
  const std::vector<int> forbidden_here = forbidden.download(count, stream_);
  for (std::size_t i = 0; i < count; ++i) result.forbidden[i % columns] += forbidden_here[i];
  for (const int here : masked.download(count, stream_)) result.masked += here;
  return result;
}

}  // namespace semicrf::cuda
