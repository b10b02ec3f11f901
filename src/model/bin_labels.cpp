#include "model/bin_labels.h"

#include <algorithm>

namespace semicrf {
namespace {

class RunMaker {
 public:
  explicit RunMaker(const BinGrid& grid) : grid_(grid) {}

  void add(const LabelRecord& record) {
    const std::int64_t begin = std::max<std::int64_t>(0, record.begin - grid_.origin);
    const std::int64_t end = std::min(grid_.length, record.end - grid_.origin);
    if (begin >= end) return;
    const std::int64_t first = begin / grid_.bin_size;
    const std::int64_t last = (end - 1) / grid_.bin_size;
    share(first, record, std::min(end, (first + 1) * grid_.bin_size) - begin);
    if (last == first) return;
    settle();
    if (first + 1 < last) append(first + 1, last, record);
    share(last, record, end - last * grid_.bin_size);
  }

  std::vector<LabelledRun> finish() {
    settle();
    return std::move(runs_);
  }

 private:
  struct Share {
    const LabelRecord* record;
    std::int64_t bases;
  };

  void share(std::int64_t bin, const LabelRecord& record, std::int64_t bases) {
    if (bin != bin_) settle();
    bin_ = bin;
    shares_.push_back({&record, bases});
  }

  // In the file; several items may share a line, where the format does not care for lines.
  static bool is_before(const LabelRecord& a, const LabelRecord& b) {
    return a.line != b.line ? a.line < b.line : a.begin < b.begin;
  }

  // The line that wins the open bin.
  void settle() {
    if (shares_.empty()) return;
    std::int64_t covered = 0;
    const Share* winner = nullptr;
    std::int64_t winning_bases = 0;
    const LabelRecord* winning_record = nullptr;
    for (const Share& share : shares_) {
      covered += share.bases;
      std::int64_t bases = 0;  // bases that have this share's label
      const LabelRecord* first = share.record;
      const Share* most = &share;
      for (const Share& other : shares_) {
        if (other.record->label != share.record->label) continue;
        bases += other.bases;
        if (is_before(*other.record, *first)) first = other.record;
        if (other.bases > most->bases ||
            (other.bases == most->bases && is_before(*other.record, *most->record)))
          most = &other;
      }
      if (winner == nullptr || bases > winning_bases ||
          (bases == winning_bases && is_before(*first, *winning_record))) {
        winner = most;
        winning_bases = bases;
        winning_record = first;
      }
    }
    const std::int64_t bases_of_bin = std::min(grid_.bin_size, grid_.length - bin_ * grid_.bin_size);
    if (2 * covered >= bases_of_bin) append(bin_, bin_ + 1, *winner->record);
    shares_.clear();
  }

  void append(std::int64_t begin, std::int64_t end, const LabelRecord& record) {
    if (last_ == &record && runs_.back().end == begin) {
      runs_.back().end = end;
    } else {
      runs_.push_back({begin, end, record.label, record.line});
    }
    last_ = &record;
  }

  BinGrid grid_;
  std::int64_t bin_ = -1;
  std::vector<Share> shares_;  // shares of the open bin
  std::vector<LabelledRun> runs_;
  const LabelRecord* last_ = nullptr;  // label of the last run
};

}  // namespace

std::vector<LabelledRun> label_bins(std::span<const LabelRecord> records, const BinGrid& grid) {
  RunMaker maker(grid);
  for (const LabelRecord& record : records) maker.add(record);
  return maker.finish();
}

std::vector<LabelledRun> with_background(const std::vector<LabelledRun>& runs, std::int64_t bins, int label) {
  std::int64_t line = runs.empty() ? 0 : runs.front().line;
  return with_gaps_filled(runs, bins, [&](std::int64_t begin, std::int64_t end, const LabelledRun* before) {
    if (before != nullptr) line = before->line;
    return LabelledRun{begin, end, label, line};
  });
}

}  // namespace semicrf
