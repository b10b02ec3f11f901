#include "cuda/scores/device_window.h"

#include <algorithm>

#include "cuda/scores/score_checks.h"

namespace semicrf::cuda {

void DeviceWindow::Array::place(bool single, bool wide, std::size_t entries) {
  single_ = single;
  wide_ = wide;
  if (single_) f32_.reserve(entries);
  if (wide_) f64_.reserve(entries);
}

DeviceScores DeviceWindow::Array::view() const {
  return {single_ ? f32_.get() : nullptr, wide_ ? f64_.get() : nullptr};
}

void DeviceWindow::Array::add_to(std::vector<UploadArray>& uploads, const ScoreArray& from, std::size_t skip,
                                 std::size_t first_row, std::size_t labels) const {
  const auto add = [&](const auto* host, auto* device) {
    uploads.push_back({reinterpret_cast<const unsigned char*>(host + skip * labels),
                       reinterpret_cast<unsigned char*>(device + first_row * labels),
                       labels * sizeof(*host)});
  };
  if (single_) add(from.f32, f32_.get());
  if (wide_) add(from.f64, f64_.get());
}

// Room for the rows of `rows`, none of which are there.
void DeviceWindow::place(const ScoreWindow& window, PositionRange rows, int labels) {
  const std::size_t entries = static_cast<std::size_t>(rows.size()) * static_cast<std::size_t>(labels);
  const FeatureRows& features = window.features;
  const auto place_array = [&](Array& array, const ScoreArray& from, const HeadTable* head) {
    array.place(from.f32 != nullptr || (head != nullptr && !features.wide),
                from.f64 != nullptr || (head != nullptr && features.wide), entries);
  };
  place_array(emissions_, window.emissions, features.emission);
  place_array(starts_, window.start_scores, features.start);
  place_array(ends_, window.end_scores, features.finish);
  view_ = SequenceView{};
  view_.emissions = emissions_.view();
  view_.starts = starts_.view();
  view_.ends = ends_.view();
  view_.begin = rows.begin;
  view_.rows = rows.size();
  view_.length = window.length;
  view_.subtract_position_max = window.subtract_position_max ? 1 : 0;
  held_ = {rows.begin, rows.begin};
  feature_rows_ = {};
  checked_ = 0;
  sound_ = true;
}

std::vector<UploadArray> DeviceWindow::uploads_of(const ScoreWindow& window, std::int64_t first,
                                                  int labels) const {
  std::vector<UploadArray> uploads;
  const auto skip = static_cast<std::size_t>(first - window.begin);
  const auto row = static_cast<std::size_t>(first - view_.begin);
  const auto columns = static_cast<std::size_t>(labels);
  emissions_.add_to(uploads, window.emissions, skip, row, columns);
  starts_.add_to(uploads, window.start_scores, skip, row, columns);
  ends_.add_to(uploads, window.end_scores, skip, row, columns);
  return uploads;
}

void DeviceWindow::upload(const ScoreWindow& window, int labels, bool keep, ScoreUpload& copies,
                          cudaStream_t stream) {
  if (prefetching_ && holds_sequence(window)) {
    if (window.end > checked_) copies.wait(window.end, stream);  // else their checks waited
  } else {
    end_prefetch(copies);
    keep = keep && window.sequence != 0;
    const bool joins =
        keep && holds_sequence(window) && window.begin >= held_.begin && window.begin <= held_.end;
    if (!joins) {
      place(window, keep ? PositionRange{0, window.length} : PositionRange{window.begin, window.end}, labels);
      sequence_ = keep ? window.sequence : 0;
      held_ = {window.begin, window.begin};
    }
    if (window.end > held_.end) {
      const std::int64_t rows = window.end - held_.end;
      if (window.features.empty()) {
        copies.begin(uploads_of(window, held_.end, labels), rows);
        copies.wait(rows, stream);
      } else {
        project(window, labels, copies, stream);
      }
      held_.end = window.end;
    }
  }
  if (!window.baseline.empty()) {
    baseline_.upload(window.baseline.data(), window.baseline.size(), stream);
    view_.baseline = baseline_.get();
  }
  sequence_view_.upload(&view_, 1, stream);
}

FeatureView DeviceWindow::features(const ScoreWindow& window, ScoreUpload& copies, cudaStream_t stream) {
  const FeatureRows& wanted = window.features;
  if (feature_rows_.size() == 0 || wanted.begin != feature_rows_.begin || wanted.end != feature_rows_.end) {
    feature_view_ = features_.bring(wanted, copies, stream);
    feature_rows_ = {wanted.begin, wanted.end};
  }
  return feature_view_;
}

void DeviceWindow::project(const ScoreWindow& window, int labels, ScoreUpload& copies, cudaStream_t stream) {
  const FeatureRows& heads = window.features;
  Projection p{};
  p.job.features = features(window, copies, stream);
  p.job.labels = labels;
  p.length = window.length;
  p.begin = held_.end;
  p.end = window.end;
  p.features_begin = heads.begin;
  p.out_begin = view_.begin;
  const auto apply = [&](const HeadTable* table, const Array& out, double margin) {
    if (table == nullptr) return;
    p.job.head = tables_.view(*table, stream);
    p.job.margin = margin;
    p.job.out = out.view();
    project_features(p, stream);
  };
  apply(heads.emission, emissions_, heads.true_labels != nullptr ? heads.margin : 0);
  apply(heads.start, starts_, 0);
  apply(heads.finish, ends_, 0);
}

void DeviceWindow::prefetch(const ScoreWindow& whole, int labels, ScoreUpload& copies) {
  if (holds_sequence(whole) && (prefetching_ || (held_.begin == 0 && held_.end == whole.length))) return;
  end_prefetch(copies);
  place(whole, {0, whole.length}, labels);
  sequence_ = whole.sequence;
  copies.begin(uploads_of(whole, 0, labels), whole.length);
  prefetching_ = true;
}

void DeviceWindow::end_prefetch(ScoreUpload& copies) {
  if (!prefetching_) return;
  copies.stop();
  prefetching_ = false;
  if (copies.complete()) {
    held_ = {0, view_.length};
  } else {
    sequence_ = 0;
  }
}

bool DeviceWindow::begin_checks(std::int64_t end, int labels, ScoreUpload& copies, cudaStream_t stream) {
  if (prefetching_) {
    copies.wait(end, stream);
  } else if (held_.begin != 0 || held_.end < end) {
    return false;
  }
  if (checked_ == 0) {
    bad_.reserve(1);
    bad_.clear(1, stream);
  }
  for (const DeviceScores& scores : {view_.emissions, view_.starts, view_.ends})
    check_scores(scores, checked_ * labels, end * labels, bad_.get(), stream);
  checked_ = std::max(checked_, end);
  return true;
}

bool DeviceWindow::finish_checks(cudaStream_t stream) {
  bad_count_.reserve(1);
  bad_.download(bad_count_.get(), 0, 1, stream);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
  sound_ = sound_ && *bad_count_.get() == 0;
  return sound_;
}

bool DeviceWindow::sound(std::int64_t end, int labels, ScoreUpload& copies, cudaStream_t stream) {
  if (end <= checked_ || !sound_) return sound_;
  return begin_checks(end, labels, copies, stream) && finish_checks(stream);
}

std::optional<BlockSums> DeviceWindow::block_sums(double mask, int labels, ScoreUpload& copies,
                                                  cudaStream_t stream) {
  constexpr std::int64_t kPart = 2048;  // blocks that are added up while the next ones arrive
  const std::int64_t blocks = (view_.length + BlockSums::kPositions - 1) / BlockSums::kPositions;
  const auto columns = static_cast<std::size_t>(labels);
  const std::size_t count = static_cast<std::size_t>(blocks) * columns;
  DeviceBuffer<double> sums(count);
  DeviceBuffer<int> masked(count), forbidden(count);
  const BlockSumsView out{sums.get(), masked.get(), forbidden.get()};
  for (std::int64_t first = 0; first < blocks; first += kPart) {
    const std::int64_t last = std::min(blocks, first + kPart);
    if (!begin_checks(std::min(view_.length, last * BlockSums::kPositions), labels, copies, stream))
      return std::nullopt;
    sum_blocks(view_.emissions, view_.length, labels, first, last, mask, out, stream);
  }
  if (!finish_checks(stream)) return std::nullopt;
  BlockSums result;
  result.sums = sums.download(count, stream);
  result.forbidden.resize(columns);
  const std::vector<int> forbidden_here = forbidden.download(count, stream);
  for (std::size_t i = 0; i < count; ++i) result.forbidden[i % columns] += forbidden_here[i];
  for (const int here : masked.download(count, stream)) result.masked += here;
  return result;
}

}  // namespace semicrf::cuda
