#include "cuda/scores/score_upload.h"

#include <algorithm>
#include <cstring>

#include "core/sizes.h"
#include "core/threads/parallel.h"

namespace semicrf::cuda {
namespace {

// A slice stays in the processor's cache between the two copies.
constexpr std::size_t kSliceBytes = std::size_t{1} << 20;
// As many threads as fill the connection to the device; more would only make small copies of others wait.
constexpr int kMostThreads = 8;

// Rows [first, first + count) of an array, zeros where it has none.
void copy_rows(const UploadArray& array, std::int64_t first, std::int64_t count, unsigned char* to) {
  const auto begins_after = [](std::int64_t row, const UploadPart& part) { return row < part.first_row; };
  auto part = std::upper_bound(array.parts.begin(), array.parts.end(), first, begins_after);
  if (part != array.parts.begin()) --part;
  const auto at = [&](std::int64_t row) { return to + wide(row - first) * array.row_bytes; };
  const std::int64_t last = first + count;
  for (std::int64_t row = first; row < last; ++part) {
    const std::int64_t begin = part == array.parts.end() ? last : std::clamp(part->first_row, row, last);
    std::memset(at(row), 0, wide(begin - row) * array.row_bytes);
    row = begin;
    if (row == last) break;
    const std::int64_t end = std::clamp(part->first_row + part->rows, row, last);
    std::memcpy(at(row), part->from + wide(row - part->first_row) * array.row_bytes,
                wide(end - row) * array.row_bytes);
    row = end;
  }
}

}  // namespace

struct ScoreUpload::Worker {
  PinnedBuffer<unsigned char> buffers[2];
  Event copied[2];
  int turn = 0;
  std::jthread thread;
};

ScoreUpload::ScoreUpload(int device, int threads) : device_(device) {
  for (int i = 0; i < std::clamp(threads, 1, kMostThreads); ++i)
    workers_.push_back(std::make_unique<Worker>());
}

ScoreUpload::~ScoreUpload() { stop(); }

void ScoreUpload::begin(std::vector<UploadArray> arrays, std::int64_t rows) {
  stop();
  arrays_ = std::move(arrays);
  row_bytes_ = 0;
  for (const UploadArray& array : arrays_) row_bytes_ += array.row_bytes;
  rows_ = rows;
  slice_rows_ = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(kSliceBytes / std::max<std::size_t>(1, row_bytes_)));
  slices_ = ceil_div(rows, slice_rows_);
  next_ = 0;
  stopped_ = false;
  done_.assign(wide(slices_), 0);
  done_until_ = 0;
  error_ = nullptr;
  // Little is copied by the caller itself, when it waits.
  if (slices_ < 4) return;
  const auto helpers = static_cast<std::size_t>(
      std::min<std::int64_t>(slices_ / 2, static_cast<std::int64_t>(workers_.size())));
  for (std::size_t i = 0; i < helpers; ++i) {
    workers_[i]->thread = start_thread([this, i] { copy_slices(*workers_[i]); });
    if (!workers_[i]->thread.joinable()) break;
  }
}

void ScoreUpload::copy_slices(Worker& worker) {
  try {
    SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
    while (!stopped_) {
      const std::int64_t slice = next_++;
      if (slice >= slices_) return;
      copy_slice(worker, slice);
    }
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    error_ = std::current_exception();
    submitted_.notify_all();
  }
}

void ScoreUpload::copy_slice(Worker& worker, std::int64_t slice) {
  const std::int64_t first = slice * slice_rows_;
  const std::int64_t count = std::min(slice_rows_, rows_ - first);
  PinnedBuffer<unsigned char>& buffer = worker.buffers[worker.turn];
  worker.copied[worker.turn].wait();
  buffer.reserve(wide(slice_rows_) * row_bytes_);
  unsigned char* at = buffer.get();
  for (const UploadArray& array : arrays_) {
    const std::size_t bytes = wide(count) * array.row_bytes;
    copy_rows(array, first, count, at);
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(array.to + wide(first) * array.row_bytes, at, bytes,
                                       cudaMemcpyHostToDevice, stream_.get()));
    at += bytes;
  }
  worker.copied[worker.turn].record(stream_.get());
  worker.turn = 1 - worker.turn;
  const std::lock_guard<std::mutex> lock(mutex_);
  done_[wide(slice)] = 1;
  const std::int64_t before = done_until_;
  while (done_until_ < slices_ && done_[wide(done_until_)] != 0) ++done_until_;
  if (done_until_ != before) submitted_.notify_all();
}

void ScoreUpload::wait(std::int64_t rows, cudaStream_t stream) {
  const std::int64_t wanted = ceil_div(std::min(rows, rows_), slice_rows_);
  if (workers_[0]->thread.joinable()) {
    std::unique_lock<std::mutex> lock(mutex_);
    submitted_.wait(lock, [&] { return done_until_ >= wanted || error_ != nullptr; });
    if (error_ != nullptr) std::rethrow_exception(error_);
  } else {
    for (std::int64_t slice = next_; slice < wanted; slice = ++next_) copy_slice(*workers_[0], slice);
  }
  arrived_.record(stream_.get());
  arrived_.make_wait(stream);
}

bool ScoreUpload::complete() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return done_until_ == slices_;
}

void ScoreUpload::stop() {
  stopped_ = true;
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

}  // namespace semicrf::cuda
